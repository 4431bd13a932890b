// Package logagent is the Pulumi program that deploys Fluent Bit on every node.
// It ships to the log store, with credentials from a Secret of its own: a Secret
// can only be read in its own namespace.
package logagent

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

const (
	credentials = "logstore-credentials"
	indexPrefix = "kubernetes"
)

// destination is where the logs go.
type destination struct {
	host               pulumi.StringOutput
	port               pulumi.StringOutput
	username, password pulumi.StringOutput
}

// Program deploys the agent.
func Program(ctx *pulumi.Context) error {
	project := projects.LogAgent()
	c, namespace, err := cluster.ConnectIn(ctx, settings.New(ctx, project), project.Namespace)
	if err != nil {
		return err
	}
	to := logstore(ctx)
	account := pulumi.StringMap{"username": to.username, "password": to.password}
	secret, err := c.Secret(ctx, credentials, namespace, cluster.Opaque, account)
	if err != nil {
		return err
	}
	if _, err := c.Release(ctx, cluster.Chart{
		Release: "fluent-bit", Chart: "fluent-bit", Group: "logagent",
		Namespace: namespace, Values: values(c, to),
	}, pulumi.DependsOn([]pulumi.Resource{secret})); err != nil {
		return err
	}
	ctx.Export("destination", pulumi.Sprintf("https://%s:%s", to.host, to.port))
	ctx.Export("index_prefix", pulumi.String(indexPrefix))
	return nil
}

// logstore reads where the log store is and how to log in.
func logstore(ctx *pulumi.Context) destination {
	ref := stackref.New(ctx, projects.Logstore().Name)
	return destination{
		host: ref.String("host"),
		// A number travels between stacks as a float; printed, it is whole.
		port:     pulumi.Sprintf("%v", ref.Output("port")),
		username: ref.String("username"),
		password: ref.String("password"),
	}
}
