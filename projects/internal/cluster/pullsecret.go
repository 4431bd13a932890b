package cluster

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
	"mara/projects/model"
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

// RegistryCredentials runs a project that lets the cluster pull from the registry which another project
// exports: host, user and password are the names of its outputs. The host may have a directory.
func RegistryCredentials(ctx *pulumi.Context, project model.Project, registry model.Registry) error {
	kubernetes, err := Connect(ctx, settings.New(ctx, project))
	if err != nil {
		return err
	}
	from := stackref.New(ctx, registry.Project)
	login := pulumi.All(from.String(registry.Host), from.String(registry.User), from.String(registry.Password)).
		ApplyT(contain.Try(func(parts []any) (string, error) {
			host, _, _ := strings.Cut(parts[0].(string), "/")
			return DockerConfig(host, parts[1].(string), parts[2].(string))
		})).(pulumi.StringOutput)
	return kubernetes.PullSecret(ctx, login)
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
