// Package programs is the one registry of the Pulumi programs by project name.
// It pulls in every cloud SDK, so only commands import it; everything else works
// with the light catalogue in mara/projects.
package programs

import (
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	autoscaler "mara/projects/infrastructure/aws/cluster-autoscaler"
	"mara/projects/infrastructure/cluster/connection"
	clustercredentials "mara/projects/infrastructure/cluster/container-registry-credentials"
	clusterregistry "mara/projects/infrastructure/cluster/registry"
	kindcluster "mara/projects/infrastructure/kind/cluster"
	kindregistry "mara/projects/infrastructure/kind/registry"
	"mara/projects/infrastructure/kubeconfig"
	"mara/projects/kubernetes/access"
	bank "mara/projects/kubernetes/applications/bank-of-anthos"
	"mara/projects/kubernetes/backup"
	"mara/projects/kubernetes/certmgr"
	"mara/projects/kubernetes/dashboard"
	externaldns "mara/projects/kubernetes/external-dns"
	"mara/projects/kubernetes/guardrails"
	"mara/projects/kubernetes/logagent"
	"mara/projects/kubernetes/logstore"
	metricsserver "mara/projects/kubernetes/metrics-server"
	controller "mara/projects/kubernetes/nginx/ingress-controller"
	namespace "mara/projects/kubernetes/nginx/ingress-controller-namespace"
	"mara/projects/kubernetes/observability"
	"mara/projects/kubernetes/prometheus"
	"mara/projects/kubernetes/secrets"
	imagebuild "mara/projects/utility/kic-image-build"
	imagepush "mara/projects/utility/kic-image-push"
)

// All maps the name of every project of the catalogue to its program.
func All() map[string]pulumi.RunFunc {
	all := map[string]pulumi.RunFunc{
		projects.ClusterConnection().Name:          connection.Program,
		projects.ClusterRegistry().Name:            clusterregistry.Program,
		projects.ClusterRegistryCredentials().Name: clustercredentials.Program,
		projects.KindCluster().Name:                kindcluster.Program,
		projects.KindRegistry().Name:               kindregistry.Program,
		projects.KICImageBuild().Name:              imagebuild.Program,
		projects.KICImagePush().Name:               imagepush.Program,
		projects.Kubeconfig().Name:                 kubeconfig.Program,
		projects.Secrets().Name:                    secrets.Program,
		projects.IngressControllerNamespace().Name: namespace.Program,
		projects.IngressController().Name:          controller.Program,
		projects.Logstore().Name:                   logstore.Program,
		projects.LogAgent().Name:                   logagent.Program,
		projects.CertManager().Name:                certmgr.Program,
		projects.Prometheus().Name:                 prometheus.Program,
		projects.Observability().Name:              observability.Program,
		projects.BankOfAnthos().Name:               bank.Program,
		projects.MetricsServer().Name:              metricsserver.Program,
		projects.Guardrails().Name:                 guardrails.Program,
		projects.Access().Name:                     access.Program,
		projects.Dashboard().Name:                  dashboard.Program,
		projects.ExternalDNS().Name:                externaldns.Program,
		projects.Backup().Name:                     backup.Program,
		projects.ClusterAutoscaler().Name:          autoscaler.Program,
	}
	maps.Copy(all, OfClouds())
	return all
}

// ByName finds the program of a project.
func ByName(name string) (pulumi.RunFunc, bool) {
	program, ok := All()[name]
	return program, ok
}
