package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"mara/projects"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/preflight"
	"mara/runner/internal/pulumi/engine"
)

// linkHosts leads simulations to the language hosts of this machine. Simulations
// ignore the PATH, where resource providers may be, and have a Pulumi home of
// their own, with links to the hosts and nothing else. An installed Pulumi finds
// its hosts beside itself.
func linkHosts(s *Session) error {
	found, err := engine.Find(s.Deps.Engines, s.Options.Pulumi)
	if err != nil || !found.Embedded {
		return nil
	}
	env := s.Options.Sources.File.Merge(s.Options.Sources.Process)
	for _, project := range s.Provider.Own() {
		runtime := project.Own.Runtime
		if runtime == projects.Runtime {
			continue
		}
		host, ok := preflight.LanguageHost(runtime, preflight.PulumiHome(env), env)
		if !ok { // it is beside the engine, or the check of languages has said so
			continue
		}
		if err := linkHost(host, filepath.Join(s.Directory.PulumiHome(), "plugins",
			"language-"+runtime+"-v0.0.0")); err != nil {
			return failure.RunnerDir(err)
		}
	}
	return nil
}

// linkHost links a host, and what it keeps beside itself, into a directory.
func linkHost(host, directory string) error {
	host, err := filepath.Abs(host)
	if err != nil {
		return err
	}
	beside, err := os.ReadDir(filepath.Dir(host))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for _, file := range beside {
		if strings.HasPrefix(file.Name(), filepath.Base(host)) {
			err = errors.Join(err, link(filepath.Join(filepath.Dir(host), file.Name()), filepath.Join(directory, file.Name())))
		}
	}
	return err
}

// link makes a link in one step: other runs may be using one that is there.
func link(to, path string) error {
	if now, err := os.Readlink(path); err == nil && now == to {
		return nil
	}
	temporary, err := os.MkdirTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	made := filepath.Join(temporary, "link")
	if err := os.Symlink(to, made); err != nil {
		return err
	}
	return os.Rename(made, path)
}
