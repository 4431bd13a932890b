// Package logstore is the Pulumi program that deploys OpenSearch and OpenSearch
// Dashboards. The administrator's password is made once and kept in the state of
// the stack, because OpenSearch takes it only when a volume starts for the first
// time. Nothing is reachable from outside the cluster.
package logstore

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/credential"
	"mara/projects/internal/settings"
)

const (
	credentials = "logstore-credentials" // the Secret with the administrator's account
	host        = "opensearch-cluster-master"
	port        = 9200
	username    = "admin" // fixed by OpenSearch
)

// Program deploys the log store.
func Program(ctx *pulumi.Context) error {
	project := projects.Logstore()
	s := settings.New(ctx, project)
	size := read(s)
	c, namespace, err := cluster.ConnectIn(ctx, s, project.Namespace)
	if err != nil {
		return err
	}
	password, err := credential.Password(ctx, "admin-password", 24)
	if err != nil {
		return err
	}
	secret, err := account(ctx, c, namespace, password)
	if err != nil {
		return err
	}
	store, err := c.Release(ctx, cluster.Chart{
		Release: "opensearch", Chart: "opensearch", Group: "logstore",
		Namespace: namespace, Values: storeValues(c, size),
	}, pulumi.DependsOn([]pulumi.Resource{secret}))
	if err != nil {
		return err
	}
	if _, err := c.Release(ctx, cluster.Chart{
		Release: "opensearch-dashboards", Chart: "opensearch-dashboards", Group: "logstore:dashboards",
		Namespace: namespace, Values: dashboardsValues(c),
	}, pulumi.DependsOn([]pulumi.Resource{secret, store})); err != nil {
		return err
	}
	ctx.Export("host", pulumi.String(host+"."+project.Namespace+".svc.cluster.local"))
	ctx.Export("port", pulumi.Int(port))
	ctx.Export("username", pulumi.String(username))
	ctx.Export("password", password)
	ctx.Export("dashboards", pulumi.String(
		"kubectl --namespace "+project.Namespace+" port-forward service/opensearch-dashboards 5601:5601"))
	return nil
}

// read takes the size from the configuration.
func read(s *settings.Settings) size {
	return size{heap: s.String("logstore:heap"), storage: s.String("logstore:storage_size")}
}

// account makes the Secret with the administrator's account. The key cookie is
// what OpenSearch Dashboards encrypts its sessions with.
func account(
	ctx *pulumi.Context, c *cluster.Cluster, namespace pulumi.StringOutput, password pulumi.StringOutput,
) (*cluster.Declared, error) {
	cookie, err := credential.Password(ctx, "dashboards-cookie", 32)
	if err != nil {
		return nil, err
	}
	data := pulumi.StringMap{"username": pulumi.String(username), "password": password, "cookie": cookie}
	return c.Secret(ctx, credentials, namespace, cluster.Opaque, data)
}
