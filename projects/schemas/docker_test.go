package schemas_test

import (
	"testing"

	dockersdk "github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
)

func TestDocker(t *testing.T) {
	current(t, "docker", true, provider(dockersdk.NewProvider),
		resource("docker:index/image:Image", dockersdk.NewImage),
		resource("docker:index/remoteImage:RemoteImage", dockersdk.NewRemoteImage),
		resource("docker:index/tag:Tag", dockersdk.NewTag),
		resource("docker:index/registryImage:RegistryImage", dockersdk.NewRegistryImage),
		resource("docker:index/container:Container", dockersdk.NewContainer),
		resource("docker:index/network:Network", dockersdk.NewNetwork),
		resource("docker:index/volume:Volume", dockersdk.NewVolume),
		function("docker:index/getRegistryImage:getRegistryImage", dockersdk.LookupRegistryImage),
		function("docker:index/getRemoteImage:getRemoteImage", dockersdk.LookupRemoteImage),
	)
}
