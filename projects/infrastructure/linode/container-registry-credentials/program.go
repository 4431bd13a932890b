// Package registrycredentials is the project "linode-registry-credentials": the
// Secret with which the ingress controller's namespace pulls its image from the
// environment's Harbor.
package registrycredentials

import (
	"encoding/base64"
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program declares the Secret.
func Program(ctx *pulumi.Context) error {
	kubernetes, err := cluster.Connect(ctx, settings.New(ctx, projects.LinodeRegistryCredentials()))
	if err != nil {
		return err
	}
	harbor := stackref.New(ctx, projects.LinodeHarbor().Name)
	login := pulumi.All(harbor.String("harbor_hostname"), harbor.String("harbor_user"), harbor.String("harbor_password")).
		ApplyT(contain.Try(func(parts []any) (string, error) {
			return dockerConfig(parts[0].(string), parts[1].(string), parts[2].(string))
		})).(pulumi.StringOutput)
	return kubernetes.PullSecret(ctx, login)
}

// dockerConfig returns a login for a registry in the format of Docker, which Kubernetes
// shares: kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry.
func dockerConfig(host, user, password string) (string, error) {
	login := map[string]string{
		"username": user,
		"password": password,
		"auth":     base64.StdEncoding.EncodeToString([]byte(user + ":" + password)),
	}
	text, err := json.Marshal(map[string]any{"auths": map[string]any{host: login}})
	return string(text), err
}
