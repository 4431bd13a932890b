package kindtest

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/feature/kind/containers"
)

// Docker returns the real docker of this machine. It skips the test if no daemon
// answers; under e2e-real.sh, which has checked the daemon, it fails the test.
func Docker(t *testing.T) *containers.Runtime {
	t.Helper()
	missing, patience := t.Skipf, 10*time.Second
	if os.Getenv("E2E_NODE_IMAGE") != "" {
		missing, patience = t.Fatalf, 2*time.Minute
	}
	if !containers.OnPath("docker") {
		missing("there is no docker on this machine")
	}
	docker := containers.New("docker", containers.Run)
	limit, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := docker.Info(limit); err != nil {
		missing("no docker daemon answers: %v", err)
	}
	return docker
}

// Image makes an image from files and static programs, without pulling any. It
// is removed when the test ends.
func Image(t *testing.T, name string, command []string, files map[string]File) {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for path, file := range files {
		header := &tar.Header{
			Name: path, Mode: 0o755, Size: int64(len(file.Content)), Linkname: file.Link, Typeflag: tar.TypeReg,
		}
		if file.Link != "" {
			header.Typeflag = tar.TypeSymlink
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(file.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	quoted := `["` + strings.Join(command, `","`) + `"]`
	cmd := exec.CommandContext(t.Context(), "docker", "import",
		"--change", "ENTRYPOINT "+quoted, "--change", "ENV PATH=/bin", "-", name)
	cmd.Stdin = &archive
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("making the image %s: %v\n%s", name, err, output)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", "--force", name).Run() })
}

// File is a file of an image.
type File struct {
	Content []byte
	Link    string // where it leads, for a link
}

// Program compiles a static program for an image.
func Program(t *testing.T, dir string) File {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v\n%s", dir, err, output)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return File{Content: content}
}

// NodeImage makes an image that kind takes for one of its own.
func NodeImage(t *testing.T, name, program string, slow bool) {
	t.Helper()
	files := map[string]File{
		"bin/init":                            Program(t, program),
		"kind/version":                        {Content: []byte("v1.36.4\n")},
		"kind/manifests/default-cni.yaml":     {Content: []byte("{}\n")},
		"kind/manifests/default-storage.yaml": {Content: []byte("{}\n")},
	}
	for _, link := range []string{"mkdir", "cp", "cat", "rm", "kubeadm", "kubectl", "containerd", "ctr"} {
		files["bin/"+link] = File{Link: "init"}
	}
	if slow {
		files["kind/slow"] = File{}
	}
	Image(t, name, []string{"/bin/init"}, files)
}

// DockerTraces lists the containers, networks and volumes in docker now, except kind's
// network, which is removed with the last cluster and may have existed before the
// test.
func DockerTraces(t *testing.T, docker *containers.Runtime) []string {
	t.Helper()
	all, err := docker.List(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	var traces []string
	for _, c := range all {
		traces = append(traces, "container "+c.Name)
	}
	for _, kind := range []string{"network", "volume"} {
		output, err := exec.Command("docker", kind, "ls", "--format", "{{.Name}}").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(string(output)) {
			if kind == "network" && name == "kind" {
				continue
			}
			traces = append(traces, fmt.Sprint(kind, " ", name))
		}
	}
	return traces
}
