package containers_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/testing/scripttest"
)

// answer is what a command says when it is called.
type answer struct {
	args, stdout, stderr string
}

// scripted runs commands by a script; one that is not in it fails the test, as
// does a line of it that is never reached.
func scripted(t *testing.T, answers ...answer) containers.Runner {
	t.Helper()
	t.Cleanup(func() {
		for _, left := range answers {
			t.Errorf("never called: %s", left.args)
		}
	})
	return func(_ context.Context, c containers.Command) error {
		line := strings.Join(c.Args, " ")
		if len(answers) == 0 || answers[0].args != line {
			t.Errorf("unexpected: %s", line)
			return errors.New("unexpected")
		}
		next := answers[0]
		answers = answers[1:]
		if next.stderr != "" {
			return &containers.ExitError{Command: c.Name + " " + c.Args[0], Code: 1, Stderr: next.stderr}
		}
		_, err := io.WriteString(c.Stdout, next.stdout)
		return err
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		asked   string
		there   []string
		want    string
		problem string
	}{
		{name: "the first", there: []string{"podman", "docker"}, want: "docker"},
		{name: "the only one", there: []string{"podman"}, want: "podman"},
		{name: "asked for", asked: "podman", there: []string{"podman", "docker"}, want: "podman"},
		{name: "not there", asked: "podman", there: []string{"docker"}, problem: "no podman on the PATH"},
		{name: "none", problem: "install one of docker, nerdctl, podman"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			look := func(name string) bool { return strings.Contains(strings.Join(test.there, " "), name) }
			found, err := containers.Find(test.asked, look, scripted(t))
			switch {
			case test.problem != "":
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("error %v, want one that says %q", err, test.problem)
				}
			case err != nil || found.Name != test.want:
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	const one = `[{"Id": "1", "Name": "/a", "State": {"Running": true}, "Config": {"Image": "i", "Labels": {"l": "v"}},
		"Mounts": [{"Destination": "/kind/owner/x/y"}],
		"HostConfig": {"PortBindings": {"80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}]}},
		"NetworkSettings": {"Networks": {"kind": {}}}}]`
	r := containers.New("docker", scripted(t,
		answer{args: "ps --all --format {{.Names}} --filter label=l=v", stdout: "b\na\n"},
		answer{args: "container inspect a b", stderr: "Error: No such container: b"},
		answer{args: "container inspect a", stdout: one},
		answer{args: "container inspect b", stderr: "Error response from daemon: No such container: b"},
	))
	got, err := r.List(t.Context(), "l=v")
	if err != nil {
		t.Fatal(err)
	}
	want := []containers.Container{{
		ID: "1", Name: "a", Image: "i", State: containers.Running, Labels: map[string]string{"l": "v"}, Mounts: []string{"/kind/owner/x/y"},
		Networks: []string{"kind"}, Ports: []containers.Port{{Address: "127.0.0.1", Host: 8080, Container: "80/tcp"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	r := containers.New("podman", scripted(t, answer{
		args: "run --detach --name n --restart always --network kind --label a=1 --label b=2 --volume v:/data " +
			"--publish 127.0.0.1:5001:5000/tcp --publish [::1]:5001:5000/tcp --publish 5002:5000/tcp i:1",
		stdout: "id\n",
	}))
	id, err := r.Create(t.Context(), containers.Spec{
		Name: "n", Image: "i:1", Network: "kind", Labels: map[string]string{"b": "2", "a": "1"},
		Volumes: map[string]string{"v": "/data"}, Restart: "always",
		Publish: []containers.Port{
			{Address: "127.0.0.1", Host: 5001, Container: "5000/tcp"}, {Address: "::1", Host: 5001, Container: "5000/tcp"},
			{Host: 5002, Container: "5000/tcp"},
		},
	})
	if err != nil || id != "id" {
		t.Errorf("id %q, %v", id, err)
	}
}

// TestResume starts what is stopped and unpauses what is paused, which docker
// and podman describe in different ways.
func TestResume(t *testing.T) {
	t.Parallel()
	r := containers.New("docker", scripted(t,
		answer{args: "ps --all --format {{.Names}}", stdout: "a b c d"},
		answer{args: "container inspect a b c d", stdout: `[
			{"Name": "a", "State": {"Running": false, "Paused": false}}, {"Name": "b", "State": {"Running": true, "Paused": false}},
			{"Name": "c", "State": {"Running": true, "Paused": true}}, {"Name": "d", "State": {"Running": false, "Paused": true}}]`},
		answer{args: "start a"}, answer{args: "unpause c"}, answer{args: "unpause d"},
	))
	all, err := r.List(t.Context(), "")
	if err == nil {
		err = r.Resume(t.Context(), all...)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestSlowToEnd: docker gives up after ten seconds on a container that it has
// killed, and can remove it a moment later.
func TestSlowToEnd(t *testing.T) {
	t.Parallel()
	slow := answer{args: "rm --force --volumes a", stderr: "Error response from daemon: Could not kill running container f99a, cannot remove - " +
		"tried to kill container, but did not receive an exit event"}
	r := containers.New("docker", scripted(t, slow, slow, answer{args: "rm --force --volumes a"}, answer{args: "rm --force --volumes b"}))
	if err := r.Remove(t.Context(), "a", "b"); err != nil {
		t.Error(err)
	}
	r = containers.New("docker", scripted(t, slices.Repeat([]answer{slow}, 12)...))
	if err := r.Remove(t.Context(), "a", "b"); err == nil || !strings.Contains(err.Error(), "Could not kill running container") {
		t.Errorf("one that never ends: %v", err)
	}
}

func TestGoneIsNoError(t *testing.T) {
	t.Parallel()
	r := containers.New("docker", scripted(t,
		answer{args: "rm --force --volumes a", stderr: "Error: No such container: a"},
		answer{args: "volume rm v", stderr: "Error: No such volume: v"},
		answer{args: "network rm n", stderr: "Error response from daemon: network n not found"},
		answer{args: "network inspect n", stderr: "Error: No such network: n"},
		answer{args: "image inspect --format {{.Id}} i", stderr: "Error: No such image: i"},
	))
	ctx := t.Context()
	if err := errors.Join(r.Remove(ctx, "a"), r.RemoveVolume(ctx, "v"), r.RemoveNetwork(ctx, "n")); err != nil {
		t.Error(err)
	}
	if _, found, err := r.FindNetwork(ctx, "n"); found || err != nil {
		t.Errorf("network %t, %v", found, err)
	}
	if found, err := r.HasImage(ctx, "i"); found || err != nil {
		t.Errorf("image %t, %v", found, err)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		runtime, answer string
		want            containers.Info
	}{
		{
			"docker",
			`{"ServerVersion": "28.2.2", "CgroupVersion": "2", "MemTotal": 16000000000, "NCPU": 8, "DockerRootDir": "/var/lib/docker",
				"SecurityOptions": ["name=seccomp,profile=builtin", "name=rootless"]}`,
			containers.Info{Version: "28.2.2", CgroupVersion: "2", Memory: 16e9, Root: "/var/lib/docker", Rootless: true},
		},
		{
			"podman",
			`{"host": {"cgroupVersion": "v2", "memTotal": 8000000000, "cpus": 4, "security": {"rootless": false}},
				"store": {"graphRoot": "/var/lib/containers/storage"}, "version": {"Version": "5.4.0"}}`,
			containers.Info{Version: "5.4.0", CgroupVersion: "2", Memory: 8e9, Root: "/var/lib/containers/storage"},
		},
	}
	for _, test := range tests {
		t.Run(test.runtime, func(t *testing.T) {
			t.Parallel()
			r := containers.New(test.runtime, scripted(t, answer{args: "info --format {{json .}}", stdout: test.answer}))
			got, err := r.Info(t.Context())
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestErrors reads what runtimes say when something is wrong. The first three
// were seen, of docker 20.10 and 28.
func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stderr, want, port string
		unreachable, forbidden   bool
	}{
		{
			name: "no permission", forbidden: true,
			stderr: "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: dial unix: connect: permission denied\n",
			want: "docker run: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: " +
				"dial unix: connect: permission denied",
		},
		{
			name: "no daemon", unreachable: true,
			stderr: "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
			want:   "docker run: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
		},
		{
			name: "a container's port", port: "5001",
			stderr: "docker: Error response from daemon: driver failed programming external connectivity on endpoint x (0123): " +
				"Bind for 127.0.0.1:5001 failed: port is already allocated\n\nRun 'docker run --help' for more information\n",
			want: "docker run: driver failed programming external connectivity on endpoint x (0123): " +
				"Bind for 127.0.0.1:5001 failed: port is already allocated",
		},
		{
			name: "a program's port", port: "80",
			stderr: "docker: Error response from daemon: driver failed programming external connectivity on endpoint x (0123): " +
				"Error starting userland proxy: listen tcp4 127.0.0.1:80: bind: address already in use.\n",
			want: "docker run: driver failed programming external connectivity on endpoint x (0123): " +
				"Error starting userland proxy: listen tcp4 127.0.0.1:80: bind: address already in use.",
		},
		{name: "podman's port", port: "443", stderr: "Error: rootlessport listen tcp 0.0.0.0:443: bind: address already in use\n",
			want: "docker run: rootlessport listen tcp 0.0.0.0:443: bind: address already in use"},
		{name: "Docker Desktop's port", port: "80",
			stderr: "docker: Error response from daemon: Ports are not available: exposing port TCP 127.0.0.1:80 -> 127.0.0.1:0: in use\n",
			want:   "docker run: Ports are not available: exposing port TCP 127.0.0.1:80 -> 127.0.0.1:0: in use"},
		{name: "a newer docker's port", port: "80",
			stderr: "docker: Error response from daemon: failed to bind host port 127.0.0.1:80/tcp: address already in use\n",
			want:   "docker run: failed to bind host port 127.0.0.1:80/tcp: address already in use"},
		{name: "nothing", want: "docker run: exit code 125"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := &containers.ExitError{Command: "docker run", Code: 125, Stderr: test.stderr}
			if err.Error() != test.want {
				t.Errorf("it says %q, want %q", err, test.want)
			}
			if got := containers.PortTaken(err); got != test.port {
				t.Errorf("the port is %q, want %q", got, test.port)
			}
			if got := containers.Unreachable(err); got != test.unreachable {
				t.Errorf("unreachable: %t", got)
			}
			if got := containers.Forbidden(err); got != test.forbidden {
				t.Errorf("forbidden: %t", got)
			}
		})
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := containers.Run(t.Context(), containers.Command{Name: "cat", Stdin: strings.NewReader("x"), Stdout: &out})
	if err != nil || out.String() != "x" {
		t.Errorf("%q, %v", out.String(), err)
	}
	var exit *containers.ExitError
	err = containers.Run(t.Context(), containers.Command{Name: "sh", Args: []string{"-c", "echo wrong >&2; exit 3"}})
	if !errors.As(err, &exit) || exit.Code != 3 || exit.Error() != "sh -c: wrong" {
		t.Errorf("error %v", err)
	}
	if err := containers.Run(t.Context(), containers.Command{Name: "/no/such/program"}); err == nil || errors.As(err, &exit) && exit.Code == 0 {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stop")
	cancel(cause)
	if err := containers.Run(ctx, containers.Command{Name: "cat"}); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause of the cancellation", err)
	}
}

func TestClashes(t *testing.T) {
	t.Parallel()
	port := func(address string, host int) containers.Port { return containers.Port{Address: address, Host: host} }
	tests := []struct {
		name string
		a, b containers.Port
		want bool
	}{
		{"the same", port("127.0.0.1", 80), port("127.0.0.1", 80), true},
		{"another port", port("127.0.0.1", 80), port("127.0.0.1", 81), false},
		{"another address", port("127.0.0.1", 80), port("127.0.0.2", 80), false},
		{"everywhere", port("127.0.0.1", 80), port("0.0.0.0", 80), true},
		{"everywhere, too", port("", 80), port("127.0.0.1", 80), true},
		{"any port", port("", 0), port("", 0), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.a.Clashes(test.b); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scripttest.Write(t, filepath.Join(dir, "docker"), "echo $DOCKER_HOST")
	var out strings.Builder
	in := containers.In(map[string]string{"PATH": dir, "DOCKER_HOST": "there"})
	if err := in(t.Context(), containers.Command{Name: "docker", Stdout: &out}); err != nil || out.String() != "there\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := in(t.Context(), containers.Command{Name: "podman"}); err == nil || err.Error() != "there is no podman on the PATH" {
		t.Errorf("error %v", err)
	}
}
