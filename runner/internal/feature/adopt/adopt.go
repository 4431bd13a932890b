package adopt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/discover"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Adopt returns `runner adopt`.
func Adopt(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "adopt", Usage: "write a mara.yaml for existing Pulumi projects", ArgsUsage: "[DIR | NEW]",
		Description: "Finds every Pulumi.yaml below DIR (default: the working directory), reads the stacks of " +
			"these projects from the backend, and writes DIR/mara.yaml. Stack references in the states and in the " +
			"sources show which project reads which; the names of the stacks show the environments. Comments give " +
			"the evidence for each line; comments with a question mark are doubtful, and count only if you write " +
			"them as reads. The command prints the plan, and lists what is uncertain.\n\n" +
			"In sources of all languages it follows the name of a reference through variables, formatted strings, " +
			"functions and constants of the repository, values in stack files, and paths to other projects.\n\n" +
			"Nothing else changes: stacks, stack files and their encryption stay as they are, no program runs, and " +
			"no passphrase is needed. Afterwards, `runner status -s STACK`, preview, drift and up work on the " +
			"existing stacks. The backend is PULUMI_BACKEND_URL, from the environment or config/pulumi/environment, " +
			"or else the one that most Pulumi.yaml name, or that of `pulumi login`. mara.yaml names it and the " +
			"environments, for clones and pipelines. Where the backend has no stacks, stack files tell the environments.\n\n" +
			"With --update, it adds to the mara.yaml that exists: projects that are not listed, what listed ones " +
			"read, and the new paths of those that were moved. It changes no other line, and does not add again what you have removed, if its comment is " +
			"still there.\n\n" +
			"With --rename, project NEW takes over the stack of a project that was renamed, with all its resources. " +
			"The old state stays in the backend as a backup.\n\n" +
			"Examples:\n  runner adopt --print\n  runner adopt infrastructure\n" +
			"  runner adopt --update\n  runner adopt --rename database db -s dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("text", "json"),
			[]cli.Flag{
				&cli.BoolFlag{Name: "print", Usage: "print mara.yaml instead of writing it"},
				&cli.BoolFlag{Name: "update", Usage: "add to an existing mara.yaml what it does not have"},
				&cli.BoolFlag{Name: "strict", Usage: "exit with code 1 if a project cannot be adopted"},
				&cli.StringFlag{Name: "rename", Usage: "let project NEW take over the stack of project `OLD`, its former name"},
			},
			cmd.LockFlags(), cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(),
			cmd.BaseFlags(),
		),
		Action: func(c *cli.Context) error {
			if c.IsSet("rename") {
				return cmd.Action(d, parseRename, cmd.InSession(session.Resolve, runRename))(c)
			}
			return cmd.CommonAction(d, parseAdopt, runAdopt)(c)
		},
	}
}

// adoptOptions are the options of adopt.
type adoptOptions struct {
	cmd.Common
	Given  string // DIR as typed, or ""
	Print  bool
	Update bool
	Strict bool // a project that is not adopted is a failure
}

func parseAdopt(c *cli.Context, d cmd.Deps) (o adoptOptions, err error) {
	common, _, err := cmd.ParseBroken(c, d) // it writes a mara.yaml anew, or mends one whose projects were moved
	if err != nil {
		return o, err
	}
	o = adoptOptions{Common: common, Print: c.Bool("print"), Update: c.Bool("update"), Strict: c.Bool("strict")}
	if o.Given, o.Root, err = cmd.DirectoryArgument(c, d); err != nil {
		return o, err
	}
	if info, err := os.Stat(o.Root); err != nil || !info.IsDir() {
		return o, failure.Usagef("adopt", "directory %s does not exist", o.Root)
	}
	known := catalogue.Catalogue{} // without patterns for names of stacks
	if o.Update && o.Root == common.Root {
		known.Home = common.Known().Home // that mara.yaml names
	}
	o.Catalogue = &known
	o.Sources.File, err = config.ReadEnvironment(o.Root)
	return o, err
}

func runAdopt(ctx context.Context, d cmd.Deps, o adoptOptions) error {
	file := filepath.Join(o.Root, config.MaraFile)
	_, err := os.Lstat(file)
	switch exists := err == nil; {
	case exists && !o.Print && !o.Update:
		return &failure.Environment{
			Text: config.MaraFile + " exists already; nothing was changed",
			Next: "`runner adopt --update` adds what it does not have; `runner adopt --print` prints a new one",
		}
	case o.Update && !exists:
		return &failure.Environment{Text: "there is no " + file, Next: "`runner adopt` writes one"}
	}
	a, err := adoption(ctx, d, o)
	if err != nil {
		return err
	}
	a.Text = schema.Modeline(d.Releases, d.Version) + a.Text
	if o.Update {
		return update(d, o, file, a)
	}
	if !o.Print {
		if err := atomicfile.Write(file, []byte(a.Text), 0o644); err != nil {
			return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the directory")}
		}
	}
	switch {
	case o.Output == "json":
		err = cmd.WriteJSON(d.Stdout, a)
	case o.Print:
		for _, r := range a.Refused {
			fmt.Fprintf(d.Stderr, "not adopted: %s\n", r)
		}
		for _, text := range a.Unsure {
			fmt.Fprintf(d.Stderr, "not sure: %s\n", text)
		}
		err = d.Print(a.Text)
	default:
		err = writeAdopted(d, o, a)
	}
	if err == nil && o.Strict && len(a.Refused) > 0 {
		err = cmd.Exit(cmd.ExitFailed)
	}
	return err
}

// updated is what --update adds.
type updated struct {
	File   string              `json:"file"`
	Added  []discover.Addition `json:"added"`
	Unsure []string            `json:"unsure"`
	Text   string              `json:"text"`
}

// update adds an adoption to the mara.yaml that exists.
func update(d cmd.Deps, o adoptOptions, file string, a adopted) error {
	content, err := files.Read(file, files.Text)
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	text, added, err := a.Update(content, func(path string) bool {
		info, err := os.Stat(within(o.Root, path))
		return err == nil && info.IsDir()
	})
	if err != nil {
		return &failure.Environment{Text: fmt.Sprintf("%s: %v", file, err), Next: "`runner adopt --print` prints a new one"}
	}
	if !o.Print && text != string(content) {
		if err := atomicfile.Write(file, []byte(text), 0o644); err != nil {
			return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the directory")}
		}
	}
	shown := describeAdditions(file, added)
	if o.Print {
		shown = text
	}
	return o.Show(d, updated{file, append([]discover.Addition{}, added...), a.Unsure, text}, shown)
}

// within returns a path of mara.yaml, which may be absolute.
func within(root, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// describeAdditions lists what was added to a mara.yaml.
func describeAdditions(file string, added []discover.Addition) string {
	if len(added) == 0 {
		return fmt.Sprintf("%s has everything that was found; nothing was changed\n", file)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "updated %s:\n", file)
	for _, add := range added {
		switch {
		case add.Line != "":
			fmt.Fprintf(&b, "  %s\n", add.Line)
			continue
		case add.MovedFrom != "":
			fmt.Fprintf(&b, "  %s was moved: it is in %s now, not in %s\n", add.Name, add.Path, add.MovedFrom)
			continue
		}
		reads := lists.Map(add.Reads, func(e discover.Edge) string { return fmt.Sprintf("%s (%s)", e.Project, e.Evidence) })
		verb := " reads "
		if add.IsNew {
			verb = ", which reads "
		}
		fmt.Fprintf(&b, "  %s%s%s\n", add.Path, verb, cmp.Or(strings.Join(reads, ", "), "no other project"))
	}
	return b.String()
}

// adopted is the adoption with its mara.yaml.
type adopted struct {
	Root string `json:"root"`
	File string `json:"file"`
	discover.Adoption
	Text string `json:"text"`
	plan plan.Plan
}

// adoption reads the directory and the backend. It changes nothing.
func adoption(ctx context.Context, d cmd.Deps, o adoptOptions) (a adopted, err error) {
	found, refused, err := discover.Find(o.Root)
	if err != nil {
		return a, &failure.Environment{Text: fmt.Sprintf("looking for projects: %v", err)}
	}
	if len(found) == 0 {
		text := "no " + config.ManifestFile + " in or below " + o.Root
		if len(refused) > 0 {
			text += " that can be adopted: " + strings.Join(lists.Map(refused, discover.Refused.String), "; ")
		}
		return a, &failure.Environment{Text: text, Next: "name the directory with your Pulumi projects: `runner adopt DIR`"}
	}
	home := mostNamed(found)
	if named := o.Known().Home; named.IsSet() {
		home = named.Text
	}
	found, others := besideService(found, home)
	refused = append(refused, others...)
	states, s, err := o.states(ctx, d, home, found)
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	if err != nil {
		return a, err
	}
	a = adopted{Root: o.Root, File: config.MaraFile}
	if a.Adoption, err = discover.New(ctx, o.Root, found, refused, states); err != nil {
		return a, err
	}
	a.Refused = append(a.Refused, refused...)
	a.nameBackend(s, len(states) > 0)
	if len(states) == 0 {
		a.Unsure = append(a.Unsure, fmt.Sprintf("the backend %s (%s) has no stacks of these projects; if they are in "+
			"another one, set %s and try again",
			event.MaskURLs(s.Settings.Backend.Text), s.Settings.Backend.Origin, config.BackendVariable))
	}
	a.Text = a.Adoption.Text()
	a.plan, err = planOf(a.Text, o)
	return a, err
}

// nameBackend has mara.yaml name the backend, so that a clone, another shell and a pipeline find the same stacks. The
// default one below the root is not in a clone, and what says nothing of these projects is no evidence, unless a
// project names it.
func (a *adopted) nameBackend(s *session.Resolved, hasStates bool) {
	backend := s.Settings.Backend
	if backend.Origin.Source == config.FromDefault || !hasStates && backend.Origin.Source != config.FromProject {
		return
	}
	place := s.Settings.BackendPlace()
	if event.MaskURLs(place) != place {
		a.Unsure = append(a.Unsure, fmt.Sprintf("the address of the backend %s has a password, and is not written: everybody "+
			"has to set %s", event.MaskURLs(place), config.BackendVariable))
		return
	}
	a.Backend = place
}

// mostNamed returns the backend that most Pulumi.yaml name, "" if none does.
func mostNamed(found []discover.Found) (named string) {
	times := map[string]int{}
	for _, f := range found {
		if f.Backend != "" {
			times[f.Backend]++
		}
	}
	for _, backend := range lists.Keys(times) {
		if times[backend] > times[named] {
			named = backend
		}
	}
	return named
}

// besideService separates the projects that cannot be in one root with those of the backend of most: Pulumi Cloud has
// keys of its own.
func besideService(found []discover.Found, home string) (left []discover.Found, others []discover.Refused) {
	for _, f := range found {
		if f.Backend == "" || config.MayMix(f.Backend, home) {
			left = append(left, f)
			continue
		}
		others = append(others, discover.Refused{Path: f.Path, Reason: fmt.Sprintf("its Pulumi.yaml names the backend %s, and "+
			"others are in %s: Pulumi Cloud has keys of its own, so all projects of a root are there, or none",
			event.MaskURLs(f.Backend), event.MaskURLs(home))})
	}
	return left, others
}

// states reads the states of projects, each in its own backend, and returns the root with the backend of most. By
// Pulumi's rule a variable overrides what the files name, which found has no more then.
func (o adoptOptions) states(ctx context.Context, d cmd.Deps, home string, found []discover.Found) (discover.States,
	*session.Resolved, error) {
	open := func(backend string) (*session.Resolved, error) {
		if backend != "" && backend != o.Known().Home.Text {
			o.Catalogue = &catalogue.Catalogue{Home: config.Value{Text: backend, Origin: config.Origin{
				Source: config.FromProject, Name: "backend.url"}}}
		}
		return session.ResolveRoot(d.Deps, o.Options)
	}
	s, err := open(home)
	if err != nil {
		return nil, s, err
	}
	source := s.Settings.Backend.Origin.Source
	isNamed := source != config.FromProcess && source != config.FromFile
	home = s.Settings.Backend.Text // absolute, as the others are
	apart := map[string][]discover.Found{}
	for i := range found {
		if found[i].Backend = cmp.Or(found[i].Backend, home); !isNamed {
			found[i].Backend = ""
		}
		place := found[i].Backend
		if config.SameBackend(place, home) {
			place = ""
		}
		apart[place] = append(apart[place], found[i])
	}
	states, err := deployedStates(ctx, s, apart[""])
	if err != nil {
		return nil, s, err
	}
	delete(apart, "")
	for _, backend := range lists.Keys(apart) {
		other, err := open(backend)
		if err == nil {
			var there discover.States
			there, err = deployedStates(ctx, other, apart[backend])
			maps.Copy(states, there)
		}
		if err = errors.Join(err, other.Close()); err != nil {
			return nil, s, err
		}
	}
	return states, s, nil
}

// deployedStates reads the states of projects, by project and then by stack.
func deployedStates(ctx context.Context, s *session.Resolved, found []discover.Found) (discover.States, error) {
	byStack, err := inventory.States(ctx, s, func(_ string, projects []string) []string {
		return slices.DeleteFunc(slices.Clone(projects), func(project string) bool {
			return !slices.ContainsFunc(found, func(f discover.Found) bool { return f.Name == project })
		})
	})
	states := discover.States{}
	for stack, projects := range byStack {
		for project, state := range projects {
			if states[project] == nil {
				states[project] = map[string]json.RawMessage{}
			}
			states[project][stack] = state
		}
	}
	return states, err
}

// planOf returns the plan of a mara.yaml.
func planOf(text string, o adoptOptions) (plan.Plan, error) {
	mara, err := config.ParseMara(config.MaraFile, []byte(text))
	if err != nil {
		return plan.Plan{}, err
	}
	known, err := catalogue.LoadMara(o.BuiltIn, mara, o.Root, o.Sources.Lookup("PATH").Text)
	if err != nil {
		return plan.Plan{}, err
	}
	p, err := plan.New(known.Providers[0])
	p.Estimates = p.Declared()
	return p, err
}

func writeAdopted(d cmd.Deps, o adoptOptions, a adopted) error {
	text, err := plan.Render(a.plan, plan.Format(plan.Formats()[0]), d.Width())
	if err != nil {
		return err
	}
	var b strings.Builder
	count := typeset.Counted(len(a.Projects), "project")
	if len(a.Refused) > 0 {
		count += fmt.Sprintf("; %d NOT ADOPTED, see below", len(a.Refused))
	}
	fmt.Fprintf(&b, "wrote %s: %s\n\n%s\n", filepath.Join(o.Root, a.File), count, text)
	if len(a.Refused) > 0 {
		fmt.Fprintf(&b, "NOT ADOPTED: %d\n  - %s\n\n", len(a.Refused),
			strings.Join(lists.Map(a.Refused, discover.Refused.String), "\n  - "))
	}
	if len(a.Unsure) > 0 {
		fmt.Fprintf(&b, "Not sure:\n  - %s\n\n", strings.Join(a.Unsure, "\n  - "))
	}
	stack := "NAME"
	if len(a.Environments) > 0 {
		fmt.Fprintf(&b, "Environments: %s\n", strings.Join(a.Environments, ", "))
		stack = a.Environments[0]
	}
	if a.Backend != "" {
		fmt.Fprintf(&b, "Backend: %s\n", a.Backend)
	}
	if len(a.Environments) > 0 || a.Backend != "" {
		b.WriteString("\n")
	}
	b.WriteString("Next:\n")
	if o.Given != "" {
		b.WriteString("  cd " + shellescape.Quote(o.Given) + "\n")
	}
	fmt.Fprintf(&b, "  runner status -s %s\n  runner preview -s %[1]s\n", stack)
	return d.Print(b.String())
}

// renameOptions are the options of `runner adopt --rename`.
type renameOptions struct {
	cmd.Common
	Old, New string // names of projects
}

func parseRename(c *cli.Context, _ cmd.Deps, common cmd.Common) (o renameOptions, err error) {
	o = renameOptions{Common: common, Old: c.String("rename"), New: c.Args().First()}
	if o.Old == "" || o.New == "" {
		return o, failure.Usagef("adopt", "--rename takes two names: --rename OLD NEW")
	}
	if c.Bool("print") {
		return o, failure.Usagef("adopt", "--rename and --print: choose one")
	}
	o.LockTimeout, err = cmd.ParseLock(c)
	return o, err
}

// renamed is the result of a rename.
type renamed struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Stack string `json:"stack"`
	// Files are those whose keys have the new name now.
	Files []string `json:"files"`
}

func runRename(ctx context.Context, d cmd.Deps, o renameOptions, resolved *session.Resolved) error {
	locked, err := resolved.Lock(ctx, "adopt")
	if err != nil {
		return err
	}
	s, err := locked.Open(ctx, encryption.Copies{}, false)
	if err != nil {
		return err
	}
	files, err := renamedFiles(resolved, o.Old, o.New)
	if err != nil {
		return err
	}
	isDone := s.Stacks.Summary(o.New).Resources > 0 && s.Stacks.Summary(o.Old).Resources == 0 && len(files) > 0
	if !isDone { // else an earlier call was cut off before it wrote the files
		if err := checkRename(ctx, o, s.Reading); err != nil {
			return err
		}
	}
	if err := s.Leftovers().RefuseLocked(ctx, []string{o.Old, o.New}); err != nil {
		return err
	}
	question := fmt.Sprintf("Let project %s take over the resources deployed as %s in %s?", o.New, o.Old,
		s.Settings.Stack.Text)
	if len(files) > 0 {
		fmt.Fprint(d.Stderr, patches(files))
		question += " The keys of its configuration change as above."
	}
	if err := cmd.Confirm(ctx, d, o.Common, "adopt", question); err != nil {
		return err
	}
	if err := s.Stacks.Rename(ctx, o.Old, o.New); err != nil {
		return err
	}
	if err := writeRenamed(resolved, files); err != nil {
		return err
	}
	text := fmt.Sprintf("the resources deployed as %s belong to %s now\n", o.Old, o.New)
	paths := lists.Map(files, func(f renamedFile) string { return f.path })
	if len(files) > 0 {
		text += fmt.Sprintf("renamed the keys %s:... in %s\n", o.Old, strings.Join(paths, ", "))
	}
	text += fmt.Sprintf("Next: `%s` shows the differences\n", s.Command("preview"))
	return o.Show(d, renamed{Old: o.Old, New: o.New, Stack: s.Settings.Stack.Text, Files: append([]string{}, paths...)}, text)
}

// checkRename refuses a rename that would take a stack from another project or overwrite a
// deployed stack.
func checkRename(ctx context.Context, o renameOptions, s *session.Reading) error {
	own := s.Scope()
	if !slices.Contains(own.Projects, o.New) {
		return &failure.Environment{
			Text: fmt.Sprintf("no project of this environment is named %s%s", o.New, config.DidYouMean(o.New, own.Projects)),
			Next: "rename the project in its Pulumi.yaml and in " + config.MaraFile + " first",
		}
	}
	if slices.Contains(own.Projects, o.Old) {
		return &failure.Environment{
			Text: fmt.Sprintf("%s is a project of this environment, and its stack belongs to it", o.Old),
			Next: "name the project that no longer exists; `" + s.Command("status") + "` lists such stacks",
		}
	}
	if n := s.Stacks.Summary(o.New).Resources; n > 0 {
		return &failure.Environment{
			Text: fmt.Sprintf("%s is deployed already, with %d resources", o.New, n),
			Next: fmt.Sprintf("if they were created by mistake, destroy them first with `%s`",
				s.Command("destroy --only "+o.New)),
		}
	}
	found, err := inventory.FindUnclaimed(ctx, s)
	if err != nil {
		return err
	}
	names := lists.Map(found.Orphans, func(orphan inventory.Orphan) string { return orphan.Project })
	switch {
	case slices.Contains(names, o.Old):
		return found.Place(ctx, s)
	case slices.Contains(found.Strangers, o.Old):
		return &failure.Environment{
			Text: fmt.Sprintf("the stack of %s may belong to another repository: it %s", o.Old, found.Mark),
			Next: "if it belongs to this one, move it with `pulumi stack rename`",
		}
	}
	return &failure.Environment{
		Text: fmt.Sprintf("nothing is deployed as %s in %s%s", o.Old, s.Settings.Stack.Text, config.DidYouMean(o.Old, names)),
		Next: "`" + s.Command("status") + "` lists the stacks that no project claims",
	}
}
