package preflight

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
	"mara/runner/internal/machine/disk"
)

// machine is the access of checks to this machine, its containers and its kernel.
type machine struct {
	runtime func() (*containers.Runtime, error)
	read    func(path string) ([]byte, error) // reads a file of the kernel
	// free returns the free bytes of a disk; false if the directory is on another machine.
	free         func(path string) (uint64, bool)
	listen       func(address string, port int) error       // tries to listen on a port
	holder       func(port int) string                      // the program that listens on a port; "" if unknown
	capabilities func(program string) (set uint64, ok bool) // the capability bounding set of a running program
	setting      func(key string) string                    // of the stack, or its default
	dockerToo    bool                                       // another check reports problems of docker
	cluster      string                                     // its name
	own          func(container containers.Container) bool  // belongs to this environment
}

// kindRuntime checks the container runtime and its daemon.
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
		return Bad(fmt.Sprintf("you may not use %s: %v", runtime.Name, err),
			"add yourself to its group (sudo usermod -aG docker $USER), and log in again")
	case containers.Unreachable(err):
		return Bad(fmt.Sprintf("the daemon of %s does not answer: %v", runtime.Name, err), startRuntime(runtime.Name))
	case err != nil:
		return Bad(err.Error(), startRuntime(runtime.Name))
	}
	return Good(strings.TrimSpace(runtime.Name + " " + info.Version + " answers"))
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

// kindNodes checks whether the runtime can run nodes. Only a cluster that is yet to
// be created needs it.
func (m machine) kindNodes(ctx context.Context) []Finding {
	runtime, info, unseen := m.ask(ctx)
	if unseen != nil {
		return unseen
	}
	findings := slices.Concat(m.cgroup(info), m.privileges(runtime.Name), m.takenName(ctx, runtime))
	if len(findings) > 0 {
		return findings
	}
	return Good("cgroups and privileges are as nodes need them")
}

// takenName looks for nodes of the cluster's name that mara has not made: the cluster cannot be created beside them.
func (m machine) takenName(ctx context.Context, runtime *containers.Runtime) []Finding {
	nodes, err := kindnodes.Find(ctx, runtime, m.cluster)
	if err != nil || len(nodes.Kubernetes()) == 0 || len(nodes.Marks()) > 0 {
		return nil
	}
	return Bad(fmt.Sprintf("there is a cluster %s already, which was made without mara", m.cluster),
		"choose another stack (-s), or, if nothing in it is needed, delete it: "+kindnodes.Deletion(runtime, m.cluster))
}

// ask finds the runtime and asks its daemon. kindRuntime reports their problems.
func (m machine) ask(ctx context.Context) (runtime *containers.Runtime, info containers.Info, unseen []Finding) {
	runtime, err := m.runtime()
	if err != nil {
		return nil, info, Unseen("there is no container runtime")
	}
	if info, err = runtime.Info(ctx); err != nil {
		return nil, info, Unseen("the container runtime does not answer")
	}
	return runtime, info, nil
}

// cgroup checks the version of cgroups. With the kubelet setting failCgroupV1: false
// newer versions start as well; it is in the node image, which cannot be inspected
// in advance. kind's own images do not have it, and only they have a digest.
func (m machine) cgroup(info containers.Info) []Finding {
	const boot = "boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command line"
	if info.CgroupVersion != "1" {
		return nil
	}
	if info.Rootless {
		return Bad("it is rootless and has cgroup v1, with which kind makes no cluster", boot)
	}
	image := m.setting("kind:node_image")
	minor := 0
	if match := nodeVersion.FindStringSubmatch(image); match != nil {
		minor, _ = strconv.Atoi(match[1])
	}
	switch {
	case minor < firstWithoutCgroup1:
		return Doubtful("it has cgroup v1, which Kubernetes from 1.35 on refuses", boot)
	case strings.HasPrefix(strings.TrimPrefix(image, "docker.io/"), "kindest/node:") &&
		strings.Contains(image, "@sha256:"):
		return Bad(fmt.Sprintf("it has cgroup v1, with which Kubernetes 1.%d does not start", minor),
			boot+", or choose a node image older than 1.35 (kind:node_image)")
	}
	return Doubtful(fmt.Sprintf("it has cgroup v1, with which Kubernetes 1.%d starts only if "+
		"the node image sets failCgroupV1: false for the kubelet", minor), boot)
}

// capSysResource is the number of a Linux capability. The syscall package of another
// system does not have it, and the daemon may run there.
const capSysResource = 24

// privileges checks whether the daemon can start privileged containers, as nodes
// are. Some runtimes have no daemon.
func (m machine) privileges(runtime string) []Finding {
	daemon := map[string]string{"docker": "dockerd", "nerdctl": "containerd"}[runtime]
	set, ok := m.capabilities(daemon)
	if !ok || set&(1<<capSysResource) != 0 {
		return nil
	}
	return Doubtful(daemon+" lacks the capability CAP_SYS_RESOURCE, as in some sandboxes; "+
		"nodes, which are privileged containers, may not start",
		"run "+daemon+" with all capabilities (capsh --print shows them)")
}

// capabilitiesIn returns a function that reads the capabilities of a running program
// from Linux's /proc.
func capabilitiesIn(proc string) func(program string) (uint64, bool) {
	return func(program string) (uint64, bool) {
		names, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "comm")) // the pattern is right
		for _, name := range names {
			if comm, err := os.ReadFile(name); err != nil || strings.TrimSpace(string(comm)) != program {
				continue
			}
			status, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "status"))
			_, rest, _ := strings.Cut(string(status), "\nCapBnd:")
			line, _, _ := strings.Cut(rest, "\n")
			set, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
			return set, err == nil
		}
		return 0, false
	}
}

// Memory and disk: the minimum for a cluster, and what the whole environment wants.
const (
	leastMemory  = 2 << 30 // kubeadm refuses less than 1700 MB
	enoughMemory = 8 << 30
	leastDisk    = 4 << 30 // the node image alone unpacks to one, and must not fill the disk to 85 %
	enoughDisk   = 20 << 30
)

// kindResources checks memory and disk on the machine of the containers.
func (m machine) kindResources(ctx context.Context) []Finding {
	runtime, info, unseen := m.ask(ctx)
	if unseen != nil {
		return unseen
	}
	findings := m.memory(info)
	free, ok := m.free(info.Root)
	switch {
	case !ok:
		return append(findings, Good("its disk is not on this machine, and is not looked at")...)
	case free < leastDisk:
		return append(findings, Bad(fmt.Sprintf("only %s of disk are free in %s", size(free), info.Root),
			"free some: "+runtime.Name+" system prune")...)
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
		return Doubtful("how much memory it has is not known", "")
	case total < leastMemory:
		return Bad(fmt.Sprintf("it has %s of memory; a cluster needs %s", size(total), size(leastMemory)),
			"give it more: in Docker Desktop under Settings, Resources")
	case total < enoughMemory:
		return Doubtful(fmt.Sprintf("it has %s of memory; the whole environment wants %s", size(total), size(enoughMemory)),
			"give it more, or skip projects (--skip logstore,prometheus)")
	}
	return Good(size(total) + " of memory")
}

// kindLimits checks the limits that clusters exceed first.
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
			text := fmt.Sprintf("%s is %d; pods fail with \"too many open files\" when it is used up", limit.name, value)
			findings = append(findings, Doubtful(text, fmt.Sprintf("sudo sysctl %s=%d", limit.name, limit.least))...)
		}
	}
	if len(findings) > 0 {
		return findings
	}
	return Good("the inotify limits are high enough")
}

// kindSetting returns a function that looks up a key of kind's projects.
func kindSetting(file config.StackFile) func(string) string {
	return func(key string) string {
		if entry, ok := file.Lookup(key); ok && entry.Value != nil {
			return fmt.Sprint(entry.Value)
		}
		for _, project := range []model.Project{projects.KindCluster(), projects.KindRegistry()} {
			if declared, ok := project.Key(key); ok && declared.Default != nil {
				return fmt.Sprint(declared.Default)
			}
		}
		return ""
	}
}

// onThisMachine makes a check from a method of machine.
func onThisMachine(title string, look func(machine, context.Context) []Finding) func(Facts) Check {
	return func(f Facts) Check {
		m := thisMachine(f)
		return Check{Title: title, Group: Tools, Look: func(ctx context.Context) []Finding { return look(m, ctx) }}
	}
}

// thisMachine returns the access to the real machine.
func thisMachine(f Facts) machine {
	setting := kindSetting(f.Config)
	cluster, registry := projects.KindClusterName(f.Stack), projects.KindRegistryName(f.Stack)
	m := machine{
		runtime: func() (*containers.Runtime, error) { return containers.FindIn(f.Env, setting("kind:runtime")) },
		read:    os.ReadFile, free: disk.Free, listen: listen,
		holder: holderIn("/proc"), capabilities: capabilitiesIn("/proc"),
		setting: setting, dockerToo: f.dockerToo, cluster: cluster,
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
