package config

import (
	"errors"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackendDirs: an address means the same wherever Pulumi runs, and the
// directory is the one that Pulumi opens.
func TestBackendDirs(t *testing.T) {
	t.Parallel()
	current, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	home := current.HomeDir
	for _, test := range []struct{ name, address, want, directory string }{
		{"absolute", "file:///var/state", "file:///var/state", "/var/state"},
		{"home", "file://~", "file://" + home, home},
		{"below home", "file://~/state", "file://" + home + "/state", home + "/state"},
		{"a name that begins with the sign of home", "file://~state", "file:///root/~state", "/root/~state"},
		{"relative", "file://./state", "file:///root/state", "/root/state"},
		{"relative without a dot", "file://state/x", "file:///root/state/x", "/root/state/x"},
		{"here", "file://.", "file:///root", "/root"},
		{"nothing", "file://", "file:///root", "/root"},
		{"with a query", "file://./state?no_tmp_dir=true", "file:///root/state?no_tmp_dir=true", "/root/state"},
		{"escaped", "file:///a%20b/c%25", "file:///a%20b/c%25", "/a b/c%"},
		{"a space", "file:///a b", "file:///a%20b", "/a b"},
		{"another backend", "s3://~/x?y=./z", "s3://~/x?y=./z", ""},
		{"the cloud", "https://api.pulumi.com", "https://api.pulumi.com", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			login := newRoot(t, map[string]string{"credentials.json": `{"current": "` + test.address + `"}`})
			for _, process := range [][]string{{"PULUMI_BACKEND_URL=" + test.address}, {"PULUMI_HOME=" + login}} {
				r := Request{Root: filepath.FromSlash("/root"), Sources: Sources{Process: process}}
				backend, err := resolveBackend(r, r.Sources.File.Merge(r.Sources.Process))
				if err != nil || backend.Text != test.want {
					t.Errorf("%v: got %q, %v", process, backend.Text, err)
				}
				directory, ok := Settings{Backend: backend.Value}.StateDir()
				if directory != test.directory || ok != (test.directory != "") {
					t.Errorf("%v: the directory is %q, %v", process, directory, ok)
				}
			}
		})
	}
}

// TestBackendBelowTheRoot: any name will do for the root's directory.
func TestBackendBelowTheRoot(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"/a b", "/100%", "/a%20b", "/c#", "/what?", "/[x]*", "/ü"} {
		for _, simulate := range []bool{false, true} {
			backend, err := resolveBackend(Request{Root: root, Simulate: simulate}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(strings.TrimSuffix(backend.Text, withoutSidecars), " #?") {
				t.Errorf("%s: the address is %q", root, backend.Text)
			}
			directory, ok := Settings{Backend: backend.Value}.StateDir()
			if !ok || filepath.Dir(filepath.Dir(strings.Replace(directory, "/simulated", "", 1))) != root {
				t.Errorf("%s: the directory is %q", root, directory)
			}
		}
	}
}

// TestBackendWithoutScheme: Pulumi would take it for a server to log in to.
func TestBackendWithoutScheme(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"nonsense", "./state", "s3:bucket"} {
		r := Request{Root: "/root", Sources: Sources{Process: []string{"PULUMI_BACKEND_URL=" + text}}}
		_, err := resolveBackend(r, nil)
		var problem *Error
		if !errors.As(err, &problem) || err.Error() != "PULUMI_BACKEND_URL in the process environment: is not the address of a backend" || !strings.Contains(problem.Next, "file:///directory") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestBackendThatIsNone(t *testing.T) {
	t.Parallel()
	login := newRoot(t, map[string]string{"credentials.json": `{"current": "file:///100%"}`})
	for process, want := range map[string]string{
		"PULUMI_BACKEND_URL=file:///100%": "PULUMI_BACKEND_URL in the process environment: is not the address of a directory",
		"PULUMI_HOME=" + login:            login + "/credentials.json: the address file:///100% is not that of a directory",
	} {
		r := Request{Root: "/root", Sources: Sources{Process: []string{process}}}
		_, err := resolveBackend(r, r.Sources.File.Merge(r.Sources.Process))
		var problem *Error
		if !errors.As(err, &problem) || err.Error() != want || problem.NextStep() != "write a % as %25" {
			t.Errorf("%s: got %v", process, err)
		}
	}
}
