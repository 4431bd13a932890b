package adopt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/process"
)

// Fetch returns `runner fetch`.
func Fetch(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "fetch", Usage: "fetch the git projects of mara.yaml",
		Description: "Fetches each revision that a project in mara.yaml names with git and ref, and stores it in " +
			".runner. Tags and branches are fetched again each time: run this to update a branch. No other command " +
			"fetches; all commands use the stored revisions. It runs the git command with the credentials you have " +
			"set up, and never asks for any.\n\n" +
			"Examples:\n  runner fetch\n  runner fetch -o json\n  runner fetch --root ../platform\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, parseFetch, runFetch),
	}
}

// parseFetch finds the root. Projects that are not fetched yet are no error.
func parseFetch(c *cli.Context, d cmd.Deps) (cmd.Common, error) {
	o, _, err := cmd.ParseBroken(c, d)
	if err == nil && o.Root == "" {
		err = o.NoRoot
	}
	return o, err
}

// fetched is a fetched revision, and its JSON form.
type fetched struct {
	Line      int    `json:"line"` // line in mara.yaml
	URL       string `json:"url"`
	Ref       string `json:"ref"`
	Commit    string `json:"commit"`
	Directory string `json:"directory"`
	source    gitsource.Source
}

func runFetch(ctx context.Context, d cmd.Deps, o cmd.Common) error {
	mara, err := config.ReadMara(o.Root)
	if err != nil {
		return err
	}
	all := sources(mara)
	git := ""
	if len(all) > 0 {
		if git, err = process.Find("git", o.Root, o.Sources.Lookup("PATH").Text); err != nil {
			return &failure.Environment{Text: err.Error() + ", and mara.yaml has git projects", Next: "install git"}
		}
	}
	var problems []config.Problem
	for i := range all {
		f := &all[i]
		if err := f.source.Fetch(ctx, git, o.Root, d.Environ); err != nil {
			if ctx.Err() != nil {
				return err
			}
			problems = append(problems, mara.Problem(f.Line, fmt.Sprintf("%s cannot be fetched: %v", f.source, err)))
			continue
		}
		f.Commit, _ = f.source.Commit(o.Root)
		f.Directory = f.source.Directory(o.Root)
		if o.Output != "json" {
			fmt.Fprintf(d.Stdout, "fetched %s, commit %.12s\n", f.source, f.Commit)
		}
	}
	if len(problems) > 0 {
		return &config.Error{Problems: problems, Next: "try `git ls-remote URL REF`; private repositories need an SSH key " +
			"or a credential helper"}
	}
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, all)
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(d.Stdout, "mara.yaml has no git projects")
	}
	return err
}

// sources returns the distinct revisions that mara.yaml names.
func sources(mara config.Mara) []fetched {
	all := []fetched{}
	for _, p := range mara.AllProjects() {
		source := gitsource.Source{URL: p.Git.Text, Ref: p.Ref.Text}
		if source.URL == "" || slices.ContainsFunc(all, func(f fetched) bool { return f.source == source }) {
			continue
		}
		all = append(all, fetched{Line: p.Git.Line, URL: event.MaskURLs(source.URL), Ref: source.Ref, source: source})
	}
	slices.SortStableFunc(all, func(a, b fetched) int { return strings.Compare(a.URL, b.URL) })
	return all
}
