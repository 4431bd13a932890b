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

	ctx         *pulumi.Context
	settings    *settings.Settings
	namespace   pulumi.String
	credentials pulumi.StringOutput // name of the Secret
	account     pulumi.StringOutput // name of the ServiceAccount
}

// Program deploys the application.
func Program(ctx *pulumi.Context) error {
	project := projects.BankOfAnthos()
	s := settings.New(ctx, project)
	c, err := cluster.Connect(ctx, s)
	if err != nil {
		return err
	}
	secrets := stackref.New(ctx, projects.Secrets().Name)
	ingress := stackref.New(ctx, projects.IngressController().Name)
	app := &application{
		Cluster: c, ctx: ctx, settings: s,
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

// demoData reports whether the databases begin with the demo users.
func (a *application) demoData() bool { return a.settings.Bool("bank-of-anthos:demo_data") }
