// Package simulated serves the simulated clouds of an environment, as configured by
// flags: with the packages that its projects use, and with a cluster that validates objects.
package simulated

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/packages"
	"mara/runner/internal/core/programhost"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// Options say which clouds to simulate.
type Options struct {
	Flags     request.Simulation
	Admit     simulate.Admission // judges every resource; nil admits all
	Dir       string             // that relative paths start from
	Directory string             // where the clouds keep their resources
	Home      string             // of Pulumi, with the schemas of plugins
	BuiltIn   []simulate.Package
	Own       []model.Project      // may use other packages
	Runs      []string             // names of the projects that run
	States    statefiles.Directory // may have resources of other packages
	Charts    string               // cache of charts, whose objects a cluster checks
	Env       map[string]string    // with the proxies on the way to a cluster
	Masker    *event.Masker
	Log       *slog.Logger
	OnClose   func(stop func() error)
	Warn      func(text string) // while the clouds are served
}

// Serve serves the clouds until OnClose stops them. It returns the variables that
// direct Pulumi to them, and warnings about packages that cannot be checked.
func Serve(ctx context.Context, o Options) (env map[string]string, warnings []string, err error) {
	behaviour, err := o.behaviour()
	if err != nil {
		return nil, nil, err
	}
	if o.Flags.Cluster != "" {
		if behaviour.Admit, err = o.connectCluster(ctx); err != nil {
			return nil, nil, err
		}
	}
	finder := finder{Files: o.Flags.Schemas, Home: o.Home}
	all, warnings, err := finder.complete(ctx, o.BuiltIn, o.usedPackages())
	if err != nil {
		return nil, nil, failure.Usagef("", "--simulate-schema: %v", err)
	}
	isIdle := func(p model.Project) bool { return !slices.Contains(o.Runs, p.Name) }
	own := slices.DeleteFunc(slices.Clone(o.Own), isIdle)
	if err := checkImports(own); err != nil {
		return nil, nil, err
	}
	unknown, components := checkTypes(own, all)
	components = slices.DeleteFunc(components, func(c usedType) bool { // those are judged as they are made
		return slices.ContainsFunc(all, func(p simulate.Package) bool { return p.Children != nil && strings.HasPrefix(c.token, p.Name+":") })
	})
	const inside = " is simulated without what is in it, which only its program in the plugin says"
	warnings = append(warnings, lists.Map(components, func(c usedType) string { return c.place + ": " + c.token + inside })...)
	behaviour.Component = o.warnOnce(components, func(token string) string { return token + inside })
	if o.Flags.Unknown {
		all, warnings = takeUnknown(own, all, unknown), append(warnings, notJudged(unknown)...)
		behaviour.Unknown = o.warnOnce(lists.Map(unknown, func(u unjudged) usedType { return u.usedType }), func(token string) string {
			return "not judged, with its inputs as outputs: " + token + ", a type that no schema at hand has"
		})
	} else if err := refusal(unknown); err != nil {
		return nil, nil, err
	}
	// The clouds outlive ctx: an operation that is being cancelled still talks to them.
	clouds, err := simulate.Start(context.WithoutCancel(ctx), all, behaviour)
	if err != nil {
		return nil, nil, err
	}
	o.OnClose(clouds.Close)
	return clouds.Env(), warnings, nil
}

// World returns how environments simulate these packages.
func World(clouds func() []simulate.Package) func(context.Context, *session.Resolved) (map[string]string, []string, error) {
	return func(ctx context.Context, s *session.Resolved) (map[string]string, []string, error) {
		o := Options{
			Flags: s.Options.Simulation, Dir: s.Deps.Dir, Directory: s.Directory.Clouds(s.Settings.Stack.Text),
			Home:    programhost.PulumiHome(s.Options.Sources.Looking()),
			BuiltIn: clouds(), Own: s.Provider.Own(), Runs: s.SelectedPrograms(), States: s.States(), Env: s.Env,
			Charts: layout.Of(s.Settings.Root, false).Charts(),
			Masker: s.Masker, Log: s.Log, OnClose: s.OnClose, Warn: s.Warn,
		}
		if admit := s.Options.Admit; admit != nil {
			o.Admit = func(ctx context.Context, object simulate.Object, preview bool) error {
				return admit(ctx, object, preview)
			}
		}
		return Serve(ctx, o)
	}
}

// Resources lists the resources that simulated clouds keep in a directory.
func Resources(directory string) (cloud.Located, error) {
	located := cloud.Located{Every: true}
	records, err := simulate.ReadRecords(directory)
	for _, r := range records {
		located.Resources = append(located.Resources, cloud.Resource{Type: r.Token, ID: r.ID, Name: r.ID, URN: r.URN})
	}
	return located, err
}

// usedPackages lists the packages that own projects name or have deployed resources of.
func (o Options) usedPackages() []packages.Used {
	var used []packages.Used
	for _, project := range o.Own {
		used = append(used, packages.By(project.Own.Dir)...)
		state, _ := o.States.Read(project.Name) // other code reports an unreadable state
		used = append(used, packages.InState(state)...)
	}
	return used
}

// behaviour parses the flags.
func (o Options) behaviour() (simulate.Options, error) {
	b := simulate.Options{Speed: o.Flags.Speed, Dir: o.Directory, Log: o.Log, Admit: o.Admit}
	for _, text := range o.Flags.Fail {
		fault, err := simulate.ParseFault(text)
		if err != nil {
			return b, failure.Usagef("", "--simulate-fail: %v", err)
		}
		b.Fail = append(b.Fail, fault)
	}
	for _, text := range o.Flags.Slow {
		delay, err := simulate.ParseDelay(text)
		if err != nil {
			return b, failure.Usagef("", "--simulate-slow: %v", err)
		}
		b.Slow = append(b.Slow, delay)
	}
	return b, nil
}
