package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// material returns the input of an image, with this test as its programs.
func material(t *testing.T) options {
	t.Helper()
	dir := t.TempDir()
	put := func(path, content string, mode os.FileMode) {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	put("base/bin/busybox", "busybox", 0o755)
	put("base/bin/su", "su", 0o755|os.ModeSetuid)
	if err := os.Symlink("busybox", filepath.Join(dir, "base/bin/sh")); err != nil {
		t.Fatal(err)
	}
	put("base/usr/share/ca-certificates/mozilla/B.crt", "second", 0o644)
	put("base/usr/share/ca-certificates/mozilla/A.crt", "first\n", 0o644)
	put("packages", "busybox-static 1.35\nlibc6 2.36\n", 0o644)
	put("plugins/resource-random-v4.0.0/pulumi-resource-random", "plugin", 0o755)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs() {
		put("bin/"+program, string(content), 0o700)
	}
	return options{
		Base: filepath.Join(dir, "base"), Packages: filepath.Join(dir, "packages"), Bin: filepath.Join(dir, "bin"),
		Projects: "../../projects", Plugins: filepath.Join(dir, "plugins"), Version: "1.2.3",
	}
}

// entries returns the files of all layers, by their names.
func entries(t *testing.T, image v1.Image) map[string]*tar.Header {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*tar.Header{}
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for archive := tar.NewReader(content); ; {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			all[header.Name] = header
		}
	}
	return all
}

// TestImage builds an image, twice, and looks into it.
func TestImage(t *testing.T) {
	t.Parallel()
	o := material(t)
	image, sbom, err := build(o)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := config.Config; c.User != "1000:1000" || len(c.Entrypoint) > 0 || config.Architecture != runtime.GOARCH || config.OS != "linux" || !slices.Contains(c.Env, "HOME=/home/mara") || !config.Created.IsZero() {
		t.Errorf("config %+v", config)
	}
	all := entries(t, image)
	for path, want := range map[string]struct {
		mode int64
		uid  int
	}{
		"usr/local/bin/runner": {0o755, 0}, "usr/local/bin/pulumi": {0o755, 0}, "usr/local/": {0o755, 0}, "bin/su": {0o755, 0}, "tmp/": {0o1777, 0}, "home/mara/": {0o755, user},
		"opt/mara/projects/kubernetes/secrets/": {0o755, user}, "opt/mara/projects/kubernetes/secrets/Pulumi.yaml": {0o644, user}, "opt/mara/config/pulumi/secrets/": {0o755, user},
		"home/mara/.pulumi/plugins/resource-random-v4.0.0/pulumi-resource-random": {0o755, user}, "usr/share/mara/sbom.spdx.json": {0o644, 0}, "etc/ssl/certs/ca-certificates.crt": {0o644, 0},
	} {
		if h := all[path]; h == nil || h.Mode != want.mode || h.Uid != want.uid || h.Gid != want.uid || !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%s: %+v", path, h)
		}
	}
	if h := all["bin/sh"]; h == nil || h.Linkname != "busybox" {
		t.Errorf("bin/sh: %+v", h)
	}
	checkSBOM(t, sbom)
	for _, file := range []string{"base/bin/busybox", "bin/runner"} { // another time, another order of making
		path := filepath.Join(filepath.Dir(o.Base), file)
		if err := os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	again, _, err := build(o)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := image.Digest()
	if second, err := again.Digest(); err != nil || first != second {
		t.Errorf("digests %s and %s, error %v", first, second, err)
	}
}

func checkSBOM(t *testing.T, sbom document) {
	t.Helper()
	names := map[string]string{}
	ids := map[string]bool{}
	for _, p := range sbom.Packages {
		names[p.Name] = p.Version
		if ids[p.ID] {
			t.Errorf("%s is there twice", p.ID)
		}
		ids[p.ID] = true
	}
	if names["libc6"] != "2.36" || names["github.com/google/go-containerregistry"] == "" || names["stdlib"] != strings.TrimPrefix(runtime.Version(), "go") || len(sbom.Relationships) != len(sbom.Packages) {
		t.Errorf("packages %v", names)
	}
}

// TestRun writes the archive and pushes it.
func TestRun(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	o := material(t)
	tag, out := strings.TrimPrefix(server.URL, "http://")+"/mara/workspace:1", filepath.Join(t.TempDir(), "out", "image.tar")
	if err := run([]string{"-base", o.Base, "-packages", o.Packages, "-bin", o.Bin, "-projects", o.Projects, "-out", out, "-tag", tag, "-push"}); err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewTag(tag)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := tarball.ImageFromPath(out, &ref)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := kept.ConfigName()
	pushed, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pushed.ConfigName(); err != nil || got != want {
		t.Errorf("pushed %s, kept %s, error %v", got, want, err)
	}
	var sbom document
	content, err := os.ReadFile(out + ".spdx.json")
	if err == nil {
		err = json.Unmarshal(content, &sbom)
	}
	if err != nil || sbom.Version != "SPDX-2.3" {
		t.Errorf("error %v", err)
	}
	// What NTIA's minimum asks for: author, time, and for each package supplier, name, version, identifier and relationship.
	if len(sbom.Creation.Creators) < 2 || sbom.Creation.Created == "" || len(sbom.Relationships) != len(sbom.Packages) || len(sbom.Packages) < 5 {
		t.Errorf("%+v, %d packages, %d relationships", sbom.Creation, len(sbom.Packages), len(sbom.Relationships))
	}
	for _, p := range sbom.Packages {
		if p.Supplier == "" || p.Name == "" || p.Version == "" || len(p.Refs) != 1 {
			t.Errorf("%+v", p)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*options)
		want   string
	}{
		{"no programs", func(o *options) { o.Bin = t.TempDir() }, "no such file"},
		{"no projects", func(o *options) { o.Projects = t.TempDir() }, "has no projects"},
		{"no certificates", func(o *options) { _ = os.RemoveAll(filepath.Join(o.Base, "usr/share/ca-certificates/mozilla")) }, "has no certificates"},
		{"packages without versions", func(o *options) { o.Packages = filepath.Join(o.Base, "bin/busybox") }, "is not NAME VERSION"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := material(t)
			test.change(&o)
			if _, _, err := build(o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}
