package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/typeset"
)

// News returns what is known of the projects of an environment since they ran: what of them has changed, what has
// drifted, and whom the changes reach. It asks no cloud, and starts no preview.
func (r *Reader) News(e Environment, c Contents) map[string]plan.News {
	all := map[string]plan.News{}
	for name, changes := range e.Verdict.Of {
		all[name] = plan.News{Changed: slices.Clone(changes)}
	}
	if len(all) > 0 {
		r.addValues(e, all)
		r.addPreviewed(e, all)
	}
	if e.Drift != nil && !e.Drift.Void {
		for _, p := range e.Drift.Projects {
			one := all[p.Name]
			for _, d := range p.Differences {
				one.Drifted = append(one.Drifted, strings.TrimSpace(d.Action.Found()+" "+differenceText(d)))
			}
			all[p.Name] = one
		}
	}
	plan.Affected(c.Steps, all)
	for name, p := range c.Projects {
		if len(c.Readers(name)) == 0 {
			continue
		}
		one := all[name]
		for _, output := range slices.Sorted(maps.Keys(p.Outputs)) {
			one.Flows = append(one.Flows, output+" = "+event.MaskURLs(typeset.Value(p.Outputs[output])))
		}
		all[name] = one
	}
	return all
}

// addValues says what the values of changed keys are now. What they were is not kept, only that they differ.
func (r *Reader) addValues(e Environment, all map[string]plan.News) {
	values, err := OpenValues(r.options.Of(e.Name))
	if err != nil {
		return // the page shows it
	}
	for _, one := range all {
		for i, change := range one.Changed {
			key, _ := values.Key(change)
			if now := values.Effective(key); now.Origin != "" {
				one.Changed[i] += ", now " + Show(now.Value)
			}
		}
	}
}

// addPreviewed adds which values a preview has seen change, if nothing was written after it.
func (r *Reader) addPreviewed(e Environment, all map[string]plan.News) {
	preview, write := e.Lately.Preview, e.Lately.Write
	if preview == nil || write != nil && write.Started.After(preview.Started) {
		return
	}
	seen, err := r.Runs.Read(preview.ID)
	if err != nil {
		return
	}
	for name, one := range all {
		step, _ := seen.Summary.Step(name)
		if step == nil {
			continue
		}
		for _, d := range step.Differences {
			one.Changed = append(one.Changed, fmt.Sprintf("a preview would %s %s", d.Action, differenceText(d)))
		}
		all[name] = one
	}
}

// differenceText names a resource, and the values of it that differ.
func differenceText(d event.Difference) string {
	text := d.Resource.Name
	var values []string
	for _, v := range d.Values {
		values = append(values, v.Text(40))
	}
	if len(values) == 0 {
		values = d.Properties
	}
	if len(values) > 0 {
		text += ": " + strings.Join(values, ", ")
	}
	return text
}
