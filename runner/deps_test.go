package main_test

import (
	"os/exec"
	"regexp"
	"testing"
)

// TestNoCloudSDK holds that the runner compiles and starts without the SDKs of
// clouds, which take very long: the programs and the clients of the clouds are
// in pulumi-language-mara, and the types of simulated resources in
// projects/schemas. Helm, which renders charts for mirrors, brings the types of
// the Kubernetes API.
func TestNoCloudSDK(t *testing.T) {
	t.Parallel()
	linked, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	sdk := regexp.MustCompile(`(?m)^(github\.com/(pulumi/pulumi-(aws|linode|kubernetes|docker)|aws/aws-sdk-go|linode/linodego)|sigs\.k8s\.io/kind)\S*`)
	for _, found := range sdk.FindAllString(string(linked), -1) {
		t.Errorf("runner links %s", found)
	}
}
