// Command runner runs many small Pulumi projects as one: it previews, deploys, refreshes and destroys
// them together.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"
	"golang.org/x/term"

	"mara/projects"
	"mara/projects/loopback"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/programhost"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui/mute"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/feature/simulate/clouds"
	"mara/runner/internal/feature/survey"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/wire"
)

// These are set when a release is linked.
var (
	version  = ""
	releases = "" // web directory
)

// gcPercent is how much the heap may grow before it is collected. Little of it
// is live, and a run takes seconds: collecting costs more than memory.
const gcPercent = 400

// startPercent is gcPercent in the first second, when the commands and the catalogue are made: a short command ends
// without a collection.
const startPercent = 1600

func main() {
	loopback.Guard()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startPercent)
		time.AfterFunc(time.Second, func() { debug.SetGCPercent(gcPercent) })
	}
	runtime.MemProfileRate = 0 // the profile is not read, and takes time
	os.Exit(run())
}

func run() int {
	mute.Restore()
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Asked for, SIGPIPE becomes an error of writing; unasked, it would kill a
	// run in the middle because `| head` has seen enough.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	levels := interrupt.Watch(context.Background(), signals)
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	deps := session.Deps{
		Version: buildVersion(),
		World:   wire.World(clouds.Packages),
		Console: vault.Console{
			Stdin: os.Stdin, Stderr: os.Stderr, StdinIsTerminal: term.IsTerminal(int(os.Stdin.Fd())), Dir: dir, Now: time.Now,
		},
		Engines:    engines(),
		PluginDirs: runnerDir(),
		Interrupt:  levels,
	}
	deps.CloudClients = survey.Clients(programhost.Clouds(deps.ProgramHost, projects.InfrastructureByName))
	return wire.Run(levels.Context(), cmd.Deps{
		Deps:             deps,
		Stdout:           os.Stdout,
		StdoutIsTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		StderrIsTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Size:             size,
		Environ:          os.Environ(),
		PulumiVersion:    sdk.Version.String(),
		Releases:         releases,
	}, os.Args[1:])
}

// size returns the size of the terminal at stdout, or zeros without a terminal.
func size() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// engines returns the possible paths of mara-engine: next to this program, or in
// RUNNER_ENGINE.
func engines() []string {
	var paths []string
	for _, directory := range runnerDir() {
		paths = append(paths, filepath.Join(directory, "mara-engine"))
	}
	if path := os.Getenv("RUNNER_ENGINE"); path != "" {
		paths = append(paths, path)
	}
	return paths
}

// runnerDir returns the directory of this program, or nothing if it is unknown.
func runnerDir() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	if target, err := filepath.EvalSymlinks(self); err == nil {
		self = target
	}
	return []string{filepath.Dir(self)}
}

// buildVersion returns the linked version, or the version in Go's build information.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development"
	}
	return info.Main.Version
}
