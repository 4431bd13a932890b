package schemas_test

import (
	"errors"
	"testing"

	k8s "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	apiextensionsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions/v1"
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	autoscalingv2 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/autoscaling/v2"
	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	rbacv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/rbac/v1"
	schedulingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/scheduling/v1"
	storagev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/storage/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func TestKubernetes(t *testing.T) {
	current(t, "kubernetes", false, provider(k8s.NewProvider),
		resource("kubernetes:core/v1:Namespace", corev1.NewNamespace),
		resource("kubernetes:core/v1:Secret", corev1.NewSecret),
		resource("kubernetes:core/v1:ConfigMap", corev1.NewConfigMap),
		resource("kubernetes:core/v1:Service", corev1.NewService),
		resource("kubernetes:core/v1:ServiceAccount", corev1.NewServiceAccount),
		resource("kubernetes:core/v1:PersistentVolumeClaim", corev1.NewPersistentVolumeClaim),
		resource("kubernetes:core/v1:PersistentVolume", corev1.NewPersistentVolume),
		resource("kubernetes:core/v1:Pod", corev1.NewPod),
		resource("kubernetes:core/v1:LimitRange", corev1.NewLimitRange),
		resource("kubernetes:core/v1:ResourceQuota", corev1.NewResourceQuota),
		resource("kubernetes:apps/v1:Deployment", appsv1.NewDeployment),
		resource("kubernetes:apps/v1:StatefulSet", appsv1.NewStatefulSet),
		resource("kubernetes:apps/v1:DaemonSet", appsv1.NewDaemonSet),
		resource("kubernetes:apps/v1:ReplicaSet", appsv1.NewReplicaSet),
		resource("kubernetes:autoscaling/v2:HorizontalPodAutoscaler", autoscalingv2.NewHorizontalPodAutoscaler),
		resource("kubernetes:batch/v1:Job", batchv1.NewJob),
		resource("kubernetes:batch/v1:CronJob", batchv1.NewCronJob),
		resource("kubernetes:networking.k8s.io/v1:Ingress", networkingv1.NewIngress),
		resource("kubernetes:networking.k8s.io/v1:IngressClass", networkingv1.NewIngressClass),
		resource("kubernetes:networking.k8s.io/v1:NetworkPolicy", networkingv1.NewNetworkPolicy),
		resource("kubernetes:policy/v1:PodDisruptionBudget", policyv1.NewPodDisruptionBudget),
		resource("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", rbacv1.NewClusterRole),
		resource("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", rbacv1.NewClusterRoleBinding),
		resource("kubernetes:rbac.authorization.k8s.io/v1:Role", rbacv1.NewRole),
		resource("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", rbacv1.NewRoleBinding),
		resource("kubernetes:scheduling.k8s.io/v1:PriorityClass", schedulingv1.NewPriorityClass),
		resource("kubernetes:storage.k8s.io/v1:StorageClass", storagev1.NewStorageClass),
		resource("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", apiextensionsv1.NewCustomResourceDefinition),
		resource("kubernetes:helm.sh/v3:Release", NewRelease),
		resource("kubernetes:apiextensions.k8s.io:CustomResource", apiextensions.NewCustomResource),
		component[configGroup]("kubernetes:yaml/v2:ConfigGroup"),
		function("kubernetes:helm:template", template),
	)
}

// configGroup is the component that makes objects of any kind in programs in YAML. Its package in the SDK would compile all API
// groups of Kubernetes.
type configGroup struct {
	Files          []string `pulumi:"files"`
	Objs           []any    `pulumi:"objs"`
	ResourcePrefix *string  `pulumi:"resourcePrefix"`
	SkipAwait      *bool    `pulumi:"skipAwait"`
	YAML           *string  `pulumi:"yaml"`
}

// templateArgs and templateResult are those of the provider's function for
// charts, which the SDK does not export.
type templateArgs struct {
	JSONOpts string `pulumi:"jsonOpts"`
}

type templateResult struct {
	Result []map[string]any `pulumi:"result"`
}

func template(*pulumi.Context, *templateArgs, ...pulumi.InvokeOption) (*templateResult, error) {
	return nil, errors.New("only its type counts")
}
