package preflight

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/containers"
	"mara/runner/internal/kindnodes"
)

// machine is this machine, as far as clusters in containers are concerned.
type machine struct {
	runtime   func() (*containers.Runtime, error)
	read      func(path string) ([]byte, error)         // a file of the kernel's
	free      func(path string) (uint64, bool)          // bytes of a disk; false where the folder is elsewhere
	listen    func(address string, port int) error      // whether a port can be listened on
	holder    func(port int) string                     // the program that listens on a port; "" when that is not known
	setting   func(key string) string                   // of the stack, or its default
	dockerToo bool                                      // what is wrong with docker is told elsewhere
	own       func(container containers.Container) bool // belongs to this environment
}

// kindRuntime looks for the container runtime, and asks its daemon.
func (m machine) kindRuntime(ctx context.Context) []Finding {
	runtime, err := m.runtime()
	if err != nil {
		return Bad(err.Error(), "Docker: https://docs.docker.com/engine/install")
	}
	info, err := runtime.Info(ctx)
	switch {
	case err != nil && runtime.Name == "docker" && m.dockerToo:
		return Unseen("it is Docker, which is looked at as well")
	case containers.Forbidden(err):
		return Bad(fmt.Sprintf("you may not use %s: %v", runtime.Name, err), "add yourself to its group (sudo usermod -aG docker $USER), and log in anew")
	case containers.Unreachable(err):
		return Bad(fmt.Sprintf("the daemon of %s does not answer: %v", runtime.Name, err), startRuntime(runtime.Name))
	case err != nil:
		return Bad(err.Error(), startRuntime(runtime.Name))
	}
	findings := Good(strings.TrimSpace(runtime.Name + " " + info.Version + " answers"))
	return append(findings, m.cgroup(info)...)
}

func startRuntime(name string) string {
	switch name {
	case "podman":
		return "start it: podman machine start"
	case "nerdctl":
		return "start containerd: sudo systemctl start containerd"
	}
	return "start it: sudo systemctl start docker, or Docker Desktop"
}

var nodeVersion = regexp.MustCompile(`:v1\.(\d+)\.`)

// firstWithoutCgroup1 is the Kubernetes 1.x whose kubelet refuses cgroup v1.
const firstWithoutCgroup1 = 35

func (m machine) cgroup(info containers.Info) []Finding {
	if info.CgroupVersion != "1" {
		return nil
	}
	image := m.setting("kind:node_image")
	const boot = "boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command line"
	if match := nodeVersion.FindStringSubmatch(image); match != nil {
		if minor, _ := strconv.Atoi(match[1]); minor >= firstWithoutCgroup1 {
			return Bad(fmt.Sprintf("it has cgroup v1, with which Kubernetes 1.%d does not start", minor),
				boot+", or choose a node image older than 1.35 (kind:node_image)")
		}
	}
	return Doubtful("it has cgroup v1, which Kubernetes from 1.35 on refuses", boot)
}

// How much memory and disk a cluster needs, and the whole environment wants.
const (
	leastMemory  = 2 << 30 // kubeadm refuses less than 1700 MB
	enoughMemory = 8 << 30
	leastDisk    = 4 << 30 // the node image alone unpacks to one, and must not fill the disk to 85 %
	enoughDisk   = 20 << 30
)

// kindResources looks at memory and disk, where the containers are.
func (m machine) kindResources(ctx context.Context) []Finding {
	runtime, err := m.runtime()
	if err != nil {
		return Unseen("there is no container runtime")
	}
	info, err := runtime.Info(ctx)
	if err != nil {
		return Unseen("the container runtime does not answer")
	}
	findings := m.memory(info)
	free, ok := m.free(info.Root)
	switch {
	case !ok:
		return append(findings, Good("its disk is not on this machine, and is not looked at")...)
	case free < leastDisk:
		return append(findings, Bad(fmt.Sprintf("only %s of disk are free in %s", size(free), info.Root), "free some: "+runtime.Name+" system prune")...)
	case free < enoughDisk:
		return append(findings, Doubtful(fmt.Sprintf("only %s of disk are free in %s", size(free), info.Root),
			"the images of the whole environment may not fit; free some: "+runtime.Name+" system prune")...)
	}
	return append(findings, Good(size(free)+" of disk are free")...)
}

func (m machine) memory(info containers.Info) []Finding {
	total := uint64(max(info.Memory, 0))
	switch {
	case total == 0:
		return Doubtful("how much memory it has is not told", "")
	case total < leastMemory:
		return Bad(fmt.Sprintf("it has %s of memory; a cluster needs %s", size(total), size(leastMemory)), "give it more: in Docker Desktop under Settings, Resources")
	case total < enoughMemory:
		return Doubtful(fmt.Sprintf("it has %s of memory; the whole environment wants %s", size(total), size(enoughMemory)),
			"give it more, or leave projects out (--exclude logstore,prometheus)")
	}
	return Good(size(total) + " of memory")
}

// kindLimits looks at the limits that clusters run into first.
func (m machine) kindLimits(context.Context) []Finding {
	var findings []Finding
	for _, limit := range []struct {
		name  string
		least int
	}{{"fs.inotify.max_user_instances", 512}, {"fs.inotify.max_user_watches", 524288}} {
		content, err := m.read("/proc/sys/" + strings.ReplaceAll(limit.name, ".", "/"))
		if err != nil {
			return Unseen("the kernel's limits are not those of this machine")
		}
		value, err := strconv.Atoi(strings.TrimSpace(string(content)))
		if err == nil && value < limit.least {
			findings = append(findings, Doubtful(fmt.Sprintf("%s is %d; pods fail with \"too many open files\" when it is used up", limit.name, value),
				fmt.Sprintf("sudo sysctl %s=%d", limit.name, limit.least))...)
		}
	}
	if len(findings) > 0 {
		return findings
	}
	return Good("the inotify limits are high enough")
}

// kindSetting is the value of a key of kind's projects.
func kindSetting(file config.StackFile) func(string) string {
	return func(key string) string {
		if entry, ok := file.Lookup(key); ok && entry.Value != nil {
			return fmt.Sprint(entry.Value)
		}
		for _, project := range []projects.Project{projects.KindCluster(), projects.KindRegistry()} {
			for _, declared := range project.Keys {
				if declared.Name == key && declared.Default != nil {
					return fmt.Sprint(declared.Default)
				}
			}
		}
		return ""
	}
}

// onThisMachine makes a check of a look at the machine.
func onThisMachine(title string, look func(machine, context.Context) []Finding) func(Facts) Check {
	return func(f Facts) Check {
		m := thisMachine(f)
		return Check{Title: title, Group: Tools, Look: func(ctx context.Context) []Finding { return look(m, ctx) }}
	}
}

// thisMachine is the real one, as the environment's runs see it.
func thisMachine(f Facts) machine {
	setting := kindSetting(f.Config)
	cluster, registry := projects.KindClusterName(f.Stack), projects.KindRegistryName(f.Stack)
	m := machine{
		runtime: func() (*containers.Runtime, error) {
			look := func(name string) bool {
				_, ok := findTool(name, f.Env)
				return ok
			}
			return containers.Find(setting("kind:runtime"), look, containers.In(f.Env))
		},
		read: os.ReadFile, free: FreeSpace, listen: listen, holder: holderIn("/proc"), setting: setting, dockerToo: f.dockerToo,
		own: func(c containers.Container) bool {
			return c.Name == registry || c.Labels[kindnodes.ClusterLabel] == cluster
		},
	}
	if f.Probes.Listen != nil {
		m.listen = f.Probes.Listen
	}
	if f.Probes.Read != nil {
		m.read = f.Probes.Read
	}
	return m
}
