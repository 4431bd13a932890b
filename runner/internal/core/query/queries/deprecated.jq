# Objects of API versions that Kubernetes has removed, with the first version without them.
def removed: {
  "extensions/v1beta1 Ingress": "1.22", "networking.k8s.io/v1beta1 Ingress": "1.22", "networking.k8s.io/v1beta1 IngressClass": "1.22",
  "apiextensions.k8s.io/v1beta1 CustomResourceDefinition": "1.22", "rbac.authorization.k8s.io/v1beta1 ClusterRole": "1.22",
  "rbac.authorization.k8s.io/v1beta1 ClusterRoleBinding": "1.22", "rbac.authorization.k8s.io/v1beta1 Role": "1.22",
  "rbac.authorization.k8s.io/v1beta1 RoleBinding": "1.22", "storage.k8s.io/v1beta1 StorageClass": "1.22",
  "admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration": "1.22",
  "admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration": "1.22",
  "extensions/v1beta1 Deployment": "1.16", "apps/v1beta1 Deployment": "1.16", "apps/v1beta2 Deployment": "1.16",
  "extensions/v1beta1 DaemonSet": "1.16", "apps/v1beta2 DaemonSet": "1.16", "apps/v1beta1 StatefulSet": "1.16", "apps/v1beta2 StatefulSet": "1.16",
  "batch/v1beta1 CronJob": "1.25", "policy/v1beta1 PodDisruptionBudget": "1.25", "policy/v1beta1 PodSecurityPolicy": "1.25",
  "discovery.k8s.io/v1beta1 EndpointSlice": "1.25", "autoscaling/v2beta1 HorizontalPodAutoscaler": "1.25",
  "autoscaling/v2beta2 HorizontalPodAutoscaler": "1.26", "storage.k8s.io/v1beta1 CSIStorageCapacity": "1.27",
  "flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema": "1.29", "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema": "1.32"
};
.items[] | select(.object.apiVersion?)
| "\(.object.apiVersion) \(.object.kind)" as $what
| select(removed[$what])
| {environment, where: place, name, apiVersion: .object.apiVersion, kind: .object.kind, removed: removed[$what]}
