package bank

import (
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// databaseLabel marks the pods that Prometheus takes database metrics from.
const databaseLabel = "mara.dev/database"

// monitor tells Prometheus to watch the databases. The kind is known, because
// this project comes after prometheus in every plan.
func (a *application) monitor(ctx *pulumi.Context) error {
	const name = "databases"
	_, err := apiextensions.NewCustomResource(ctx, name, &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String("monitoring.coreos.com/v1"),
		Kind:       pulumi.String("PodMonitor"),
		Metadata:   a.Meta(name, a.namespace),
		OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{
			"selector":            pulumi.Map{"matchLabels": pulumi.Map{databaseLabel: pulumi.String("true")}},
			"podMetricsEndpoints": pulumi.Array{pulumi.Map{"port": pulumi.String("metrics")}},
		}},
	}, a.Provider())
	return err
}
