package cluster

import (
	"encoding/base64"
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/stackref"
)

// PullSecret makes the Secret with which the ingress controller's namespace pulls
// its image, and exports where it is. login is how Docker keeps a login for a
// registry: kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry.
func (c *Cluster) PullSecret(ctx *pulumi.Context, login pulumi.StringInput) error {
	namespace := stackref.New(ctx, projects.IngressControllerNamespace().Name).String("namespace")
	data := pulumi.StringMap{".dockerconfigjson": login}
	if _, err := c.Secret(ctx, projects.RegistrySecret, namespace, "kubernetes.io/dockerconfigjson", data); err != nil {
		return err
	}
	ctx.Export("secret_name", pulumi.String(projects.RegistrySecret))
	ctx.Export("secret_namespace", namespace)
	return nil
}

// DockerConfig returns a login for a registry in the format of Docker, which Kubernetes
// shares: kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry.
func DockerConfig(host, user, password string) (string, error) {
	login := map[string]string{
		"username": user,
		"password": password,
		"auth":     base64.StdEncoding.EncodeToString([]byte(user + ":" + password)),
	}
	if user == "" { // a registry without a login
		return `{"auths":{}}`, nil
	}
	text, err := json.Marshal(map[string]any{"auths": map[string]any{host: login}})
	return string(text), err
}
