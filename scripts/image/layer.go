package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

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
