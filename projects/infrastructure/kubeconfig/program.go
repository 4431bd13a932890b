// Package kubeconfig is the Pulumi program that hands the cluster's kubeconfig
// on: it reads the provider's cluster project and exports one form for all.
// Everything that deploys to the cluster gets its provider from here.
package kubeconfig

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
	"mara/projects/model"
)

// Program exports the kubeconfig, the cluster's name and the context's name.
func Program(ctx *pulumi.Context) error {
	s := settings.New(ctx, projects.Kubeconfig())
	project, identity := s.Infrastructure().ClusterProject, s.ClusterIdentity()
	if err := s.Err(); err != nil {
		return err
	}
	ref := stackref.New(ctx, project)
	text := ref.String("kubeconfig").ApplyT(contain.Try(func(exported string) (string, error) {
		return normalise(exported, project)
	})).(pulumi.StringOutput)

	ctx.Export("kubeconfig", pulumi.ToSecret(text))
	ctx.Export("cluster_name", ref.String("cluster_name"))
	if identity != "" { // the programs of applications read it, and take null for none
		ctx.Export("identity", pulumi.String(identity))
	}
	// Only the name of the context leaves the secret.
	ctx.Export("context", pulumi.Unsecret(text.ApplyT(contain.Try(currentContext)).(pulumi.StringOutput)))
	return nil
}

// normalise decodes what is encoded and checks that the result can be used.
// Errors never quote the text: it holds credentials.
func normalise(exported, project string) (string, error) {
	text, err := model.DecodeKubeconfig(exported)
	if err == nil {
		_, err = currentContext(text)
	}
	if err != nil {
		return "", fmt.Errorf("the kubeconfig of project %q: %w", project, err)
	}
	return text, nil
}

// currentContext returns the name of the kubeconfig's current context.
func currentContext(text string) (string, error) {
	var file struct {
		CurrentContext string `yaml:"current-context"`
		Clusters       []any  `yaml:"clusters"`
		Users          []any  `yaml:"users"`
		Contexts       []struct {
			Name string `yaml:"name"`
		} `yaml:"contexts"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return "", errors.New("is not valid YAML")
	}
	if len(file.Clusters) == 0 || len(file.Users) == 0 {
		return "", errors.New("has no cluster or no user")
	}
	for _, context := range file.Contexts {
		if context.Name != "" && context.Name == file.CurrentContext {
			return context.Name, nil
		}
	}
	return "", fmt.Errorf("has no context for its current-context %q", file.CurrentContext)
}
