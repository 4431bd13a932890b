package programhost

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/blang/semver"

	"mara/runner/internal/machine/process"
)

// PulumiHome returns the directory of Pulumi's downloads.
func PulumiHome(env map[string]string) string {
	if home := env["PULUMI_HOME"]; home != "" {
		return home
	}
	return filepath.Join(env["HOME"], ".pulumi")
}

// HostName returns the name of the program that runs programs of a runtime.
func HostName(runtime string) string { return "pulumi-language-" + runtime }

// LanguageHost finds the language host of a runtime as Pulumi does: on the PATH,
// else the newest one among the plugins in Pulumi's home.
func LanguageHost(runtime, home string, env map[string]string) (path string, ok bool) {
	if found, err := process.Find(HostName(runtime), "", env["PATH"]); err == nil {
		return found, true
	}
	newest := semver.Version{}
	start := "language-" + runtime + "-v"
	dirs, _ := os.ReadDir(filepath.Join(home, "plugins")) // without a home there are none
	for _, dir := range dirs {
		text, isHost := strings.CutPrefix(dir.Name(), start)
		version, err := semver.Parse(text)
		program := filepath.Join(home, "plugins", dir.Name(), HostName(runtime))
		if isHost && err == nil && isProgram(program) && (path == "" || version.GT(newest)) {
			path, newest = program, version
		}
	}
	return path, path != ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Link links a language host, and what it keeps beside itself, into a directory.
func Link(host, directory string) error {
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
