// Package bank is the Pulumi program that deploys Bank of Anthos: six services,
// two databases and a load generator behind an Ingress with TLS. Passwords and
// keys come from the Secret that the secrets project has made in the
// application's namespace; ConfigMaps hold none.
package bank

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// application is what the parts of the program share.
type application struct {
	*cluster.Cluster
	options

	ctx         *pulumi.Context
	namespace   pulumi.String
	credentials pulumi.StringOutput // name of the Secret
	account     pulumi.StringOutput // name of the ServiceAccount
}

// options is what the configuration says.
type options struct {
	host, bankName, storage string
	demoData, loadGenerator bool
	loadUsers, httpsPort    int
	nodePort                int // for HTTPS, where the cluster is entered by ports of the nodes
	acme                    bool
}

// Program deploys the application.
func Program(ctx *pulumi.Context) error {
	project := projects.BankOfAnthos()
	s := settings.New(ctx, project)
	o := read(s)
	c, err := cluster.Connect(ctx, s)
	if err != nil {
		return err
	}
	secrets := stackref.New(ctx, projects.Secrets().Name)
	ingress := stackref.New(ctx, projects.IngressController().Name)
	app := &application{
		Cluster: c, options: o, ctx: ctx,
		namespace: pulumi.String(project.Namespace), credentials: secrets.Entry("secrets", project.Namespace),
	}
	if err := app.configuration(); err != nil {
		return err
	}
	databases, err := app.databases()
	if err != nil {
		return err
	}
	frontend, err := app.services(databases)
	if err != nil {
		return err
	}
	return app.publish(ingress, frontend)
}

// read takes the options from the configuration.
func read(s *settings.Settings) options {
	return options{
		host:          s.String("bank-of-anthos:host"),
		bankName:      s.String("bank-of-anthos:name"),
		storage:       s.String("bank-of-anthos:storage_size"),
		demoData:      s.Bool("bank-of-anthos:demo_data"),
		loadGenerator: s.Bool("bank-of-anthos:load_generator"),
		loadUsers:     s.Int("bank-of-anthos:load_users"),
		httpsPort:     s.Int("kind:https_port"),
		nodePort:      s.Int(projects.HTTPSNodePort),
		acme:          s.String("certmgr:issuer") == "acme",
	}
}
