package check

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/core/event"
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
	rules, err := policy.Load(o.Root)
	found.addError(Policies, nil, err)
	for _, doubt := range rules.Doubts(time.Now()) {
		found.add(Finding{Problem: doubt, Kind: Policies, Doubt: true})
	}
	_, err = cost.Load(o.Root)
	found.addError(Prices, nil, err)
	found.add(WithoutGuards(ctx, d, o)...)
	return found.all
}

// WithoutGuards checks what Root checks, but for mara.yaml, policies and prices, which an operation has loaded.
func WithoutGuards(ctx context.Context, d session.Deps, o session.Options) []Finding {
	found := list{root: o.Root}
	found.add(variables(d, o)...)
	found.add(unread(o)...)
	found.add(mistyped(o)...)
	for _, doubt := range o.Known().Doubts {
		found.add(Finding{Problem: doubt, Kind: Projects, Doubt: true})
	}
	found.addError(Queries, nil, queries(o.Root))
	found.add(inGit(ctx, o)...)
	return found.all
}

// mistyped doubts variables whose names are nearly those of Pulumi or a cloud, and refuses values that the keys for
// which they stand do not take.
func mistyped(o session.Options) (found []Finding) {
	known := []string{
		"PULUMI_STACK", "PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE",
		"PULUMI_ACCESS_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
		"LINODE_TOKEN", "DIGITALOCEAN_TOKEN", "KUBECONFIG",
	}
	others := map[string]string{ // by which other tools and habits call them
		"PULUMI_BACKEND": "PULUMI_BACKEND_URL", "PULUMI_PASSPHRASE": "PULUMI_CONFIG_PASSPHRASE", "PULUMI_TOKEN": "PULUMI_ACCESS_TOKEN",
		"LINODE_API_TOKEN": "LINODE_TOKEN", "LINODE_CLI_TOKEN": "LINODE_TOKEN",
	}
	keys := o.DeclaredKeys()
	for _, v := range o.Sources.File.Variables() {
		problem := config.Problem{File: config.EnvironmentFile, Line: v.Line, Key: v.Name}
		if meant := cmp.Or(others[v.Name], config.Suggest(v.Name, known)); meant != "" && !slices.Contains(known, v.Name) &&
			!strings.HasPrefix(v.Name, "PULUMI_CONFIG_PASSPHRASE_") {
			problem.Text = fmt.Sprintf("is read by nobody here; did you mean %q?", meant)
			found = append(found, Finding{Problem: problem, Kind: Variables, Doubt: true})
		}
		key, ok := lists.Find(keys, func(k config.Key) bool { return slices.Contains(k.Variables, v.Name) })
		if !ok || v.Value == "" || key.Kind != config.String {
			continue
		}
		if err := key.Validate(v.Value); err != nil {
			problem.Text = err.Error()
			found = append(found, Finding{Problem: problem, Kind: Variables})
		}
	}
	return found
}

// unread finds files that nobody reads because of their names or places.
func unread(o session.Options) (found []Finding) {
	kinds := []struct {
		kind     Kind
		problems []config.Problem
	}{
		{Projects, config.Unread(o.Root, []string{config.MaraFile})},
		{Queries, append(config.Unread(o.Root, []string{query.Directory + "/"}, ".jq"),
			config.UnreadIn(o.Root, query.Directory, ".jq")...)},
		{Configuration, config.Unread(o.Root, []string{config.EnvironmentsDir + "/", config.LayersDir + "/"}, ".yaml",
			".yml")},
		{Variables, config.Unread(o.Root, []string{config.EnvironmentFile})},
		{Configuration, elsewhere(o.Root)},
	}
	for _, of := range kinds {
		for _, problem := range of.problems {
			found = append(found, Finding{Problem: problem, Kind: of.kind})
		}
	}
	return found
}

// elsewhere finds files that are read, but in another directory.
func elsewhere(root string) (problems []config.Problem) {
	isThere := func(name string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && !info.IsDir()
	}
	moves := [][2]string{
		{"config/" + config.MaraFile, config.MaraFile}, {config.Directory + "/" + config.MaraFile, config.MaraFile},
		{"config/prices.yaml", "prices.yaml"}, {"config/policies.yaml", policy.SettingsFile},
		{"policies.yaml", policy.SettingsFile},
		{"config/environment", config.EnvironmentFile}, {config.Directory + "/.env", config.EnvironmentFile},
		{"environment", config.EnvironmentFile}, {config.Directory + "/env", config.EnvironmentFile},
		{config.Directory + "/environment.env", config.EnvironmentFile},
	}
	ofRoot, _ := filepath.Glob(filepath.Join(root, "Pulumi.*.yaml")) // the pattern is valid
	ofConfig, _ := filepath.Glob(filepath.Join(root, "config", "Pulumi.*.yaml"))
	for _, file := range slices.Concat(ofRoot, ofConfig) {
		name, err := filepath.Rel(root, file)
		if err != nil || isThere(path.Join(path.Dir(filepath.ToSlash(name)), config.ManifestFile)) { // the files of a project
			continue
		}
		moves = append(moves, [2]string{filepath.ToSlash(name), config.Directory + "/" + filepath.Base(file)})
	}
	for _, move := range moves {
		if isThere(move[0]) {
			problems = append(problems, config.Problem{File: move[0], Text: "is not read there; move it to " + move[1]})
		}
	}
	if name := config.Directory + "/" + config.ManifestFile; isThere(name) {
		problems = append(problems, config.Problem{File: name,
			Text: "describes a project, and no project is here; the stack files here are named Pulumi.ENVIRONMENT.yaml"})
	}
	entries, _ := os.ReadDir(filepath.Join(root, filepath.FromSlash(config.Directory)))
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), "Pulumi.") {
			problems = append(problems, config.Problem{File: config.Directory + "/" + entry.Name(),
				Text: "is a directory, not a stack file"})
		}
	}
	return problems
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
		named.File = query.Directory + "/" + named.Name + ".jq"
		errs = append(errs, sourcesOf(named))
		if _, err := query.Compile(named.Source); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", named.File, err))
		}
	}
	return config.Join(errs...)
}

// sourcesOf returns an error about what a query says it reads and nothing gives: it would be asked about something else.
func sourcesOf(named query.Named) error {
	known := []string{"state", "live"}
	for i, line := range strings.Split(named.Source, "\n") {
		reads, ok := strings.CutPrefix(strings.ReplaceAll(line, " ", ""), "#reads:")
		if !ok {
			continue
		}
		for _, word := range strings.Split(reads, ",") {
			if !slices.Contains(known, word) {
				text := fmt.Sprintf("reads has %q; there are: %s%s", word, strings.Join(known, ", "), config.DidYouMean(word, known))
				return &config.Error{Problems: []config.Problem{{File: named.File, Line: i + 1, Text: text}}}
			}
		}
	}
	return nil
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
		return v.Value == "" || len(event.SecretsOf(map[string]string{v.Name: v.Value})) == 0
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
