package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// user is who the programs run as: the operator's workspaces ask for this one.
const user = 1000

// The places in the image. The operator's exports name that of the projects.
const (
	binDir      = "usr/local/bin"
	projectsDir = "opt/mara/projects"
	configDir   = "opt/mara/config/pulumi" // where the projects' Pulumi.yaml look for stack files
	home        = "home/mara"
	sbomFile    = "usr/share/mara/sbom.spdx.json"
)

// programs returns the names of the programs in the image. The host for Go is missing: it
// needs Go.
func programs() []string {
	return []string{"runner", "mara-engine", "pulumi", "pulumi-language-mara", "pulumi-language-yaml"}
}

// build makes the image, and the list of what is in it.
func build(o options) (v1.Image, document, error) {
	sbom, err := describe(o)
	if err != nil {
		return nil, sbom, err
	}
	listed, err := json.Marshal(sbom)
	if err != nil {
		return nil, sbom, err
	}
	system, err := systemFiles(o)
	if err != nil {
		return nil, sbom, err
	}
	tools, err := programFiles(o)
	if err != nil {
		return nil, sbom, err
	}
	own, err := projectFiles(o)
	if err != nil {
		return nil, sbom, err
	}
	own = append(own, file{path: sbomFile, mode: 0o644, content: listed})
	image := v1.Image(empty.Image)
	for _, files := range [][]file{system, tools, own} { // what changes least first
		layer, err := layerOf(files)
		if err != nil {
			return nil, sbom, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, sbom, err
		}
	}
	configured, err := image.ConfigFile()
	if err != nil {
		return nil, sbom, err
	}
	configured = configured.DeepCopy()
	configured.Architecture, configured.OS = runtime.GOARCH, "linux"
	configured.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", user, user), WorkingDir: "/" + home,
		// No entrypoint: the operator starts commands of its own.
		Cmd: []string{"sh"},
		Env: []string{
			"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/" + home,
			"PULUMI_SKIP_UPDATE_CHECK=true", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "mara", "org.opencontainers.image.version": o.Version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	image, err = mutate.ConfigFile(image, configured)
	return image, sbom, err
}

// systemFiles returns the files of the base, with the user and its directories.
func systemFiles(o options) ([]file, error) {
	files, err := directory(o.Base, "", 0)
	if err != nil {
		return nil, err
	}
	certificates, err := bundle(o.Base)
	if err != nil {
		return nil, err
	}
	return append(files,
		file{path: "etc/passwd", mode: 0o644, content: fmt.Appendf(nil,
			"root:x:0:0:root:/root:/sbin/nologin\nmara:x:%d:%d:mara:/%s:/bin/sh\n", user, user, home)},
		file{path: "etc/group", mode: 0o644, content: fmt.Appendf(nil, "root:x:0:\nmara:x:%d:\n", user)},
		// Most runtimes replace the file.
		file{path: "etc/hosts", mode: 0o644, content: []byte("127.0.0.1 localhost\n::1 localhost\n")},
		file{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: certificates},
		file{path: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777},
		file{path: home, mode: fs.ModeDir | 0o755, owner: user},
		file{path: home + "/.pulumi", mode: fs.ModeDir | 0o755, owner: user},
	), nil
}

// bundle joins all certificates of the base in one file, as Debian's package does when it is
// installed.
func bundle(base string) ([]byte, error) {
	var all []byte
	err := fs.WalkDir(os.DirFS(base), "usr/share/ca-certificates", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".crt" {
			return err
		}
		content, err := os.ReadFile(filepath.Join(base, name))
		all = append(all, content...)
		if len(content) > 0 && content[len(content)-1] != '\n' {
			all = append(all, '\n')
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no certificates", base)
	}
	return all, err
}

// programFiles returns the programs and the plugins.
func programFiles(o options) ([]file, error) {
	var files []file
	for _, name := range programs() {
		from := filepath.Join(o.Bin, name)
		if _, err := os.Stat(from); err != nil {
			return nil, fmt.Errorf("%w: run `make build tools` first", err)
		}
		files = append(files, file{path: binDir + "/" + name, mode: 0o755, from: from})
	}
	if o.Plugins == "" {
		return files, nil
	}
	plugins, err := directory(o.Plugins, home+"/.pulumi/plugins", user)
	return append(files, plugins...), err
}

// projectFiles returns the descriptions of the built-in projects; their programs are in the
// language host. Pulumi writes stack files next to them.
func projectFiles(o options) ([]file, error) {
	files := []file{
		{path: configDir, mode: fs.ModeDir | 0o755, owner: user},
		{path: configDir + "/secrets", mode: fs.ModeDir | 0o755, owner: user},
	}
	found := 0
	err := fs.WalkDir(os.DirFS(o.Projects), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "Pulumi.yaml" || strings.Contains(name, "testdata/") {
			return err
		}
		found++
		content, err := os.ReadFile(filepath.Join(o.Projects, name))
		at := path.Join(projectsDir, name)
		files = append(files,
			file{path: path.Dir(at), mode: fs.ModeDir | 0o755, owner: user},
			file{path: at, mode: 0o644, owner: user, content: content})
		return err
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("%s has no projects", o.Projects)
	}
	return files, err
}
