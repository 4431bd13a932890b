package preflight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"mara/runner/internal/feature/kind/containers"
)

// fakeMachine returns a machine without problems.
func fakeMachine(t *testing.T, info string, inspected ...string) machine {
	t.Helper()
	run := func(_ context.Context, c containers.Command) error {
		var answer string
		switch c.Args[0] {
		case "info":
			answer = info
		case "ps":
			answer = "c"
		case "container":
			answer = "[" + strings.Join(inspected, ",") + "]"
		default:
			t.Errorf("unexpected %v", c.Args)
		}
		if message, failed := strings.CutPrefix(answer, "error: "); failed {
			return &containers.ExitError{Command: "docker info", Code: 1, Stderr: message}
		}
		_, err := io.WriteString(c.Stdout, answer)
		return err
	}
	return machine{
		runtime: func() (*containers.Runtime, error) { return containers.New("docker", run), nil },
		read:    func(string) ([]byte, error) { return []byte("1048576\n"), nil },
		free:    func(string) (uint64, bool) { return 100 << 30, true },
		listen:  func(string, int) error { return nil },
		holder:  func(int) string { return "" },

		capabilities: func(string) (uint64, bool) { return 1<<41 - 1, true },
		setting:      kindSetting(stackFile(t, "")),
		own:          func(c containers.Container) bool { return c.Name == "mara-dev-control-plane" },
	}
}

const goodInfo = `{"ServerVersion": "28.2.2", "CgroupVersion": "2", "MemTotal": 17179869184, "DockerRootDir": "/var/lib/docker"}`

func TestKindRuntime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, info string
		want       []Finding
	}{
		{"it answers", goodInfo, Good("docker 28.2.2 answers")},
		{
			"no daemon", "error: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
			Bad("the daemon of docker does not answer: docker info: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
				"start it: sudo systemctl start docker, or Docker Desktop"),
		},
		{
			"no permission", "error: permission denied while trying to connect",
			Bad("you may not use docker: docker info: permission denied while trying to connect",
				"add yourself to its group (sudo usermod -aG docker $USER), and log in again"),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := fakeMachine(t, test.info)
			if diff := cmp.Diff(test.want, m.kindRuntime(t.Context())); diff != "" {
				t.Error(diff)
			}
		})
	}
	m := fakeMachine(t, "error: Cannot connect to the Docker daemon")
	m.dockerToo = true
	if got := worst(m.kindRuntime(t.Context())); got != Skipped {
		t.Errorf("a problem that Docker's own check reports is reported again, as a %s", got)
	}
	m = fakeMachine(t, goodInfo)
	m.runtime = func() (*containers.Runtime, error) { return nil, errors.New("there is none") }
	want := Bad("there is none", "Docker: https://docs.docker.com/engine/install")
	if diff := cmp.Diff(want, m.kindRuntime(t.Context())); diff != "" {
		t.Error(diff)
	}
	if got := worst(m.kindResources(t.Context())); got != Skipped {
		t.Errorf("resources of nothing are %s", got)
	}
}

func TestKindNodes(t *testing.T) {
	t.Parallel()
	const (
		boot = "boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command line"
		good = "ok: cgroups and privileges are as nodes need them"
		all  = 1<<41 - 1
	)
	cgroup1 := strings.Replace(goodInfo, `"2"`, `"1"`, 1)
	rootless := strings.Replace(cgroup1, "{", `{"SecurityOptions": ["name=rootless"], `, 1)
	image := func(name string) string { return "config:\n  kind:node_image: " + name + "\n" }
	tests := []struct {
		name, info, config string
		capabilities       uint64
		want, remedy       string
	}{
		{"all is well", goodInfo, "", all, good, ""},
		{"kind's image on cgroup v1", cgroup1, "", all, "problem: it has cgroup v1, with which Kubernetes 1.36 does not start",
			boot + ", or choose a node image older than 1.35 (kind:node_image)"},
		{"an older one", cgroup1, image("kindest/node:v1.34.11@sha256:0"), all, "warning: it has cgroup v1, which Kubernetes from 1.35 on refuses", boot},
		{"one of the user's own", cgroup1, image("registry.example/node:v1.36.3"), all,
			"warning: it has cgroup v1, with which Kubernetes 1.36 starts only if the node image sets failCgroupV1: false for the kubelet", boot},
		{"one that was built on this machine", cgroup1, image("kindest/node:v1.36.3"), all,
			"warning: it has cgroup v1, with which Kubernetes 1.36 starts only if the node image sets failCgroupV1: false for the kubelet", boot},
		{"without a version", cgroup1, image("node:latest"), all, "warning: it has cgroup v1, which Kubernetes from 1.35 on refuses", boot},
		{"rootless", rootless, image("node:latest"), all, "problem: it is rootless and has cgroup v1, with which kind makes no cluster", boot},
		{"a daemon in a sandbox", goodInfo, "", all &^ (1 << capSysResource),
			"warning: dockerd lacks the capability CAP_SYS_RESOURCE, as in some sandboxes; nodes, which are privileged containers, may not start",
			"run dockerd with all capabilities (capsh --print shows them)"},
		{"a daemon elsewhere", goodInfo, "", 0, good, ""},
		{"no daemon", "error: Cannot connect to the Docker daemon", "", all, "skipped: the container runtime does not answer", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := fakeMachine(t, test.info)
			m.setting = kindSetting(stackFile(t, test.config))
			m.capabilities = func(program string) (uint64, bool) {
				return test.capabilities, program == "dockerd" && test.capabilities > 0
			}
			got := m.kindNodes(t.Context())
			if brief(got) != test.want || got[0].Remedy != test.remedy {
				t.Errorf("got  %v\nwant %s (%s)", got, test.want, test.remedy)
			}
		})
	}
}

// TestTakenName finds a cluster of the environment's name that was made without mara.
func TestTakenName(t *testing.T) {
	t.Parallel()
	node := func(mounts string) string {
		return `{"Name": "/mara-kind-dev-control-plane", "Mounts": [` + mounts + `],
			"Config": {"Labels": {"io.x-k8s.kind.cluster": "mara-kind-dev", "io.x-k8s.kind.role": "control-plane"}}}`
	}
	m := fakeMachine(t, goodInfo, node(""))
	m.cluster = "mara-kind-dev"
	want := Bad("there is a cluster mara-kind-dev already, which was made without mara",
		"choose another stack (-s), or, if nothing in it is needed, delete it: "+
			"docker rm -f -v $(docker ps -aq -f label=io.x-k8s.kind.cluster=mara-kind-dev)")
	if diff := cmp.Diff(want, m.kindNodes(t.Context())); diff != "" {
		t.Error(diff)
	}
	m = fakeMachine(t, goodInfo, node(`{"Destination": "/kind/owner/owner/uid"}`))
	m.cluster = "mara-kind-dev"
	if got := brief(m.kindNodes(t.Context())); got != "ok: cgroups and privileges are as nodes need them" {
		t.Errorf("with a cluster that mara has made: %s", got)
	}
}

// TestCapabilities reads those of this process.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Skipf("this system has no /proc: %v", err)
	}
	if set, ok := capabilitiesIn("/proc")(strings.TrimSpace(string(name))); !ok {
		t.Errorf("capabilities %x, %t", set, ok)
	}
	if set, ok := capabilitiesIn("/proc")("no-such-program"); ok {
		t.Errorf("a program that does not run has the capabilities %x", set)
	}
}

func TestKindResources(t *testing.T) {
	t.Parallel()
	memory := func(bytes int64) string { return fmt.Sprintf(`{"MemTotal": %d, "DockerRootDir": "/d"}`, bytes) }
	tests := []struct {
		name string
		info string
		free uint64
		want string
	}{
		{"enough", memory(16 << 30), 100 << 30, "ok: 16 GB of memory; ok: 100 GB of disk are free"},
		{"little memory", memory(4 << 30), 100 << 30, "warning: it has 4.0 GB of memory; the whole environment wants 8.0 GB; ok: 100 GB of disk are free"},
		{"too little memory", memory(1 << 30), 100 << 30, "problem: it has 1.0 GB of memory; a cluster needs 2.0 GB; ok: 100 GB of disk are free"},
		{"memory is unknown", memory(0), 100 << 30, "warning: how much memory it has is not known; ok: 100 GB of disk are free"},
		{"little disk", memory(16 << 30), 10 << 30, "ok: 16 GB of memory; warning: only 10 GB of disk are free in /d"},
		{"too little disk", memory(16 << 30), 1 << 30, "ok: 16 GB of memory; problem: only 1.0 GB of disk are free in /d"},
		{"elsewhere", memory(16 << 30), 0, "ok: 16 GB of memory; ok: its disk is not on this machine, and is not looked at"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := fakeMachine(t, test.info)
			m.free = func(path string) (uint64, bool) { return test.free, path == "/d" && test.free > 0 }
			if got := brief(m.kindResources(t.Context())); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// brief joins findings without their remedies.
func brief(findings []Finding) string {
	var texts []string
	for _, f := range findings {
		texts = append(texts, string(f.Status)+": "+f.Text)
	}
	return strings.Join(texts, "; ")
}

func TestKindLimits(t *testing.T) {
	t.Parallel()
	m := fakeMachine(t, goodInfo)
	if got := brief(m.kindLimits(t.Context())); got != "ok: the inotify limits are high enough" {
		t.Error(got)
	}
	m.read = func(path string) ([]byte, error) {
		return map[string][]byte{
			"/proc/sys/fs/inotify/max_user_instances": []byte("128\n"), "/proc/sys/fs/inotify/max_user_watches": []byte("524288\n"),
		}[path], nil
	}
	want := Doubtful(`fs.inotify.max_user_instances is 128; pods fail with "too many open files" when it is used up`,
		"sudo sysctl fs.inotify.max_user_instances=512")
	if diff := cmp.Diff(want, m.kindLimits(t.Context())); diff != "" {
		t.Error(diff)
	}
	m.read = func(string) ([]byte, error) { return nil, os.ErrNotExist }
	if got := worst(m.kindLimits(t.Context())); got != Skipped {
		t.Errorf("where there are no such limits it is %s", got)
	}
}

func TestKindPorts(t *testing.T) {
	t.Parallel()
	container := func(name string, running bool) string {
		return fmt.Sprintf(`{"Name": "/%s", "State": {"Running": %t}, "HostConfig": {"PortBindings": {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "80"}]}}}`,
			name, running)
	}
	const free = "ok: 80, 443, 5001 are free, or this environment's own"
	tests := []struct {
		name      string
		container string
		config    string
		listen    error
		holder    string
		want      string
	}{
		{"free", container("other", false), "", nil, "", free},
		{"this environment's", container("mara-dev-control-plane", true), "", nil, "", free},
		{"another container's", container("other", true), "", nil, "", "problem: port 80 is held by the container other"},
		{"another port is wanted", container("other", true), "config:\n  kind:http_port: 8080\n", nil, "", "ok: 8080, 443, 5001 are free, or this environment's own"},
		{"a program's", container("other", false), "config:\n  kind:registry_port: 5002\n", unix.EADDRINUSE, "nginx (process 7)",
			"problem: port 80 is held by nginx (process 7); problem: port 443 is held by nginx (process 7); problem: port 5002 is held by nginx (process 7)"},
		{"of a daemon that was killed", container("other", false), "config:\n  kind:http_port: 0\n  kind:registry_port: 0\n", unix.EADDRINUSE, "docker-proxy (process 7)",
			"problem: port 443 is held by docker-proxy (process 7), although no container runs that publishes it"},
		{"of another program", container("other", false), "config:\n  kind:http_port: 0\n  kind:registry_port: 0\n", unix.EADDRINUSE, "",
			"problem: port 443 is held by another program"},
		{"only root may listen", container("other", false), "", unix.EACCES, "", free},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := fakeMachine(t, goodInfo, test.container)
			m.setting = kindSetting(stackFile(t, test.config))
			m.listen = func(string, int) error { return test.listen }
			m.holder = func(int) string { return test.holder }
			if got := brief(m.kindPorts(t.Context())); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestListenAndHolder asks the system itself about a port of this process.
func TestListenAndHolder(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listen("127.0.0.1", port); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("listening on a port that is taken: %v", err)
	}
	if _, err := os.Stat("/proc/net/tcp"); err == nil {
		if got := holderIn("/proc")(port); !strings.HasSuffix(got, fmt.Sprintf("(process %d)", os.Getpid())) {
			t.Errorf("it is held by %q", got)
		}
	}
	_ = listener.Close()
	if err := listen("127.0.0.1", 0); err != nil { // which takes one that is free
		t.Errorf("listening on a free port: %v", err)
	}
	if got := holderIn(filepath.Join(t.TempDir(), "nothing"))(port); got != "" {
		t.Errorf("without /proc it is held by %q", got)
	}
}

// TestThisMachine: names identify what belongs to the environment.
func TestThisMachine(t *testing.T) {
	t.Parallel()
	m := thisMachine(Facts{Stack: "dev", Env: map[string]string{"PATH": t.TempDir()}, Config: stackFile(t, "config:\n  kind:runtime: podman\n")})
	for name, want := range map[string]bool{"mara-dev-registry": true, "mara-other-registry": false} {
		if got := m.own(containers.Container{Name: name}); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !m.own(containers.Container{Name: "x", Labels: map[string]string{"io.x-k8s.kind.cluster": "mara-dev"}}) {
		t.Error("a node of the environment is not its own")
	}
	if _, err := m.runtime(); err == nil || !strings.Contains(err.Error(), "no podman") {
		t.Errorf("the runtime that is not there: %v", err)
	}
}
