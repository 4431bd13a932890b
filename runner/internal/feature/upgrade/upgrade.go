// Package upgrade finds what in an environment can be upgraded, in which steps, and what stands against it: versions of
// Kubernetes one minor at a time, and charts. It starts nothing: each step is a change of the configuration and an up.
package upgrade

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
)

// Part is what has a version: a control plane, nodes, or a chart.
type Part struct {
	Project    string   `json:"project"`
	What       string   `json:"what"`
	Key        string   `json:"key"`
	Running    []string `json:"running"`          // by the states, oldest first; none if it is not deployed
	Configured string   `json:"configured"`       // what the next up makes
	Catalogue  string   `json:"catalogue"`        // what this runner is tested with
	Newest     string   `json:"newest,omitempty"` // that the cloud offered on the day of the list; "" if that is not known
	Note       string   `json:"note,omitempty"`

	follows bool   // of another part while nothing is configured
	chart   string // its name; "" for a part of the cluster
}

// oldest returns the oldest version that runs, or "".
func (p Part) oldest() string {
	if len(p.Running) == 0 {
		return ""
	}
	return p.Running[0]
}

// Step is one change of the configuration, which an up carries out.
type Step struct {
	Title   string   `json:"title"`
	Project string   `json:"project"`
	Changes []Change `json:"changes"` // none if the configuration says it already
}

// Change is a value to set.
type Change struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Environment is what is known of an environment.
type Environment struct {
	Provider string
	Projects []model.Project
	Newest   string                      // version of Kubernetes that the cloud offers; "" if that is not known
	Value    func(key string) any        // that counts, such as the default; nil for none
	States   map[string][]map[string]any // items of the states, by project
}

// Parts returns everything that has a version, in the order of the plan.
func (e Environment) Parts() []Part {
	var parts []Part
	for _, project := range e.Projects {
		for _, v := range project.Versions {
			parts = append(parts, e.cluster(project, v))
		}
		for _, chart := range project.Charts {
			parts = append(parts, e.release(project, chart))
		}
	}
	return parts
}

// cluster returns a part of the cluster.
func (e Environment) cluster(project model.Project, v model.Version) Part {
	p := Part{Project: project.Name, What: v.What, Key: v.Key, Newest: e.Newest, Note: v.Note, follows: v.Follows != "",
		Running: []string{}}
	p.Catalogue = textOf(defaultOf(project, cmp.Or(v.Follows, v.Key)))
	p.Configured = cmp.Or(textOf(e.Value(v.Key)), textOf(e.Value(v.Follows)))
	for _, item := range e.States[project.Name] {
		if item["type"] == v.Type {
			p.add(minorOf(textOf(mapOf(item["outputs"])[v.Property])))
		}
	}
	return p
}

// release returns the part of a chart.
func (e Environment) release(project model.Project, chart model.Chart) Part {
	key := projects.ChartKey(chart.Group, projects.ChartVersion)
	p := Part{Project: project.Name, What: "chart " + chart.Name, Key: key, chart: chart.Name, Running: []string{},
		Catalogue: textOf(defaultOf(project, key)), Configured: textOf(e.Value(key))}
	for _, item := range e.States[project.Name] {
		inputs := mapOf(item["inputs"])
		name := textOf(inputs["chart"])
		if item["type"] == "kubernetes:helm.sh/v3:Release" && name[strings.LastIndex(name, "/")+1:] == chart.Name {
			p.add(textOf(inputs["version"]))
		}
	}
	return p
}

// add notes a version that runs.
func (p *Part) add(version string) {
	if version != "" && !slices.Contains(p.Running, version) {
		p.Running = append(p.Running, version)
		slices.SortFunc(p.Running, Compare)
	}
}

// defaultOf returns the default of a project's key.
func defaultOf(project model.Project, name string) any {
	key, _ := project.Key(name)
	return key.Default
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

func mapOf(value any) map[string]any {
	values, _ := value.(map[string]any)
	return values
}

// minorOf returns major and minor of a version of Kubernetes: "1.36" of "1.36.1-do.3".
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return version
	}
	return parts[0] + "." + parts[1]
}

// Compare compares two versions as SemVer does, with or without a leading v: -1 if a is the older one. A text that is no
// version is older than any.
func Compare(a, b string) int {
	left, wrongLeft := semver.NewVersion(a)
	right, wrongRight := semver.NewVersion(b)
	switch {
	case wrongLeft == nil && wrongRight == nil:
		return left.Compare(right)
	case wrongLeft == nil:
		return 1
	case wrongRight == nil:
		return -1
	}
	return strings.Compare(a, b)
}

// Target returns the version of Kubernetes that an upgrade leads to: the one that is asked for, or that of the
// catalogue. It refuses one that cannot be reached.
func Target(parts []Part, asked string) (string, error) {
	to, found := asked, false
	for _, p := range parts {
		if p.chart != "" {
			continue
		}
		found = true
		if to == "" {
			to = p.Catalogue
		}
		if oldest := p.oldest(); asked != "" && oldest != "" && Compare(asked, oldest) < 0 {
			return "", fmt.Errorf("%s runs Kubernetes %s; it cannot go down to %s", p.Project, oldest, asked)
		}
		if asked != "" && p.Newest != "" && Compare(asked, p.Newest) > 0 {
			return "", fmt.Errorf("the cloud of %s offers Kubernetes up to %s, and not %s", p.Project, p.Newest, asked)
		}
	}
	if !found && asked != "" {
		return "", errors.New("no project of the environment sets a version of Kubernetes")
	}
	return to, nil
}

// Steps returns the steps that lead from what runs to a version of Kubernetes and the charts of the catalogue. They
// are found from what runs, so that an upgrade that was cut off continues. Charts follow the cluster, but for those whose
// makers did not test what runs with the next version of Kubernetes: they go before it.
func Steps(parts []Part, to string) []Step {
	var steps []Step
	charts := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool {
		return p.chart == "" || p.oldest() == "" || Compare(p.oldest(), p.target()) >= 0
	})
	for _, next := range upTo(parts, to) {
		charts = slices.DeleteFunc(charts, func(p Part) bool {
			goesFirst := p.goesBefore(next)
			if goesFirst {
				steps = append(steps, p.chartStep())
			}
			return goesFirst
		})
		steps = append(steps, minorSteps(parts, next)...)
	}
	for _, p := range charts {
		steps = append(steps, p.chartStep())
	}
	return steps
}

// chartStep returns the step to the chart of the catalogue.
func (p Part) chartStep() Step {
	return Step{Project: p.Project, Title: fmt.Sprintf("%s %s → %s", p.What, p.oldest(), p.target()), Changes: p.change(p.target())}
}

// target returns the version that a chart is upgraded to. One that is configured to be newer stays so.
func (p Part) target() string {
	return slices.MaxFunc([]string{p.Catalogue, p.Configured}, Compare)
}

// change returns the change of the configuration to a version, if it needs one.
func (p Part) change(version string) []Change {
	if p.Configured == version {
		return []Change{}
	}
	return []Change{{p.Key, version}}
}

// upTo returns each version of Kubernetes that the cluster goes through.
func upTo(parts []Part, to string) (versions []string) {
	oldest := ""
	for _, p := range parts {
		if o := p.oldest(); p.chart == "" && o != "" && (oldest == "" || Compare(o, oldest) < 0) {
			oldest = o
		}
	}
	first, wrongFirst := semver.NewVersion(oldest)
	last, wrongLast := semver.NewVersion(to)
	if wrongFirst != nil || wrongLast != nil || first.Major() != last.Major() {
		return nil
	}
	for minor := first.Minor() + 1; minor <= last.Minor(); minor++ {
		versions = append(versions, fmt.Sprintf("%d.%d", first.Major(), minor))
	}
	return versions
}

// minorSteps returns the steps to one version of Kubernetes. Nodes are never newer than their control plane, so that
// they keep their version in its step where they would follow it.
func minorSteps(parts []Part, next string) (steps []Step) {
	for i, p := range parts {
		from := p.oldest()
		if p.chart != "" || from == "" || Compare(from, next) >= 0 {
			continue
		}
		previous := cmp.Or(before(next), from)
		step := Step{Project: p.Project, Title: fmt.Sprintf("%s %s → %s", p.What, previous, next),
			Changes: []Change{{p.Key, next}}}
		for _, other := range parts[i+1:] {
			if other.follows && other.Project == p.Project && other.oldest() != "" {
				step.Changes = append(step.Changes, Change{other.Key, previous})
			}
		}
		steps = append(steps, step)
	}
	return steps
}

// before returns the version of Kubernetes before one, or "".
func before(version string) string {
	v, err := semver.NewVersion(version)
	if err != nil || v.Minor() == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor()-1)
}

// Settings returns the changes of a step for a stack file.
func (s Step) Settings() []config.Change {
	return lists.Map(s.Changes, func(c Change) config.Change { return config.Change{Key: c.Key, Value: c.Value} })
}

// Words returns the changes of a step for people.
func (s Step) Words() string {
	return strings.Join(lists.Map(s.Changes, func(c Change) string { return c.Key + " is " + c.Value + " now" }), ", ")
}

// Items returns the items of all states, in the order of the projects' names.
func (e Environment) Items() []map[string]any {
	var all []map[string]any
	for _, project := range slices.Sorted(maps.Keys(e.States)) {
		all = append(all, e.States[project]...)
	}
	return all
}
