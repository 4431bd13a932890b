package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mara/projects/model/gomodule"
)

// builder builds programs and caches them in mara/go-programs below the user's cache
// directory, one directory per program.
type builder struct{ caches string }

// The files of a program.
const (
	builtName = "program"
	stampName = "sources" // fingerprint of the sources of the built program
	lockName  = "lock"
)

// build returns the built program of a directory, or of a Go file. It runs Go only if a file of
// the module has changed since the last build, and Go links only if the result differs.
func (b builder) build(ctx context.Context, source string) (string, error) {
	source = filepath.Clean(source)
	name := sha256.Sum256([]byte(source))
	directory := filepath.Join(b.caches, "mara", "go-programs", hex.EncodeToString(name[:8]))
	release, err := lock(directory)
	if err != nil {
		return "", fmt.Errorf("caching the built program: %w", err)
	}
	defer release()
	program, stamp := filepath.Join(directory, builtName), filepath.Join(directory, stampName)
	now, err := fingerprint(gomodule.Of(source))
	if err != nil {
		return "", fmt.Errorf("reading the sources of the program: %w", err)
	}
	before, _ := os.ReadFile(stamp) // there may be none
	if _, err := os.Stat(program); err == nil && now != "" && string(before) == now {
		used := time.Now()
		_ = os.Chtimes(stamp, used, used) // prune reads it
		return program, nil
	}
	if err := compile(ctx, source, program); err != nil {
		return "", err
	}
	prune(filepath.Dir(directory), time.Now().Add(-unusedLimit))
	return program, os.WriteFile(stamp, []byte(now), 0o600)
}

// unusedLimit is the age at which an unused program is deleted.
const unusedLimit = 30 * 24 * time.Hour

// prune removes the programs below a directory that were last used before a time, unless one is
// being built. The locks stay, since another process may wait for one.
func prune(directory string, before time.Time) {
	stamps, _ := filepath.Glob(filepath.Join(directory, "*", stampName)) // the names are digests
	for _, stamp := range stamps {
		info, err := os.Stat(stamp)
		if err != nil || info.ModTime().After(before) {
			continue
		}
		file, err := os.OpenFile(filepath.Join(filepath.Dir(stamp), lockName), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			continue
		}
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.Remove(filepath.Join(filepath.Dir(stamp), builtName))
			_ = os.Remove(stamp)
		}
		file.Close()
	}
}

// settings returns the settings that affect a build besides the sources: variables, and the
// file of `go env -w`.
func settings() string {
	var all strings.Builder
	for _, name := range []string{
		"CC", "CGO_CFLAGS", "CGO_ENABLED", "CGO_LDFLAGS",
		"GOAMD64", "GOARCH", "GOARM64", "GOEXPERIMENT", "GOOS", "GOTOOLCHAIN",
	} {
		fmt.Fprintf(&all, "%s=%s\n", name, os.Getenv(name))
	}
	file := os.Getenv("GOENV")
	if configuration, err := os.UserConfigDir(); file == "" && err == nil {
		file = filepath.Join(configuration, "go", "env")
	}
	content, _ := os.ReadFile(file) // there may be none
	all.Write(content)
	return all.String()
}

// lock lets one process at a time build a program; the end of the process releases the lock
// too.
func lock(directory string) (release func(), err error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(directory, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}

// fingerprint returns a digest of the names, sizes and times of the files below a directory, and
// of Go's settings. Modules from elsewhere are pinned by go.sum. If go.work or a replaced path
// in go.mod uses other modules, it returns "", and Go always builds.
func fingerprint(module string) (string, error) {
	if gomodule.UsesOthers(module) || os.Getenv("GOFLAGS") != "" || os.Getenv("GOWORK") != "" {
		return "", nil
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00", settings())
	err := filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != module && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s\x00%d\x00%d\n", path, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// compile runs Go to build a program, without the tables for debuggers, which take up to a
// third of the time. The user's GOFLAGS come later, and override that.
func compile(ctx context.Context, source, program string) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("the program %s has to be built, and there is no go on PATH: install Go, "+
			"or name a built program with the option binary in Pulumi.yaml", source)
	}
	dir, target := source, "."
	if info, err := os.Stat(source); err == nil && !info.IsDir() {
		dir, target = filepath.Dir(source), filepath.Base(source)
	}
	command := exec.CommandContext(ctx, goTool, "build", "-o", program, target)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-ldflags=-w "+goFlags(ctx, goTool, dir))
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("building the program in %s: %w\n%s", dir, err, strings.TrimSpace(said.String()))
	}
	return nil
}

// goFlags returns the user's GOFLAGS, from the environment or `go env -w`. If go fails here,
// the build reports why.
func goFlags(ctx context.Context, goTool, dir string) string {
	command := exec.CommandContext(ctx, goTool, "env", "GOFLAGS")
	command.Dir = dir
	flags, _ := command.Output()
	return strings.TrimSpace(string(flags))
}
