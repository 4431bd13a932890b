package programhost

import (
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
