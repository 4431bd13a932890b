package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
)

// programs parses the programs in Pulumi YAML of an environment.
func programs(s *session.Resolved) []Finding {
	found, in := list{root: s.Settings.Root}, []string{s.Settings.Stack.Text}
	names := lists.Map(s.Plan.Steps, func(step plan.Step) string { return step.Project.Name })
	for _, step := range s.Plan.Steps {
		project := step.Project
		if text := unmeasured(s.Provider, project, names); text != "" {
			problem := config.Problem{File: config.MaraFile, Line: project.Own.Line, Text: text}
			found.add(Finding{Problem: problem, Kind: Projects, Doubt: true})
		}
		if project.Own == nil || project.Own.Generated {
			continue
		}
		source, err := contract.ReadSource(project.Own.Dir, project.Directory())
		if err != nil {
			found.addError(Projects, nil, err)
			continue
		}
		if problem, excluded := source.Excludes(sdk.Version); excluded && s.Options.Pulumi == "" {
			found.add(Finding{Problem: problem, Kind: Projects, Environments: in})
		}
		if source.Root == nil {
			for _, doubt := range source.Entry(project.Own.Dir) {
				found.add(Finding{Problem: doubt, Kind: Projects, Doubt: true, Environments: in})
			}
			for _, problem := range source.Validate(nil) {
				found.add(Finding{Problem: problem, Kind: Projects, Environments: in})
			}
			continue
		}
		if !project.Own.Generated {
			for _, output := range project.Outputs {
				if lacks, hint := source.Lacks(output.Name); lacks {
					text := fmt.Sprintf("outputs names %q, which %s does not export%s", output.Name, source.File, hint)
					found.add(Finding{Problem: config.Problem{File: config.MaraFile, Line: output.Line, Text: text}, Kind: Outputs})
				}
			}
		}
		for _, doubt := range append(source.ShortReferences(names), source.Doubts()...) {
			found.add(Finding{Problem: doubt, Kind: Projects, Doubt: true, Environments: in})
		}
		beside, _ := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project) // its reader reports problems
		entries := configured(s, project, beside)
		for _, entry := range entries {
			if text := seen(project, entry); text != "" && !s.Settings.Config.Accepts(entry.Key) {
				problem := s.Settings.Config.Problem(entry.Key, text)
				found.add(Finding{Problem: problem, Kind: Projects, Doubt: true, Environments: in})
			}
		}
		for _, doubt := range ofOthers(s, project, beside, source) {
			found.add(Finding{Problem: doubt, Kind: Projects, Doubt: true, Environments: in})
		}
		for _, problem := range source.Validate(keysOf(project, entries)) {
			found.add(Finding{Problem: problem, Kind: Projects, Environments: in})
		}
	}
	return found.all
}

// ofOthers doubts keys of other projects in the stack file next to a program that does not read them: the other one does not
// read this file.
func ofOthers(s *session.Resolved, project model.Project, beside config.StackFile, source contract.Source) (doubts []config.Problem) {
	declared := lists.Map(s.Options.DeclaredKeys(), func(k config.Key) string { return k.Name })
	for _, entry := range beside.Entries {
		namespace, _, _ := strings.Cut(entry.Key, ":")
		other, isProject := s.Options.Known().Project(namespace)
		if !isProject || other.Name == project.Name || !slices.Contains(declared, entry.Key) || source.Mentions(entry.Key) {
			continue
		}
		doubts = append(doubts, beside.Problem(entry.Key, fmt.Sprintf("is read by %s, which does not read this file, and not by %s", other.Name, project.Name)))
	}
	return doubts
}

// configured returns what the environment configures for a project of the user, in the shared stack file and in the one next to it.
func configured(s *session.Resolved, project model.Project, beside config.StackFile) []config.Entry {
	return slices.DeleteFunc(slices.Concat(s.Settings.Config.Entries, beside.Entries), func(e config.Entry) bool {
		return !strings.HasPrefix(e.Key, project.Name+":")
	})
}

// keysOf returns the names of the values that an environment has for a project of the user, with those that it configures.
func keysOf(project model.Project, configured []config.Entry) (keys []string) {
	for _, entry := range configured {
		keys = append(keys, strings.TrimPrefix(entry.Key, project.Name+":"))
	}
	for _, secret := range project.Secrets {
		keys = append(keys, strings.TrimPrefix(secret.Key, project.Name+":"))
	}
	return keys
}

// Failing returns an error about that in the files of the selected projects with which an operation certainly fails: later, when
// it has changed something already.
func Failing(s *session.Resolved, selected plan.Plan) error {
	var problems []config.Problem
	for _, file := range stackFiles(s) {
		problems = append(problems, file.CheckHeader()...)
	}
	isSelected := map[string]bool{}
	for _, step := range selected.Steps {
		project := step.Project
		isSelected[project.Name] = true
		if project.Own == nil || project.Own.Generated {
			continue
		}
		source, err := contract.ReadSource(project.Own.Dir, project.Directory())
		if err != nil {
			continue // the session has refused it, or Pulumi does
		}
		if problem, excluded := source.Excludes(sdk.Version); excluded && s.Options.Pulumi == "" {
			problems = append(problems, problem)
		}
		beside, _ := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project) // its reader reports problems
		problems = append(problems, source.Failing(keysOf(project, configured(s, project, beside)))...)
	}
	for _, place := range takenPlaces(s) {
		if !place.Doubt && isSelected[place.project] {
			problems = append(problems, place.Problem)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &config.Error{Problems: problems, Next: "nothing was changed; --skip NAME leaves a project out, and `runner check` looks at all files"}
}

// unmeasured describes an application that scales by metrics of Pods where nothing measures them; "" for others. Clusters of
// clouds may have a metrics server of their own.
func unmeasured(provider model.Provider, project model.Project, names []string) string {
	if !project.IsApplication() || !provider.Local || slices.Contains(names, projects.MetricsServer().Name) {
		return ""
	}
	if _, scales := project.Key(project.Name + ":min"); !scales {
		return ""
	}
	return fmt.Sprintf("the application %s scales by what its Pods use, and nothing measures that on %s; write  with: [%s]  at the provider",
		project.Name, provider.Name, projects.MetricsServer().Name)
}

// comparedStack matches the comparison of a condition with the name of an environment.
var comparedStack = regexp.MustCompile(`\.stack *[!=]= *"([^"]*)"`)

// conditions doubts conditions and variables with a name that is nearly that of an environment.
func conditions(o Options, environments []string) (found []Finding) {
	for _, project := range o.Known().Projects {
		if project.Own == nil {
			continue
		}
		for _, v := range project.Own.Env {
			for _, name := range slices.Sorted(maps.Keys(v.Of)) {
				if meant := config.DidYouMean(name, environments); meant != "" && !slices.Contains(environments, name) {
					text := fmt.Sprintf("env of %s: %s has a value for %s, and there is no such environment%s", project.Name, v.Name.Text, name, meant)
					found = append(found, Finding{Kind: Projects, Doubt: true,
						Problem: config.Problem{File: config.MaraFile, Line: v.Name.Line, Text: text}})
				}
			}
		}
		for _, match := range comparedStack.FindAllStringSubmatch(project.Own.When, -1) {
			meant := config.DidYouMean(match[1], environments)
			if meant == "" || slices.Contains(environments, match[1]) {
				continue
			}
			text := fmt.Sprintf("when of %s compares with %q, and there is no such environment%s", project.Name, match[1], meant)
			found = append(found, Finding{Kind: Projects, Doubt: true,
				Problem: config.Problem{File: config.MaraFile, Line: project.Own.WhenLine, Text: text}})
		}
	}
	return found
}

// seen describes what a program sees of a text in quotes that it does not declare: Pulumi YAML makes a number of
// "1.10". It returns "" if it sees the text.
func seen(project model.Project, entry config.Entry) string {
	text, isText := entry.Value.(string)
	isKey := func(k config.Key) bool { return k.Name == entry.Key }
	isSecret := func(s model.Secret) bool { return s.Key == entry.Key }
	if _, declared := lists.Find(project.Keys, isKey); declared || !isText {
		return ""
	}
	if _, declared := lists.Find(project.Secrets, isSecret); declared {
		return ""
	}
	if len(text) > 1 && text[0] == '0' && !strings.HasPrefix(text, "0.") {
		return ""
	}
	var value any
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		value = number
	} else if truth, err := strconv.ParseBool(text); err == nil {
		value = truth
	} else if json.Unmarshal([]byte(text), &value) != nil {
		return ""
	}
	if fmt.Sprint(value) == text {
		return ""
	}
	return fmt.Sprintf("is not declared in %s/%s, and the program sees %v and not %q; declare it there: "+
		"config: {%s: {type: string}}", project.Directory(), config.ManifestFile, value, text, strings.TrimPrefix(entry.Key, project.Name+":"))
}
