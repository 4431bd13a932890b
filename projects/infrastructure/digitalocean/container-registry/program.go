// Package registry is the project "digitalocean-registry": a private container
// registry, or the one that the account has already, and a login to push to it.
package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-digitalocean/sdk/v4/go/digitalocean"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/digitalocean/internal/environment"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
)

// place is where a registry is.
type place struct{ name, endpoint pulumi.StringOutput }

// Program declares the registry and the login.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.DigitalOceanRegistry())
	existing := cfg.String("docr:registry")
	tier, region := cfg.String("docr:tier"), cfg.String("docr:region")
	if err := cfg.Err(); err != nil {
		return err
	}
	var at place
	var err error
	if existing != "" {
		at, err = find(ctx, existing)
	} else {
		at, err = create(ctx, tier, region)
	}
	if err != nil {
		return err
	}
	push := &digitalocean.ContainerRegistryDockerCredentialsArgs{RegistryName: at.name, Write: pulumi.Bool(true)}
	login, err := digitalocean.NewContainerRegistryDockerCredentials(ctx, "push", push)
	if err != nil {
		return err
	}
	ctx.Export("registry_name", at.name)
	ctx.Export("registry_endpoint", at.endpoint)
	ctx.Export("registry_user", part(login, func(user, _ string) string { return user }))
	ctx.Export("registry_password", part(login, func(_, password string) string { return password }))
	return nil
}

// find looks the account's own registry up.
func find(ctx *pulumi.Context, name string) (place, error) {
	found, err := digitalocean.LookupContainerRegistry(ctx, &digitalocean.LookupContainerRegistryArgs{Name: name})
	if err != nil {
		return place{}, fmt.Errorf("docr:registry: looking for the registry %q: %w", name, err)
	}
	return place{
		name:     pulumi.String(found.Name).ToStringOutput(),
		endpoint: pulumi.String(found.Endpoint).ToStringOutput(),
	}, nil
}

// create makes a registry. Its name has to be unique beyond the account, so Pulumi
// adds digits to it.
func create(ctx *pulumi.Context, tier, region string) (place, error) {
	args := &digitalocean.ContainerRegistryArgs{SubscriptionTierSlug: pulumi.String(tier)}
	if region != "" {
		args.Region = pulumi.String(region)
	}
	made, err := digitalocean.NewContainerRegistry(ctx, environment.Name(ctx.Stack(), ""), args)
	if err != nil {
		return place{}, err
	}
	return place{name: made.Name, endpoint: made.Endpoint}, nil
}

// part returns a part of the login, which DigitalOcean provides as Docker's configuration.
func part(
	login *digitalocean.ContainerRegistryDockerCredentials, choose func(user, password string) string,
) pulumi.Output {
	return pulumi.ToSecret(login.DockerCredentials.ApplyT(contain.Try(func(text string) (string, error) {
		user, password, err := parse(text)
		return choose(user, password), err
	})))
}

// parse takes user and password from Docker's configuration. Errors never quote
// the text: it holds credentials.
func parse(text string) (user, password string, err error) {
	var config struct {
		Auths map[string]struct{ Auth string }
	}
	if json.Unmarshal([]byte(text), &config) != nil {
		return "", "", errors.New("the registry's login is not JSON")
	}
	for _, login := range config.Auths {
		pair, err := base64.StdEncoding.DecodeString(login.Auth)
		if user, password, found := strings.Cut(string(pair), ":"); err == nil && found {
			return user, password, nil
		}
	}
	return "", "", errors.New("the registry's login has no user and password")
}
