package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/machine/parallel"
)

// offersCheck asks the cloud whether it offers what the configuration names: region, zones, types of nodes, versions of
// Kubernetes. open opens the stacks.
func (e *Examination) offersCheck(open opener) []preflight.Check {
	if e.unresolved != nil || e.Session.Deps.CloudClients == nil || !e.Options.Operation.RunsPrograms() {
		return nil
	}
	o := newOffers(e.Session, e.plan, func(project string) bool {
		s, err := open()
		return err == nil && s.Stacks.IsDeployed(project)
	})
	if len(o.wanted) == 0 {
		return nil
	}
	return []preflight.Check{{
		Name: "offers", Title: o.title(), Group: preflight.Cloud, Limit: cloud.Patience + backendTime, Look: o.look,
	}}
}

// StartOffers asks the cloud, while the environment opens, whether it offers what the configuration of projects names. The
// returned function waits for the answer, and adds to the warnings of the environment what the cloud does not offer for
// projects that are not deployed. What could not be asked is for the doctor to say.
func StartOffers(ctx context.Context, s *session.Resolved) (wait func(*stacks.Set)) {
	selected, err := plan.Select(s.Plan, s.Options.Selection)
	if err != nil || s.Options.Simulation.On || s.Deps.CloudClients == nil || !s.Options.Operation.RunsPrograms() {
		return func(*stacks.Set) {}
	}
	o := newOffers(s, selected, nil)
	if len(o.wanted) == 0 {
		return func(*stacks.Set) {}
	}
	var asked answers
	var ok bool
	done := inBackground(ctx, s, func(ctx context.Context) { asked, ok = o.ask(ctx) })
	return func(set *stacks.Set) {
		o.deployed = set.IsDeployed
		o.wanted = slices.DeleteFunc(o.wanted, func(w model.Wanted) bool { return o.deployed(w.Project) })
		if len(o.wanted) == 0 {
			return // what is deployed may keep what it has
		}
		if done(); !ok {
			return // a cloud that was not asked has denied nothing
		}
		for _, finding := range o.compare(asked) {
			if finding.Status == preflight.Problem {
				s.Warnings = append(s.Warnings, s.Masker.Mask(o.title()+": "+finding.Text))
			}
		}
	}
}

// offers compares names of the configuration with what the cloud offers.
type offers struct {
	session  *session.Resolved
	wanted   []model.Wanted
	places   []string // of the nodes
	deployed func(project string) bool
}

func newOffers(s *session.Resolved, p plan.Plan, deployed func(project string) bool) offers {
	wanted, places := s.Provider.Wanted(s.Settings.Config, p.Names())
	return offers{s, wanted, places, deployed}
}

func (o offers) title() string { return "offers of " + o.session.Provider.Title }

// answers are what a cloud has said about its lists.
type answers map[model.List]answer

// answer is a list of a cloud, or why it could not be had.
type answer struct {
	names []string
	err   error
}

// look fetches the offered names and compares them with the configuration.
func (o offers) look(ctx context.Context) []preflight.Finding {
	asked, ok := o.ask(ctx)
	if !ok {
		return preflight.Unseen("not asked: the account shows why")
	}
	return o.compare(asked)
}

// ask asks the cloud for its lists, all at once; ok is false if there is no client that could.
func (o offers) ask(ctx context.Context) (asked answers, ok bool) {
	asking, cancel := context.WithTimeout(ctx, cloud.Patience)
	defer cancel()
	s := o.session
	access := cloud.AccessTo(s.Provider, s.Env, func(key string) string { return s.Settings.Config.Text(key).Text })
	client, err := s.Deps.CloudClients(asking, s.Provider.InfraType(), access)
	catalogue, ok := client.(cloud.Catalogue)
	if err != nil || !ok {
		return asked, false
	}
	wanted := lists.Map(o.wanted, func(w model.Wanted) model.List { return w.List })
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	asked = answers{}
	each, _ := parallel.Each(asking, wanted, func(ctx context.Context, list model.List) (answer, error) {
		names, err := catalogue.Offers(ctx, list, o.places)
		return answer{names, err}, nil
	})
	for i, list := range wanted {
		asked[list] = each[i]
	}
	return asked, true
}

// compare returns what is not offered, and what could not be compared: one finding for each reason.
func (o offers) compare(asked answers) (found []preflight.Finding) {
	there := slices.Concat(asked[model.Regions].names, asked[model.Zones].names)
	o.places = slices.DeleteFunc(slices.Clone(o.places), func(place string) bool { return !slices.Contains(there, place) })
	var good, reasons []string
	left := map[string][]string{} // keys that could not be compared, by the reason
	next := map[string]string{}
	for _, w := range o.wanted {
		list := asked[w.List]
		switch {
		case list.err != nil:
			reason, remedy := reasonOf(list.err)
			if left[reason] == nil {
				reasons = append(reasons, reason)
			}
			if !slices.Contains(left[reason], w.Key) {
				left[reason] = append(left[reason], w.Key)
			}
			next[reason] = remedy
		case slices.Contains(list.names, w.Name):
			good = append(good, w.Name)
		default:
			found = append(found, o.missing(w, list.names))
		}
	}
	for _, reason := range reasons {
		text := fmt.Sprintf("%s; not compared: %s", reason, strings.Join(left[reason], ", "))
		found = append(found, preflight.Doubtful(text, next[reason])...)
	}
	if len(found) == 0 {
		return preflight.Good("there are " + strings.Join(good, ", "))
	}
	return found
}

// reasonOf returns why a cloud gave no answer, and what to do about it.
func reasonOf(err error) (text, next string) {
	if failed, ok := errors.AsType[*cloud.Error](err); ok {
		return failed.Text, failed.Next
	}
	return err.Error(), ""
}

// missing returns the finding of a name that the cloud does not offer. What is deployed may keep it.
func (o offers) missing(w model.Wanted, names []string) preflight.Finding {
	where := ""
	switch {
	case w.List != model.NodeTypes:
	case len(o.places) == 1:
		where = " in " + o.places[0]
	case len(o.places) > 1:
		where = " in all of " + strings.Join(o.places, ", ")
	}
	verb := "is"
	if o.session.Provider.Key(w.Key).Kind != config.String { // of a list, or a map
		verb = "has"
	}
	text := fmt.Sprintf("%s %s %q, which %s does not offer%s%s",
		w.Key, verb, w.Name, o.session.Provider.Title, where, suggestion(w, names))
	finding := preflight.Finding{Status: preflight.Problem, Text: text}
	finding.Remedy = "set " + w.Key + " to a name that is offered"
	if o.deployed(w.Project) {
		finding.Status = preflight.Warning
		finding.Remedy = w.Project + " is deployed and may keep it; a new one could not have it"
	}
	return finding
}

// suggestion returns the nearest name, or all names if they are few.
func suggestion(w model.Wanted, names []string) string {
	const few = 8
	if similar := config.DidYouMean(w.Name, names); similar != "" || len(names) > few {
		return similar
	}
	return "; it offers " + strings.Join(names, ", ")
}
