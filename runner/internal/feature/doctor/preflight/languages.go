package preflight

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mara/config"
	"mara/runner/internal/core/programhost"
	"mara/runner/internal/machine/typeset"
)

// Program is the program of an own project.
type Program struct {
	Project string
	Runtime string
	Built   bool // it is a built binary
}

// LanguageOptions are the inputs of Languages.
type LanguageOptions struct {
	Programs []Program
	Env      map[string]string
	Beside   []string // directories that may have language hosts, in addition to the PATH
	Home     string   // of Pulumi, which keeps plugins there
}

// language describes what a runtime needs besides its host.
type language struct {
	tools []string // any of them
	get   string
}

// languages returns the known runtimes.
func languages() map[string]language {
	return map[string]language{
		"yaml": {},
		"go": {[]string{"go"}, "install Go (https://go.dev/dl), " +
			"or build the program and name it with options.binary in its Pulumi.yaml"},
		"nodejs": {[]string{"node"}, "install Node.js (https://nodejs.org)"},
		"bun":    {[]string{"bun"}, "install Bun (https://bun.sh)"},
		"python": {[]string{"python3", "python"}, "install Python 3 (https://www.python.org)"},
		"dotnet": {[]string{"dotnet"}, "install .NET (https://dotnet.microsoft.com)"},
		"java":   {[]string{"java"}, "install a JDK, and Maven or Gradle"},
	}
}

// Languages checks whether the programs of own projects can be run.
func Languages(o LanguageOptions) Check {
	return Check{Name: "languages", Title: "languages", Group: Tools, Look: o.look}
}

func (o LanguageOptions) look(context.Context) []Finding {
	projects := map[string][]string{} // by runtime
	needsTools := map[string]bool{}   // a program of the runtime is not built
	for _, p := range o.Programs {
		projects[p.Runtime] = append(projects[p.Runtime], p.Project)
		needsTools[p.Runtime] = needsTools[p.Runtime] || !p.Built
	}
	var findings []Finding
	for _, runtime := range slices.Sorted(maps.Keys(projects)) {
		names := typeset.Few(projects[runtime], 5)
		findings = append(findings, o.lookAt(runtime, names, needsTools[runtime])...)
	}
	return findings
}

// lookAt checks the host and the tools of a runtime.
func (o LanguageOptions) lookAt(runtime, projects string, needsTools bool) []Finding {
	if runtime == "" {
		return Bad(projects+": there is no runtime in its Pulumi.yaml", "write the language of the program, such as  runtime: yaml")
	}
	host := programhost.HostName(runtime)
	known, isKnown := languages()[runtime]
	var findings []Finding
	if !o.hasHost(runtime) {
		if meant := config.DidYouMean(runtime, slices.Collect(maps.Keys(languages()))); meant != "" && !isKnown {
			return Bad(fmt.Sprintf("%s: runtime is %q, and there is no such language%s", projects, runtime, meant), "correct it in its Pulumi.yaml")
		}
		findings = append(findings, Bad(fmt.Sprintf("%s: there is no %s, which runs programs in %s", projects, host, runtime),
			"install Pulumi (https://www.pulumi.com/docs/install), which brings it, and have its directory on the PATH")...)
	}
	hasTool := func(name string) bool { _, ok := findTool(name, o.Env); return ok }
	if len(known.tools) > 0 && needsTools && !slices.ContainsFunc(known.tools, hasTool) {
		text := fmt.Sprintf("%s: there is no %s on the PATH", projects, known.tools[0])
		findings = append(findings, Bad(text, known.get)...)
	}
	if len(findings) > 0 {
		return findings
	}
	return Good(fmt.Sprintf("%s: %s", runtime, projects))
}

func (o LanguageOptions) hasHost(runtime string) bool {
	_, ok := programhost.LanguageHost(runtime, o.Home, o.Env)
	return ok || slices.ContainsFunc(o.Beside, func(dir string) bool {
		return isProgram(filepath.Join(dir, programhost.HostName(runtime)))
	})
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
