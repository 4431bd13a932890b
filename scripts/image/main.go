// Image makes the image that runs the runner in CI, and workspaces of the Pulumi
// Kubernetes Operator. It needs no Docker: the layers are made from directories, with
// nothing in them that depends on when or by whom.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// options say what the image is made of.
type options struct {
	Base     string // directory: the root of a small system
	Packages string // file: its packages, NAME VERSION on each line
	Bin      string // directory with the programs
	Projects string // directory with the built-in projects
	Plugins  string // directory of Pulumi's plugins; "" for none
	Version  string
	Made     int64 // seconds since 1970, for the list of what is in the image
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var o options
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&o.Base, "base", "", "`directory` with the root of a small system")
	flags.StringVar(&o.Packages, "packages", "", "`file` with the packages of that system")
	flags.StringVar(&o.Bin, "bin", "bin", "`directory` with the programs")
	flags.StringVar(&o.Projects, "projects", "projects", "`directory` with the built-in projects")
	flags.StringVar(&o.Plugins, "plugins", "", "`directory` of Pulumi's plugins")
	flags.StringVar(&o.Version, "version", "dev", "`version` of the programs")
	flags.Int64Var(&o.Made, "made", 0, "`time` of the source in seconds since 1970, for the list of what is in the image")
	out := flags.String("out", "image.tar", "`file` for the image, as docker load takes it")
	tag := flags.String("tag", "mara-workspace:dev", "`name` of the image")
	push := flags.Bool("push", false, "push it, too, with the logins of docker")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ref, err := name.NewTag(*tag)
	if err != nil {
		return err
	}
	image, sbom, err := build(o)
	if err != nil {
		return err
	}
	digest, err := write(*out, ref, image, sbom)
	if err != nil {
		return err
	}
	fmt.Println(*out, digest)
	if !*push {
		return nil
	}
	return remote.Write(ref, image, remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

// write writes the archive, and beside it what is in the image.
func write(out string, ref name.Tag, image v1.Image, sbom document) (v1.Hash, error) {
	content, err := json.MarshalIndent(sbom, "", " ")
	if err != nil {
		return v1.Hash{}, err
	}
	temporary := out + ".new"
	defer os.Remove(temporary)
	if err := errors.Join(os.MkdirAll(filepath.Dir(out), 0o755), tarball.WriteToFile(temporary, ref, image)); err != nil {
		return v1.Hash{}, err
	}
	err = errors.Join(os.Rename(temporary, out), os.WriteFile(out+".spdx.json", append(content, '\n'), 0o644))
	if err != nil {
		return v1.Hash{}, err
	}
	return image.Digest()
}
