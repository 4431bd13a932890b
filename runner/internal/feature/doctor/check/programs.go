package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/core/session"
)

// programs parses the programs in Pulumi YAML of an environment.
func programs(s *session.Session) []Finding {
	found, in := list{root: s.Settings.Root}, []string{s.Settings.Stack.Text}
	for _, step := range s.Plan.Steps {
		project := step.Project
		if project.Own == nil || project.Own.Generated {
			continue
		}
		source, err := contract.ReadSource(project.Own.Dir, project.Directory())
		if err != nil {
			found.addError(Projects, nil, err)
			continue
		}
		if source.Root == nil {
			continue
		}
		var keys []string
		beside, _ := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project) // its reader reports problems
		for _, entry := range slices.Concat(s.Settings.Config.Entries, beside.Entries) {
			name, isOwn := strings.CutPrefix(entry.Key, project.Name+":")
			if !isOwn {
				continue
			}
			keys = append(keys, name)
			if text := seen(project, entry); text != "" && !s.Settings.Config.Accepts(entry.Key) {
				problem := s.Settings.Config.Problem(entry.Key, text)
				found.add(Finding{Problem: problem, Kind: Projects, Doubt: true, Environments: in})
			}
		}
		for _, secret := range project.Secrets {
			keys = append(keys, strings.TrimPrefix(secret.Key, project.Name+":"))
		}
		for _, problem := range source.Validate(keys) {
			found.add(Finding{Problem: problem, Kind: Projects, Environments: in})
		}
	}
	return found.all
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
