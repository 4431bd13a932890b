package eks

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"

	"mara/projects/internal/contain"
)

// access is what a kubeconfig tells.
type access struct {
	cluster, endpoint, authority string
	region, profile              string
}

// kubeconfig builds the cluster's kubeconfig.
func kubeconfig(cluster *eks.Cluster, region, profile string) pulumi.StringOutput {
	authority := cluster.CertificateAuthority.Data().Elem()
	text := pulumi.All(cluster.Name, cluster.Endpoint, authority).ApplyT(contain.Try(func(parts []any) (string, error) {
		return access{
			cluster: parts[0].(string), endpoint: parts[1].(string), authority: parts[2].(string),
			region: region, profile: profile,
		}.render()
	})).(pulumi.StringOutput)
	return pulumi.ToSecret(text).(pulumi.StringOutput)
}

// render writes the kubeconfig. It has no credentials of its own: it asks the
// command `aws` for a token whenever it is used, under the profile when one is
// configured, else with the credentials in the environment:
// docs.aws.amazon.com/eks/latest/userguide/create-kubeconfig.html.
func (a access) render() (string, error) {
	command := map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1beta1",
		"command":    "aws",
		"args":       []string{"--region", a.region, "eks", "get-token", "--cluster-name", a.cluster, "--output", "json"},
	}
	if a.profile != "" {
		command["env"] = []map[string]string{{"name": "AWS_PROFILE", "value": a.profile}}
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": a.cluster,
		"clusters": []map[string]any{{
			"name":    a.cluster,
			"cluster": map[string]string{"server": a.endpoint, "certificate-authority-data": a.authority},
		}},
		"contexts": []map[string]any{{
			"name":    a.cluster,
			"context": map[string]string{"cluster": a.cluster, "user": a.cluster},
		}},
		"users": []map[string]any{{"name": a.cluster, "user": map[string]any{"exec": command}}},
	})
	if err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return string(text), nil
}
