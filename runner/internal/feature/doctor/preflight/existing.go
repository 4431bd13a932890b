package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/machine/typeset"
)

// existingCluster checks a cluster that is there already: what others have installed, and what the user of its
// kubeconfig may do of all that the projects will do.
func existingCluster(f Facts) Check {
	look := func(ctx context.Context) []Finding {
		ctx, cancel := context.WithTimeout(ctx, 2*cloud.Patience)
		defer cancel()
		client, err := f.Clouds(ctx, f.Provider.InfraType(), cloud.AccessTo(f.Provider, f.Env, f.configured))
		if err != nil {
			return f.accountError(err)
		}
		surveyor, ok := client.(cloud.Surveyor)
		if !ok {
			return Unseen("not asked")
		}
		selected := slices.DeleteFunc(f.Provider.Projects(), func(project model.Project) bool {
			return !slices.Contains(f.projects, project.Name)
		})
		found, err := surveyor.Survey(ctx, cloud.Question{
			Stack: f.Stack, Projects: selected, Settings: f.Provider.Values(f.Config), Rights: true, Absent: f.Absent,
		})
		if err == nil {
			return surveyFindings(found)
		}
		if f.configured(projects.IdentityKey) != "" {
			return Bad(fmt.Sprintf("whether it is the cluster of %s is not known: %v", projects.IdentityKey, err),
				"have it answer, or unset "+projects.IdentityKey)
		}
		return Unseen("not asked: the account shows why")
	}
	return Check{Title: "cluster", Group: Cloud, Limit: 2*cloud.Patience + time.Second, Look: look}
}

// surveyFindings returns what a survey has found: the missing rights as one table.
func surveyFindings(found cloud.Survey) []Finding {
	var findings []Finding
	for _, obstacle := range found.Problems {
		findings = append(findings, Bad(obstacle.Text, obstacle.Next)...)
	}
	for _, claim := range found.Claims {
		findings = append(findings, Finding{Status: Problem, Text: claim.Text, Remedy: claim.Next, IfAbsent: claim.Project})
	}
	if len(found.Missing) > 0 {
		findings = append(findings, Finding{
			Status: Problem,
			Text:   "the user of the kubeconfig lacks " + typeset.Counted(len(found.Missing), "right"),
			Table:  rightsTable(found.Missing),
			Remedy: "have an administrator grant them, or leave the projects out",
		})
	}
	for _, obstacle := range found.Doubts {
		findings = append(findings, Doubtful(obstacle.Text, obstacle.Next)...)
	}
	for _, fact := range found.Facts {
		findings = append(findings, Good(fact)...)
	}
	return findings
}

// rightsTable shows missing rights.
func rightsTable(missing []cloud.Right) string {
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "WHERE"}, {Title: "RESOURCE"}, {Title: "MISSING"}, {Title: "NEEDED BY"},
	}}
	table.Rows = lists.Map(missing, func(right cloud.Right) []string {
		return []string{right.Place(), right.Name(), strings.Join(right.Verbs, ", "), strings.Join(right.Projects, ", ")}
	})
	return table.Text(160)
}
