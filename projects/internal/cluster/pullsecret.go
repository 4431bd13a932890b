package cluster

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/stackref"
)

// PullSecret makes the Secret with which the ingress controller's namespace pulls
// its image, and exports where it is. login is how Docker keeps a login for a
// registry: kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry.
func (c *Cluster) PullSecret(ctx *pulumi.Context, login pulumi.StringInput) error {
	ingress, err := stackref.New(ctx, projects.IngressControllerNamespace().Name)
	if err != nil {
		return err
	}
	namespace := ingress.String("namespace")
	_, err = corev1.NewSecret(ctx, projects.RegistrySecret, &corev1.SecretArgs{
		Metadata:   c.Meta(projects.RegistrySecret, namespace),
		Type:       pulumi.String("kubernetes.io/dockerconfigjson"),
		StringData: pulumi.StringMap{".dockerconfigjson": login},
	}, c.Provider())
	if err != nil {
		return err
	}
	ctx.Export("secret_name", pulumi.String(projects.RegistrySecret))
	ctx.Export("secret_namespace", namespace)
	return nil
}
