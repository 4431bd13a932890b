package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/providers"
	"mara/providers/cloud"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/preflight"
)

// offersCheck asks the cloud whether it offers what the configuration names: region, zones, types of nodes, versions of
// Kubernetes. ok is false if there is nothing to ask. open opens the stacks.
func (e *Examination) offersCheck(open func() error) (check preflight.Check, ok bool) {
	if e.unresolved != nil || e.Session.Deps.CloudClients == nil || !e.Options.Operation.RunsPrograms() {
		return check, false
	}
	wanted, places := e.Provider.Wanted(e.Session.Settings.Config, e.plan.Names())
	o := offers{e, places, open}
	look := func(ctx context.Context) []preflight.Finding { return o.look(ctx, wanted) }
	return preflight.Check{
		Name: "offers", Title: "offers of " + e.Provider.Title, Group: preflight.Cloud,
		Limit: cloud.Patience + backendTime, Look: look,
	}, len(wanted) > 0
}

// offers compares names of the configuration with what the cloud offers.
type offers struct {
	*Examination
	places []string // of the nodes
	open   func() error
}

// look asks the cloud for its lists, all at once.
func (o offers) look(ctx context.Context, wanted []providers.Wanted) []preflight.Finding {
	asking, cancel := context.WithTimeout(ctx, cloud.Patience)
	defer cancel()
	file := o.Session.Settings.Config
	access := cloud.AccessTo(o.Provider, o.environ(), func(key string) string { return file.Text(key).Text })
	client, err := o.Session.Deps.CloudClients(asking, o.Provider.InfraType(), access)
	catalogue, ok := client.(cloud.Catalogue)
	if err != nil || !ok {
		return preflight.Unseen("not asked: the account shows why")
	}
	var lists []providers.List
	for _, w := range wanted {
		if !slices.Contains(lists, w.List) {
			lists = append(lists, w.List)
		}
	}
	names := make(map[providers.List][]string, len(lists))
	failed := map[providers.List]error{}
	answers, _ := parallel.Each(asking, lists, func(ctx context.Context, list providers.List) (answer, error) {
		names, err := catalogue.Offers(ctx, list, o.places)
		return answer{names, err}, nil
	})
	for i, list := range lists {
		names[list], failed[list] = answers[i].names, answers[i].err
	}
	isOffered := func(place string) bool {
		return slices.Contains(names[providers.Regions], place) || slices.Contains(names[providers.Zones], place)
	}
	o.places = slices.DeleteFunc(o.places, func(place string) bool { return !isOffered(place) })
	return o.compare(ctx, wanted, names, failed)
}

// answer is what a cloud has said about one list.
type answer struct {
	names []string
	err   error
}

// compare returns what is not offered, and what could not be compared: one finding for each reason.
func (o offers) compare(
	ctx context.Context, wanted []providers.Wanted, names map[providers.List][]string, failed map[providers.List]error,
) (found []preflight.Finding) {
	var good, reasons []string
	left := map[string][]string{} // keys that could not be compared, by the reason
	next := map[string]string{}
	for _, w := range wanted {
		if err := failed[w.List]; err != nil {
			reason, remedy := reasonOf(err)
			if left[reason] == nil {
				reasons = append(reasons, reason)
			}
			if !slices.Contains(left[reason], w.Key) {
				left[reason] = append(left[reason], w.Key)
			}
			next[reason] = remedy
			continue
		}
		if slices.Contains(names[w.List], w.Name) {
			good = append(good, w.Name)
			continue
		}
		found = append(found, o.missing(ctx, w, names[w.List]))
	}
	for _, reason := range reasons {
		keys := left[reason]
		text := fmt.Sprintf("%s; not compared: %s", reason, strings.Join(keys, ", "))
		found = append(found, preflight.Doubtful(text, next[reason])...)
	}
	if len(found) == 0 {
		return preflight.Good("there are " + strings.Join(good, ", "))
	}
	return found
}

// reasonOf returns why a cloud gave no answer, and what to do about it.
func reasonOf(err error) (text, next string) {
	var failed *cloud.Error
	if errors.As(err, &failed) {
		return failed.Text, failed.Next
	}
	return err.Error(), ""
}

// missing returns the finding of a name that the cloud does not offer. What is deployed may keep it.
func (o offers) missing(ctx context.Context, w providers.Wanted, names []string) preflight.Finding {
	where := ""
	switch {
	case w.List != providers.NodeTypes:
	case len(o.places) == 1:
		where = " in " + o.places[0]
	case len(o.places) > 1:
		where = " in all of " + strings.Join(o.places, ", ")
	}
	verb := "is"
	if o.Provider.Key(w.Key).Kind != config.String { // of a list, or a map
		verb = "has"
	}
	text := fmt.Sprintf("%s %s %q, which %s does not offer%s%s",
		w.Key, verb, w.Name, o.Provider.Title, where, suggestion(w, names))
	finding := preflight.Finding{Status: preflight.Problem, Text: text}
	finding.Remedy = "set " + w.Key + " to a name that is offered"
	if o.open() == nil && o.Session.Stacks.IsDeployed(w.Project) {
		finding.Status = preflight.Warning
		finding.Remedy = w.Project + " is deployed and may keep it; a new one could not have it"
	}
	return finding
}

// suggestion returns the nearest name, or all names if they are few.
func suggestion(w providers.Wanted, names []string) string {
	const few = 8
	if similar := config.DidYouMean(w.Name, names); similar != "" || len(names) > few {
		return similar
	}
	return "; it offers " + strings.Join(names, ", ")
}
