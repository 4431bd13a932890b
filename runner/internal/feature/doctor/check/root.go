package check

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/policy"
	"mara/runner/internal/feature/policy/cost"
)

// Root checks the files that all environments of a root share. broken is what is wrong with the environment file or
// mara.yaml.
func Root(ctx context.Context, d session.Deps, o session.Options, broken error) []Finding {
	found := list{root: o.Root}
	found.addError(Projects, nil, broken)
	_, err := policy.Load(o.Root)
	found.addError(Policies, nil, err)
	_, err = cost.Load(o.Root)
	found.addError(Prices, nil, err)
	found.add(WithoutGuards(ctx, d, o)...)
	return found.all
}

// WithoutGuards checks what Root checks, but for mara.yaml, policies and prices, which an operation has loaded.
func WithoutGuards(ctx context.Context, d session.Deps, o session.Options) []Finding {
	found := list{root: o.Root}
	found.add(variables(d, o)...)
	found.addError(Queries, nil, queries(o.Root))
	found.add(inGit(ctx, o)...)
	return found.all
}

// variables judges the names in the environment file that look like variables of the runner.
func variables(d session.Deps, o session.Options) (found []Finding) {
	const prefix = "RUNNER_" // of the runner's own variables
	if d.Variables == nil {
		return nil
	}
	known := lists.Map(d.Variables(), func(name string) string { return strings.TrimPrefix(name, prefix) })
	for _, v := range o.Sources.File.Variables() {
		name, isOurs := strings.CutPrefix(v.Name, prefix)
		if !isOurs || slices.Contains(known, name) {
			continue
		}
		hint := ""
		if meant := config.Suggest(name, known); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", prefix+meant)
		}
		text := "is no variable of the runner" + hint
		problem := config.Problem{File: config.EnvironmentFile, Line: v.Line, Key: v.Name, Text: text}
		found = append(found, Finding{Problem: problem, Kind: Variables, Doubt: hint == ""})
	}
	for _, problem := range o.Sources.File.Steering() {
		found = append(found, Finding{Problem: problem, Kind: Variables, Doubt: true})
	}
	return found
}

// queries compiles all queries of the root.
func queries(root string) error {
	all, err := query.All(root)
	errs := []error{err}
	for _, named := range all {
		if named.File == "" { // shipped
			continue
		}
		if _, err := query.Compile(named.Source); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", named.File, err))
		}
	}
	return config.Join(errs...)
}

// inGit judges what git has of the files that are read: ignored files are missing on other machines, and an
// environment file with a secret does not belong into it. Outside of a repository there is nothing to judge.
func inGit(ctx context.Context, o session.Options) (found []Finding) {
	list := func(files []string, command string) []string {
		found, _ := gitsource.List(ctx, o.Root, o.Sources.Process, files, command)
		return found // a git that fails tells nothing
	}
	for _, file := range list(readFiles(o), "check-ignore") {
		problem := config.Problem{File: file, Text: "is read, but git ignores it: other machines will not have it"}
		found = append(found, Finding{Problem: problem, Kind: Git, Doubt: true})
	}
	variables := slices.DeleteFunc(o.Sources.File.Variables(), func(v config.Variable) bool {
		return v.Value == "" || len(session.SecretsOf(map[string]string{v.Name: v.Value})) == 0
	})
	if len(variables) == 0 || len(list([]string{config.EnvironmentFile}, "ls-files")) == 0 {
		return found
	}
	for _, v := range variables {
		problem := config.Problem{File: config.EnvironmentFile, Line: v.Line, Key: v.Name,
			Text: "looks like a secret, and git has the file: take it out of git, and set a new value"}
		found = append(found, Finding{Problem: problem, Kind: Git, Doubt: true})
	}
	return found
}

// readFiles returns the files of a root that are read, as patterns have found them.
func readFiles(o session.Options) []string {
	var names []string
	for _, pattern := range []string{
		config.MaraFile, config.StackPath("*"), config.SecretsPath("*"),
		"config/*.yaml", "config/environments/*.yaml", "config/layers/*.yaml", "policies/*", "queries/*.jq",
	} {
		matches, _ := files.Glob(o.Root, pattern) // the patterns are valid
		for _, match := range matches {
			if name, err := filepath.Rel(o.Root, match); err == nil {
				names = append(names, filepath.ToSlash(name))
			}
		}
	}
	for _, project := range o.Known().Projects {
		if project.Own != nil && project.Own.Git == "" {
			names = append(names, path.Join(project.Directory(), config.ManifestFile))
		}
	}
	return names
}
