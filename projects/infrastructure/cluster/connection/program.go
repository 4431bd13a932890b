// Package connection is the project "cluster-connection": it hands on the kubeconfig of a cluster that is there
// already. It takes the context that the configuration names, never the current one, and makes no resource: a destroy
// leaves the cluster as it is.
package connection

import (
	"errors"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
	"mara/projects/model"
	"mara/projects/naming"
)

// Program exports the kubeconfig of one context.
func Program(ctx *pulumi.Context) error {
	project := projects.ClusterConnection()
	cfg := settings.New(ctx, project)
	file, context := cfg.String("cluster:kubeconfig"), cfg.String("cluster:context")
	distribution := cfg.String(projects.DistributionKey)
	cfg.String("cluster:registry") // a rule of the project judges the images by it
	if err := cfg.Err(); err != nil {
		return err
	}
	var text, name string
	var err error
	if cfg.Simulated() {
		text, name = simulatedKubeconfig(ctx.Stack())
	} else {
		content, _ := ctx.GetConfig(project.Secrets[0].Key)
		text, name, err = Read(file, content, context)
	}
	if err != nil {
		return err
	}
	ctx.Export("kubeconfig", pulumi.ToSecret(pulumi.String(text)))
	ctx.Export("cluster_name", pulumi.String(name))
	ctx.Export("distribution", pulumi.String(distribution))
	return nil
}

// Read returns the kubeconfig with one context, and the name of its cluster. content is a kubeconfig in base64, which
// takes the place of the file.
func Read(file, content, context string) (text, name string, err error) {
	var raw []byte
	from := file
	switch {
	case content != "":
		from = "the secret cluster:kubeconfig_content"
		decoded, err := model.DecodeKubeconfig(content)
		if err != nil {
			return "", "", fmt.Errorf("%s %w", from, err)
		}
		raw = []byte(decoded)
		file = ""
	case file == "":
		return "", "", errors.New("the configuration names no kubeconfig: set cluster:kubeconfig to the path of a file, " +
			"or store the kubeconfig itself, in base64, with `runner secrets set cluster:kubeconfig_content`")
	default:
		if raw, err = os.ReadFile(file); err != nil {
			return "", "", fmt.Errorf("reading cluster:kubeconfig: %w", err)
		}
	}
	return projects.OneContext(raw, file, from, context)
}

// simulatedKubeconfig returns a kubeconfig that leads nowhere.
func simulatedKubeconfig(stack string) (text, name string) {
	name = naming.Environment(stack, "", 40)
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: %[1]s, cluster: {server: "https://%[1]s.cluster.simulated.invalid:6443"}}]
users: [{name: %[1]s, user: {token: SIMULATED}}]
contexts: [{name: %[1]s, context: {cluster: %[1]s, user: %[1]s}}]
current-context: %[1]s
`, name), name
}
