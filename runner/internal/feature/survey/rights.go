package survey

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/machine/parallel"
)

// verbs lists what a project does with what it makes.
func verbs() []string { return []string{"get", "create", "patch", "delete"} }

// rights asks what the user of the kubeconfig may not do of all that the projects will do. One question is enough for a
// user that may do everything.
func (e *examination) rights() {
	if everything, err := e.may(e.ctx, "*", model.Access{Group: "*", Resource: "*"}); err == nil && everything {
		e.fact("rights: all")
		return
	}
	needed := e.needed()
	type question struct {
		right int
		verb  string
	}
	var questions []question
	for i := range needed {
		for _, verb := range verbs() {
			questions = append(questions, question{i, verb})
		}
	}
	denied, err := parallel.Each(e.ctx, questions, func(ctx context.Context, q question) (bool, error) {
		allowed, err := e.may(ctx, q.verb, needed[q.right].Access)
		return !allowed, err
	})
	if err != nil {
		e.doubt("", "what the user of the kubeconfig may do is not known: %v", err)
		return
	}
	for i, isDenied := range denied {
		if isDenied {
			right := &needed[questions[i].right]
			right.Verbs = append(right.Verbs, questions[i].verb)
		}
	}
	e.found.Missing = slices.DeleteFunc(needed, func(r cloud.Right) bool { return len(r.Verbs) == 0 })
	if len(e.found.Missing) == 0 {
		e.fact("rights: all that the projects need")
		e.escalation(needed)
	}
	var own []string // what their programs make is known when they run
	for _, project := range e.question.Projects {
		if project.Own != nil && len(projects.AccessOf(project)) == 0 {
			own = append(own, project.Name)
		}
	}
	if len(own) > 0 {
		e.fact("rights: not asked for %s, whose programs are yours", strings.Join(own, ", "))
	}
}

// escalation doubts roles of charts: the API server refuses roles with rights that the user does not have itself.
func (e *examination) escalation(needed []cloud.Right) {
	makesRoles := slices.ContainsFunc(needed, func(r cloud.Right) bool { return r.Resource == "clusterroles" })
	may, err := e.may(e.ctx, "escalate", model.Access{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"})
	if makesRoles && err == nil && !may {
		e.doubt("", "the user may make ClusterRoles, but not with rights that it does not have itself: charts may need those")
	}
}

// needed lists what the projects make, each resource once.
func (e *examination) needed() []cloud.Right {
	var needed []cloud.Right
	for _, project := range e.question.Projects {
		used := project.Name == projects.CertManager().Name && e.foreign
		for _, access := range projects.AccessOf(project) {
			if used && access.Resource != "clusterissuers" {
				continue
			}
			i := slices.IndexFunc(needed, func(r cloud.Right) bool { return r.Access == access })
			if i < 0 {
				needed = append(needed, cloud.Right{Access: access})
				i = len(needed) - 1
			}
			if !slices.Contains(needed[i].Projects, project.Name) {
				needed[i].Projects = append(needed[i].Projects, project.Name)
			}
		}
	}
	slices.SortStableFunc(needed, func(a, b cloud.Right) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name(), b.Name()))
	})
	return needed
}

// may asks whether the user may do something.
func (e *examination) may(ctx context.Context, verb string, access model.Access) (bool, error) {
	attributes := map[string]any{"verb": verb, "group": access.Group, "resource": access.Resource}
	if access.Namespace != "" {
		attributes["namespace"] = access.Namespace
	}
	answer, err := e.review(ctx, "authorization.k8s.io", "SelfSubjectAccessReview",
		map[string]any{"resourceAttributes": attributes})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}
