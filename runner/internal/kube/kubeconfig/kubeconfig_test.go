package kubeconfig

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const cluster = `apiVersion: v1
kind: Config
current-context: kind-x
clusters:
- name: kind-x
  cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: Y2E=}
users:
- name: admin
  user: {token: secret-token}
contexts:
- name: kind-x
  context: {cluster: kind-x, user: admin, namespace: apps}
`

const others = `apiVersion: v1
kind: Config
current-context: work
clusters:
- name: work
  cluster: {server: "https://work.example"}
users:
- name: work
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: login, interactiveMode: Never, args: [a, b]}}
contexts:
- name: work
  context: {cluster: work, user: work}
`

const name = "mara-kind-dev"

func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, file string) *api.Config {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func mode(t *testing.T, file string) os.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestMergeCreatesTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kube", "config")
	written, err := Entries{Files: []string{file}, Name: name}.Merge(t.Context(), []byte(cluster))
	if err != nil {
		t.Fatal(err)
	}
	config := read(t, file)
	if written.File != file || written.Current != name || config.CurrentContext != name || mode(t, file) != 0o600 {
		t.Errorf("wrote %+v (mode %v), current context %q", written, mode(t, file), config.CurrentContext)
	}
	context := config.Contexts[name]
	if context == nil || context.Cluster != name || context.AuthInfo != name || context.Namespace != "apps" {
		t.Errorf("context = %+v", context)
	}
	if config.AuthInfos[name].Token != "secret-token" || config.Clusters[name].Server != "https://127.0.0.1:6443" {
		t.Errorf("entries are not the cluster's: %+v", config)
	}
}

func TestMergeThenRemoveLeavesOthersAsTheyWere(t *testing.T) {
	t.Parallel()
	file := write(t, others)
	before := read(t, file)
	for range 2 { // merging twice is merging once
		if _, err := (Entries{Files: []string{file}, Name: name}).Merge(t.Context(), []byte(cluster)); err != nil {
			t.Fatal(err)
		}
	}
	merged := read(t, file)
	if len(merged.Contexts) != 2 || len(merged.Clusters) != 2 || len(merged.AuthInfos) != 2 {
		t.Errorf("after merging: %d contexts, %d clusters, %d users; want 2 each", len(merged.Contexts), len(merged.Clusters), len(merged.AuthInfos))
	}
	changed, err := Entries{Files: []string{file}, Name: name}.Remove(t.Context())
	if err != nil || len(changed) != 1 {
		t.Fatalf("Remove = %v, %v", changed, err)
	}
	if diff := cmp.Diff(before, read(t, file)); diff != "" {
		t.Errorf("other entries changed:\n%s", diff)
	}
	if mode(t, file) != 0o600 {
		t.Errorf("mode = %v, want 0600", mode(t, file))
	}
}

// TestUseContext: another context stays the current one unless the user wants it otherwise, and comes back afterwards.
func TestUseContext(t *testing.T) {
	t.Parallel()
	for use, want := range map[bool]string{false: "work", true: name} {
		file := write(t, others)
		e := Entries{Files: []string{file}, Name: name, UseContext: use}
		for range 2 {
			done, err := e.Merge(t.Context(), []byte(cluster))
			if err != nil || done.Current != want || read(t, file).CurrentContext != want {
				t.Errorf("use %t: %+v, %v; in the file %s", use, done, err, read(t, file).CurrentContext)
			}
			if _, ok := e.Current(); !ok {
				t.Errorf("use %t: it is not in place", use)
			}
		}
		if _, err := e.Remove(t.Context()); err != nil || read(t, file).CurrentContext != "work" {
			t.Errorf("use %t: afterwards %s is current, %v", use, read(t, file).CurrentContext, err)
		}
	}
}

// TestOwner: entries of another root stay as they are, unless that root is gone or they lead to the same cluster.
func TestOwner(t *testing.T) {
	t.Parallel()
	file, one, two := write(t, others), t.TempDir(), filepath.Join(t.TempDir(), "shop")
	if err := os.Mkdir(two, 0o755); err != nil {
		t.Fatal(err)
	}
	first := Entries{Files: []string{file}, Name: name, Root: one}
	second := Entries{Files: []string{file}, Name: name, Root: two}
	another := strings.ReplaceAll(cluster, "6443", "7443")
	if _, err := first.Merge(t.Context(), []byte(cluster)); err != nil {
		t.Fatal(err)
	}
	if removed, err := second.Remove(t.Context()); err != nil || len(removed) > 0 || read(t, file).Contexts[name] == nil {
		t.Errorf("a destroy elsewhere removes %v (%v)", removed, err)
	}
	if _, ok := second.Current(); ok {
		t.Error("another root takes the entries for its own")
	}
	done, err := second.Merge(t.Context(), []byte(another))
	config := read(t, file)
	if err != nil || done.Context != name+"-shop" || config.Clusters[name].Server != "https://127.0.0.1:6443" ||
		config.Clusters[name+"-shop"].Server != "https://127.0.0.1:7443" {
		t.Errorf("%+v, %v: %+v", done, err, config.Clusters)
	}
	if _, ok := second.Current(); !ok {
		t.Error("its own entries are not found")
	}
	if removed, err := second.Remove(t.Context()); err != nil || len(removed) != 1 || read(t, file).Contexts[name] == nil {
		t.Errorf("its own entries: %v, %v", removed, err)
	}
	if done, err := second.Merge(t.Context(), []byte(cluster)); err != nil || done.Context != name {
		t.Errorf("entries of the same cluster: %+v, %v", done, err)
	}
	if err := os.Remove(two); err != nil {
		t.Fatal(err)
	}
	if done, err := first.Merge(t.Context(), []byte(another)); err != nil || done.Context != name {
		t.Errorf("entries of a root that is gone: %+v, %v", done, err)
	}
}

func TestRemoveKeepsAnotherCurrentContext(t *testing.T) {
	t.Parallel()
	file := write(t, others)
	changed, err := Entries{Files: []string{file, filepath.Join(t.TempDir(), "none")}, Name: name}.Remove(t.Context())
	if err != nil || len(changed) != 0 {
		t.Fatalf("Remove = %v, %v; want nothing changed", changed, err)
	}
	if current := read(t, file).CurrentContext; current != "work" {
		t.Errorf("current context = %q, want work", current)
	}
}

func TestMergeHonoursTheList(t *testing.T) {
	t.Parallel()
	missing, first := filepath.Join(t.TempDir(), "missing"), write(t, others)
	owner := write(t, strings.ReplaceAll(cluster, "kind-x", name))
	for _, test := range []struct {
		name  string
		files []string
		want  string
	}{
		{"the file that has the entry", []string{missing, first, owner}, owner},
		{"the first that exists", []string{missing, first}, first},
		{"the last when none exists", []string{missing, missing + "2"}, missing + "2"},
	} {
		if got, err := (Entries{Files: test.files, Name: name}).Merge(t.Context(), []byte(cluster)); err != nil || got.File != test.want {
			t.Errorf("%s: wrote %+v, %v; want %s", test.name, got, err, test.want)
		}
	}
}

func TestMergeFollowsALink(t *testing.T) {
	t.Parallel()
	target := write(t, others)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if _, err := (Entries{Files: []string{link}, Name: name}).Merge(t.Context(), []byte(cluster)); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if read(t, target).Contexts[name] == nil {
		t.Error("the link's target was not written")
	}
}

func TestBrokenFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	file := write(t, "clusters: {token: very-secret")
	_, err := Entries{Files: []string{file}, Name: name}.Merge(t.Context(), []byte(cluster))
	if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("error = %v; want one that names the file and quotes nothing", err)
	}
	if content, _ := os.ReadFile(file); string(content) != "clusters: {token: very-secret" {
		t.Errorf("the file was changed to %q", content)
	}
	for _, broken := range []string{"{", "apiVersion: v1\nkind: Config\n", strings.ReplaceAll(cluster, "cluster: kind-x,", "cluster: gone,")} {
		if _, err := (Entries{Files: []string{filepath.Join(t.TempDir(), "new")}, Name: name}).Merge(t.Context(), []byte(broken)); err == nil {
			t.Errorf("merging %q succeeded", broken)
		}
	}
}

// TestLockIsWaitedFor: a lock of kubectl, which creates the file without permission to write, and one that a run has.
func TestLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	for holder, take := range map[string]func(path string) (release func(), err error){
		"kubectl": func(path string) (func(), error) {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0)
			if err != nil {
				return nil, err
			}
			return func() { os.Remove(path) }, f.Close()
		},
		"a run": func(path string) (func(), error) { return lock(t.Context(), path) },
	} {
		t.Run(holder, func(t *testing.T) {
			t.Parallel()
			file := write(t, others)
			release, err := take(file + ".lock")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := lock(ctx, file+".lock"); err == nil || !strings.Contains(err.Error(), "remove it if none is running") {
				t.Fatalf("beside a lock that is held: %v", err)
			}
			time.AfterFunc(50*time.Millisecond, release)
			if _, err := (Entries{Files: []string{file}, Name: name}).Merge(t.Context(), []byte(cluster)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(file + ".lock"); !os.IsNotExist(err) {
				t.Errorf("the lock is left behind: %v", err)
			}
		})
	}
}

// TestLockOfADeadRun: the lock file of a run that was killed stops no other run.
func TestLockOfADeadRun(t *testing.T) {
	t.Parallel()
	file := write(t, others)
	if os.Getenv(diesWith) != "" {
		if _, err := lock(t.Context(), os.Getenv(diesWith)); err != nil {
			t.Fatal(err)
		}
		os.Exit(0)
	}
	dead := exec.Command(os.Args[0], "-test.run=^TestLockOfADeadRun$")
	dead.Env = append(os.Environ(), diesWith+"="+file+".lock")
	if text, err := dead.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if _, err := os.Stat(file + ".lock"); err != nil {
		t.Fatalf("the dead run has left no lock: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := (Entries{Files: []string{file}, Name: name}).Merge(ctx, []byte(cluster)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file + ".lock"); !os.IsNotExist(err) {
		t.Errorf("the lock is left behind: %v", err)
	}
}

// diesWith is the variable with the lock that this program takes and dies with.
const diesWith = "KUBECONFIG_TEST_DIES_WITH"

func TestFiles(t *testing.T) {
	t.Parallel()
	separator := string(os.PathListSeparator)
	if diff := cmp.Diff([]string{"/a", "/b"}, Files("/a"+separator+separator+"/b", "/home/u")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/home/u/.kube/config"}, Files("", "/home/u")); diff != "" {
		t.Error(diff)
	}
}

// TestBrokenKubeconfig says where a kubeconfig is wrong, and quotes nothing of it.
func TestBrokenKubeconfig(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"apiVersion: v1\nusers:\n- name: x\n  user: {token: hunter2-hunter2\n": "is not valid, since line 3 is not valid YAML; repair or move it, then run again",
		"apiVersion: v1\nusers: hunter2-hunter2\n":                             "is not valid, since a value is not of the type that a kubeconfig has there; repair or move it, then run again",
	} {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := load(file)
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
