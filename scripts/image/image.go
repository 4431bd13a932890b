package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
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

// file is something in a layer. It has no time.
type file struct {
	path    string // without a slash before it
	mode    fs.FileMode
	owner   int
	from    string // file with the content; "" where it is given
	content []byte
	link    string
}

// directory lists what is in a directory, to be put at a place in the image.
func directory(from, to string, owner int) ([]file, error) {
	var files []file
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == from {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		f := file{path: path.Join(to, filepath.ToSlash(relative)), mode: info.Mode(), owner: owner}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			f.link, err = os.Readlink(name)
		case info.Mode().IsRegular():
			f.from = name
			f.mode &^= fs.ModeSetuid | fs.ModeSetgid // no program changes its user
		case !info.IsDir():
			return errors.New(name + " is neither a file nor a directory nor a link")
		}
		files = append(files, f)
		return err
	})
	return files, err
}

// layerOf makes a layer: its entries are in the order of their names, the directories that
// they are in among them.
func layerOf(files []file) (v1.Layer, error) {
	byPath := map[string]file{}
	for _, f := range files {
		byPath[f.path] = f
	}
	for _, f := range files {
		for parent := path.Dir(f.path); parent != "."; parent = path.Dir(parent) {
			if _, there := byPath[parent]; !there {
				byPath[parent] = file{path: parent, mode: fs.ModeDir | 0o755, owner: ownerOf(parent)}
			}
		}
	}
	ordered := slices.SortedFunc(maps.Values(byPath), func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { _ = writer.CloseWithError(writeTar(writer, ordered)) }() // which never fails
		return reader, nil
	}, tarball.WithCompressedCaching)
}

// ownerOf returns the owner of a directory that is not listed.
func ownerOf(path string) int {
	if path == home || strings.HasPrefix(path, home+"/") {
		return user
	}
	return 0
}

func writeTar(w io.Writer, files []file) error {
	archive := tar.NewWriter(w)
	for _, f := range files {
		if err := f.write(archive); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (f file) write(archive *tar.Writer) error {
	header := &tar.Header{
		Name: f.path, Mode: int64(f.mode.Perm()), Uid: f.owner, Gid: f.owner,
		ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatPAX,
	}
	if f.mode&fs.ModeSticky != 0 {
		header.Mode |= 0o1000
	}
	switch {
	case f.mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, strings.TrimSuffix(f.path, "/")+"/"
		return archive.WriteHeader(header)
	case f.link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, f.link
		return archive.WriteHeader(header)
	}
	header.Typeflag = tar.TypeReg
	var content io.Reader = bytes.NewReader(f.content)
	header.Size = int64(len(f.content))
	if f.from != "" {
		opened, err := os.Open(f.from)
		if err != nil {
			return err
		}
		defer opened.Close()
		info, err := opened.Stat()
		if err != nil {
			return err
		}
		content, header.Size = opened, info.Size()
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}
