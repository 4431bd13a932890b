// Package secrets is the Pulumi program that turns the encrypted values of its
// own stack file into Kubernetes Secrets: one for each namespace whose programs
// need one, made together with the namespace before those programs run. It is
// the only project with secrets in its configuration, because only then one
// encrypted file can serve all of them.
package secrets

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
	"mara/projects/model"
)

// bundle is what one namespace's Secret holds, by data key.
type bundle struct {
	namespace string
	data      map[string]string
}

// Program makes the namespaces and their Secrets.
func Program(ctx *pulumi.Context) error {
	s := settings.New(ctx, projects.Secrets())
	left, _ := ctx.GetConfig(model.WithoutKey)
	bundles, err := collect(s, strings.Split(left, ","))
	if err != nil {
		return err
	}
	c, err := cluster.Connect(ctx, s)
	if err != nil {
		return err
	}
	names := pulumi.StringMap{}
	for _, b := range bundles {
		secret, err := create(ctx, c, b)
		if err != nil {
			return fmt.Errorf("namespace %s: %w", b.namespace, err)
		}
		names[b.namespace] = secret.Name()
	}
	ctx.Export("secrets", names)
	return nil
}

// collect reads every value that the provider's plan needs, and reports
// everything that is missing or wrong at once.
func collect(s *settings.Settings, without []string) ([]bundle, error) {
	var bundles []bundle
	var problems []error
	for _, consumer := range consumers(s.Infrastructure().Name, without) {
		data := map[string]string{}
		for _, secret := range consumer.Secrets {
			data[secret.DataKey] = s.Secret(secret)
		}
		problems = append(problems, derive(consumer, data))
		bundles = append(bundles, bundle{namespace: consumer.Namespace, data: data})
	}
	return bundles, errors.Join(s.Err(), errors.Join(problems...))
}

// consumers lists the projects of the provider's plan that need a Secret, without
// the omitted ones.
func consumers(infraType string, without []string) []model.Project {
	return slices.DeleteFunc(projects.WithSecrets(infraType), func(p model.Project) bool {
		return slices.Contains(without, p.Name)
	})
}

// create makes the namespace and its Secret.
func create(ctx *pulumi.Context, c *cluster.Cluster, b bundle) (*cluster.Declared, error) {
	namespace, err := c.Namespace(ctx, b.namespace)
	if err != nil {
		return nil, err
	}
	data := pulumi.StringMap{}
	for key, value := range b.data {
		data[key] = cluster.Hidden(value)
	}
	return c.Secret(ctx, projects.CredentialsName(b.namespace), namespace, cluster.Opaque, data)
}
