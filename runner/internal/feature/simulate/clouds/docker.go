package clouds

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"mara/projects/schemas"
	"mara/runner/internal/feature/simulate"
)

// docker returns the simulation of a container engine and its registries.
func docker() simulate.Package {
	return simulate.Package{
		Name: "docker", Schemas: [][]byte{schemas.Of("docker")}, Partial: true, Words: faultsOf("docker"),
		Native: []string{"docker:index/image:Image"}, Resources: dockerResources(),
		Invokes: []simulate.Invoke{
			{
				Token: "docker:index/getRegistryImage:getRegistryImage",
				Answer: func(o simulate.Object) (map[string]any, error) {
					return map[string]any{"id": digest(o.Text("name")), "sha256Digest": digest(o.Text("name"))}, nil
				},
			},
			{
				Token: "docker:index/getRemoteImage:getRemoteImage",
				Answer: func(o simulate.Object) (map[string]any, error) {
					return map[string]any{"id": digest(o.Text("name")), "repoDigest": repoDigest(o.Text("name"))}, nil
				},
			},
		},
	}
}

func dockerResources() []simulate.Resource {
	hexID := func(o simulate.Object) string { return o.Hex("id", 64) }
	return []simulate.Resource{
		{
			Token:   "docker:index/image:Image",
			Latency: seconds(90, 60, 0), ID: imageID, Check: checkImage("imageName"),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{
					"baseImageName":  repository(o.Text("imageName")),
					"context":        o.TextOr("build.context", "."),
					"dockerfile":     o.TextOr("build.dockerfile", "Dockerfile"),
					"registryServer": o.Text("registry.server"),
					"repoDigest":     repoDigest(o.Text("imageName")),
				}
			},
		},
		{
			Token:   "docker:index/remoteImage:RemoteImage",
			Latency: seconds(25, 5, 1), Check: checkImage("name"),
			ReplaceOn: append(below("build", buildInputs...), "name", "platform", "pullTriggers", "triggers"),
			ID:        func(o simulate.Object) string { return imageID(o) + o.Text("name") },
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"imageId": digest(o.Text("name")), "repoDigest": repoDigest(o.Text("name"))}
			},
		},
		{
			Token:   "docker:index/tag:Tag",
			Latency: seconds(0.5, 0, 0.2), ReplaceOn: []string{"sourceImage", "targetImage", "tagTriggers"},
			ID: func(o simulate.Object) string {
				return o.Text("sourceImage") + "." + o.Text("targetImage") + "." + o.Hex("id", 8)
			},
			Check: checkImage("targetImage"),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"sourceImageId": digest(o.Text("sourceImage"))}
			},
		},
		{
			Token:   "docker:index/registryImage:RegistryImage",
			Latency: seconds(30, 20, 1), ID: imageID, Check: checkImage("name"),
			ReplaceOn: append(below("build", buildInputs...), "name", "triggers"),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"sha256Digest": digest(o.Text("name"))}
			},
		},
		{
			Token:   "docker:index/container:Container",
			Latency: seconds(3, 1, 2), ID: hexID, AutoName: "name",
			ReplaceOn: containerReplaceOn(),
			Defaults:  map[string]any{"bridge": "", "containerLogs": ""},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"hostname": o.TextOr("hostname", o.Hex("id", 12))}
			},
		},
		{
			Token:   "docker:index/network:Network",
			Latency: seconds(1, 1, 1), ID: hexID, AutoName: "name",
			ReplaceOn: []string{
				"attachable", "checkDuplicate", "driver", "ingress", "internal", "ipamConfigs", "ipamDriver", "ipamOptions", "ipv6",
				"labels", "name", "options",
			},
			Defaults: map[string]any{"driver": "bridge", "scope": "local"},
		},
		{
			Token:   "docker:index/volume:Volume",
			Latency: seconds(1, 1, 1), ID: field("name"), AutoName: "name",
			ReplaceOn: slices.Concat([]string{"driver", "driverOpts", "labels", "name"}, below("cluster", "group", "limitBytes",
				"requiredBytes", "scope", "sharing", "topologyPreferred", "topologyRequired", "type")),
			Defaults: map[string]any{"driver": "local"},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"mountpoint": "/var/lib/docker/volumes/" + o.Text("name") + "/_data"}
			},
		},
	}
}

// buildInputs are the inputs of a build whose change builds another image.
var buildInputs = []string{
	"additionalContexts", "buildArgs", "buildId", "buildLogFile", "builder", "cacheFroms", "cacheTos",
	"cgroupParent", "context", "cpuPeriod", "cpuQuota", "cpuSetCpus", "cpuSetMems", "cpuShares", "dockerfile",
	"extraHosts", "forceRemove", "isolation", "labels", "memory", "memorySwap", "networkMode", "noCache",
	"platform", "pullParent", "remoteContext", "securityOpts", "sessionId", "shmSize", "squash",
	"suppressOutput", "target", "version",
}

// containerReplaceOn lists nearly everything of a container: Docker changes only its limits and
// its restart policy while it runs.
func containerReplaceOn() []string {
	return []string{
		"capabilities", "cgroupParent", "cgroupnsMode", "command", "cpus", "devices", "dns", "dnsOpts",
		"dnsSearches", "domainname", "entrypoints", "envs", "gpus", "groupAdds", "hostname", "hosts", "image",
		"ipcMode", "labels", "logDriver", "logOpts", "mounts", "name", "networkMode", "networksAdvanced",
		"pidMode", "ports", "privileged", "publishAllPorts", "readOnly", "runtime", "securityOpts", "shmSize",
		"stdinOpen", "stopSignal", "stopTimeout", "storageOpts", "sysctls", "tty", "ulimits", "uploads", "user",
		"usernsMode", "volumes", "workingDir",
	}
}

// checkImage refuses what Docker does not take for the name of an image.
func checkImage(path string) check {
	return wellFormed(path, func(name string) bool {
		return !strings.ContainsAny(name, " \t") && !strings.Contains(name, "://") &&
			repository(name) == strings.ToLower(repository(name))
	}, "is not a name for an image")
}

// imageID returns the id of a pulled or pushed image. It differs between resources,
// because several programs may have the same image.
func imageID(o simulate.Object) string { return "sha256:" + o.Hex("id", 64) }

// digest returns the digest of an image, which depends on its name only.
func digest(image string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("SIMULATED "+image)))
}

func repoDigest(image string) string { return repository(image) + "@" + digest(image) }

// repository returns the name of an image without tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	slash := strings.LastIndex(image, "/")
	if colon := strings.LastIndex(image, ":"); colon > slash {
		return image[:colon]
	}
	return image
}
