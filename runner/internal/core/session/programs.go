package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/programhost"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
)

// StartPrograms starts the process that serves the built-in programs. It gets
// ready in the background, and ends when the session closes.
func (s *Resolved) StartPrograms() error {
	path, err := s.Deps.ProgramHost()
	if err != nil {
		return err
	}
	start := programhost.Start
	if s.Options.Shared != nil {
		start = s.Options.Shared.host
	}
	s.pulumi.programs, err = start(programhost.Options{
		Path: path, Root: s.Settings.Root, Provider: s.Provider.Name,
		Ran:   s.Profile.Ran,
		Ended: func(err error) { s.Warn(err.Error()) },
	})
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	if s.Options.Shared == nil {
		s.OnClose(s.pulumi.programs.Close)
	}
	s.Log.Debug("programs", "path", path)
	return nil
}

// AttachPrograms lets Pulumi's commands know where the programs are served.
func (s *Resolved) AttachPrograms() error {
	if err := s.pulumi.programs.Attach(s.Env); err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	return nil
}

// ProgramHost finds what serves the built-in programs: beside us, the engine, or on PATH.
func (d Deps) ProgramHost() (string, error) {
	directories := slices.Clone(d.PluginDirs)
	for _, engine := range d.Engines {
		directories = append(directories, filepath.Dir(engine))
	}
	path, err := programhost.Find(directories)
	if err != nil {
		return "", &failure.Environment{Text: err.Error()}
	}
	return path, nil
}

// findPlugins finds the resource providers that come with the runner, by name: Pulumi can neither download them nor
// guess where they are. One that is not there may be on the PATH, where Pulumi looks by itself; that it is nowhere is a
// matter of the preflight checks. Simulated clouds do without.
func findPlugins(provider model.Provider, directories []string) map[string]string {
	found := map[string]string{}
	for _, name := range provider.BundledPlugins {
		for _, directory := range slices.Backward(directories) { // the first has the last word
			if info, err := os.Stat(filepath.Join(directory, "pulumi-resource-"+name)); err == nil && info.Mode().IsRegular() {
				found[name] = directory
			}
		}
	}
	return found
}

// linkHosts leads simulations to the language hosts of this machine. Simulations ignore the PATH, where resource
// providers may be, and have a Pulumi home of their own, with links to the hosts and nothing else. An installed Pulumi
// finds its hosts next to itself.
func linkHosts(s *Resolved) error {
	found, err := engine.Find(s.Deps.Engines, s.Options.Pulumi)
	if err != nil || !found.Embedded {
		return nil
	}
	env := s.Options.Sources.Looking()
	for _, project := range s.Provider.Own() {
		runtime := project.Own.Runtime
		if runtime == model.Runtime {
			continue
		}
		host, ok := programhost.LanguageHost(runtime, programhost.PulumiHome(env), env)
		if !ok { // it is beside the engine, or the check of languages has said so
			continue
		}
		if err := programhost.Link(host, filepath.Join(s.Directory.PulumiHome(), "plugins",
			"language-"+runtime+"-v0.0.0")); err != nil {
			return failure.RunnerDir(err)
		}
	}
	return nil
}

// locator returns how to ask the environment's cloud for resources by their names; nil where it cannot be asked.
func locator(s *Resolved) func(ctx context.Context, types []string) (cloud.Located, error) {
	if s.Options.Simulation.On && s.Deps.Simulated != nil {
		return func(context.Context, []string) (cloud.Located, error) {
			return s.Deps.Simulated(s.Directory.Clouds(s.Settings.Stack.Text))
		}
	}
	if s.Options.Simulation.On || s.Deps.CloudClients == nil {
		return nil
	}
	return func(ctx context.Context, types []string) (cloud.Located, error) { return locate(ctx, s, types) }
}

// locate asks the cloud, if it could have one of the types.
func locate(ctx context.Context, s *Resolved, types []string) (cloud.Located, error) {
	if !slices.ContainsFunc(types, func(name string) bool { return strings.HasPrefix(name, s.Provider.InfraType()+":") }) {
		return cloud.Located{}, nil
	}
	access := cloud.AccessTo(s.Provider, s.Env, func(key string) string { return s.Settings.Config.Text(key).Text })
	client, err := s.Deps.CloudClients(ctx, s.Provider.InfraType(), access)
	if err != nil {
		return cloud.Located{}, err
	}
	locator, ok := client.(cloud.Locator)
	if !ok {
		return cloud.Located{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*cloud.Patience)
	defer cancel()
	return locator.Locate(ctx, s.Settings.Stack.Text)
}

// Shared are the engine and the program hosts that sessions of one process have in
// common, so that all use the same warm workers. Each session has keys of its own.
type Shared struct {
	// Interrupt kills the engine when the user interrupts for the third time; nil for none.
	Interrupt *interrupt.Levels

	mu     sync.Mutex // guards what follows
	common engine.Engine
	hosts  map[string]*programhost.Host // by provider
	stop   []func() error
}

// Close ends everything. The sessions have closed before.
func (p *Shared) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := errors.Join(lists.Map(p.stop, func(stop func() error) error { return stop() })...)
	p.stop, p.common, p.hosts = nil, nil, nil
	return err
}

// engine returns an engine for one more session. The first call starts the workers.
func (p *Shared) engine(ctx context.Context, o engine.Options) (engine.Engine, func() error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.common == nil {
		start := o
		start.Interrupt, start.Profile = p.Interrupt, nil
		// It outlives the session that starts it.
		common, stop, err := engine.Start(context.WithoutCancel(ctx), start)
		if err != nil {
			return nil, nil, err
		}
		p.common, p.stop = common, append(p.stop, stop)
	}
	return engine.Beside(p.common, o), func() error { return nil }, nil
}

// host serves a provider's programs, and starts when it is first needed.
func (p *Shared) host(o programhost.Options) (*programhost.Host, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if host, ok := p.hosts[o.Provider]; ok {
		return host, nil
	}
	o.Ran, o.Ended = nil, nil // about one session; commands that fail tell
	host, err := programhost.Start(o)
	if err != nil {
		return nil, err
	}
	if p.hosts == nil {
		p.hosts = map[string]*programhost.Host{}
	}
	p.hosts[o.Provider] = host
	p.stop = append(p.stop, host.Close)
	return host, nil
}
