// Package fleets has the page of all environments.
package fleets

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"mara/config/lists"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
)

//go:embed *.html
var templates embed.FS

// Pages returns the page of all environments.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{"/{$}": show}}
}

// perPage is how many environments a page of the fleet lists.
const perPage = 200

// group is a part of the list of environments.
type group struct {
	Title string
	Rows  []row
}

// row is an environment in the list.
type row struct {
	view.Environment
	Why   string // the first reason
	Ends  time.Time
	Doing *view.Past // what runs in it
	Bars  []bar      // its last runs
}

// chip is a filter by state, with its address.
type chip struct {
	State   view.State
	N       int
	Link    string
	Current bool
}

// column is a heading that sorts.
type column struct {
	Title, Link, Order, Class string
}

// fleetPage is what the page of the fleet shows.
type fleetPage struct {
	Fleet    view.Fleet
	Total    int
	Troubles []view.Trouble
	Rollouts []rolloutPanel
	Live     []*view.Past
	Chips    []chip
	Groups   []group
	Columns  []column
	By       string
	Text     string
	Labels   string
	LabelErr string
	State    string
	Pages    []pageLink
	Reading  bool
	Failure  string
	Problems string // in the files, that no environment shows as its own
	Bys      []string
	Sort     string
}

type pageLink struct {
	N       int
	Link    string
	Current bool
}

// rolloutPanel is a current operation on many environments, or the last one.
type rolloutPanel struct {
	*view.Past
	Waves []wavePanel
}

type wavePanel struct {
	Name  string
	Tiles []view.Environment
	Words string
}

// show shows the page of all environments.
func show(r *page.Visit) (page.Content, error) {
	f := r.Fleet
	if len(f.Environments) == 1 && len(r.Query) == 0 && f.Err == nil && !r.Static {
		return page.Content{To: "/e/" + url.PathEscape(f.Environments[0].Name)}, nil
	}
	data := fleetPage{
		Fleet: f, Total: len(f.Environments), Troubles: f.Troubles(), By: r.Query.Get("by"), Text: r.Query.Get("q"),
		Labels: r.Query.Get("l"), State: r.Query.Get("state"), Reading: f.Compared.IsZero(), Sort: r.Query.Get("sort"),
	}
	if r.Failure != nil {
		if err := r.Failure(); err != nil {
			data.Failure = err.Error()
		}
	}
	data.Problems = problems(f)
	for _, rollout := range f.Rollouts {
		if !rollout.Ended() || len(data.Rollouts) == 0 && r.Now.Sub(rollout.Started) < 24*time.Hour {
			data.Rollouts = append(data.Rollouts, newRolloutPanel(rollout, f))
		}
	}
	data.Live = slices.DeleteFunc(r.Reader.Runs.Runs(), (*view.Past).Ended)
	chosen, err := data.choose(f)
	code := 0
	if err != nil {
		data.LabelErr, code = err.Error(), 400
	}
	data.chips(r, chosen)
	if data.State != "" {
		chosen = slices.DeleteFunc(chosen, func(e view.Environment) bool { return string(e.State) != data.State })
	}
	sortBy(chosen, data.Sort)
	data.columns(r)
	chosen = data.page(r, chosen)
	data.group(chosen, f)
	data.addBars(r.Reader.Runs.Runs())
	data.Bys = append([]string{""}, groupings(f)...)
	return page.Content{Template: "fleet.html", Title: fmt.Sprintf("%d environments", data.Total), Nav: "fleet",
		Live: true, Refresh: 10,
		Code: code, Data: data}, nil
}

// choose returns the environments that labels and text choose.
func (d *fleetPage) choose(f view.Fleet) ([]view.Environment, error) {
	all := make([]fleet.Environment, len(f.Environments))
	for i, e := range f.Environments {
		set := map[string]string{fleet.EnvironmentLabel: e.Name, fleet.ProviderLabel: e.Provider}
		maps.DeleteFunc(set, func(_, value string) bool { return value == "" })
		maps.Copy(set, e.Labels)
		all[i] = fleet.Environment{Stack: e.Name, Labels: set}
	}
	selector, err := labels.Everything(), error(nil)
	if d.Labels != "" {
		if selector, err = fleet.Parse(d.Labels, all); err != nil {
			return nil, err
		}
	}
	var chosen []view.Environment
	for i, e := range f.Environments {
		if selector.Matches(labels.Set(all[i].Labels)) && hasText(e, d.Text) {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}

// hasText reports whether all words are found in what the list shows of an environment.
func hasText(e view.Environment, text string) bool {
	return page.HasWords(text, append([]string{e.Name, e.Provider, e.Wave, string(e.State), labelText(e.Labels)},
		e.Reasons...)...)
}

func labelText(all map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words = append(words, name+"="+all[name])
	}
	return strings.Join(words, " ")
}

func (d *fleetPage) chips(r *page.Visit, chosen []view.Environment) {
	counts := view.Fleet{Environments: chosen}.Counts()
	d.Chips = []chip{{N: len(chosen), Link: r.With("state", "", "page", ""), Current: d.State == ""}}
	for _, state := range view.States() {
		if counts[state] > 0 || string(state) == d.State {
			d.Chips = append(d.Chips, chip{state, counts[state], r.With("state", string(state), "page", ""),
				string(state) == d.State})
		}
	}
}

// orders compare environments, by the name of a column.
func orders() map[string]func(a, b view.Environment) int {
	lastOf := func(e view.Environment) time.Time {
		if e.Lately.Any == nil {
			return time.Time{}
		}
		return e.Lately.Any.Started
	}
	costOf := func(e view.Environment) float64 {
		if e.Lately.Costs == nil {
			return -1
		}
		return e.Lately.Costs.Monthly
	}
	driftOf := func(e view.Environment) int {
		if e.Drift == nil || e.Drift.Void {
			return -1
		}
		return e.Drift.Resources()
	}
	endsOf := func(e view.Environment) int64 {
		if e.Life.Ends().IsZero() {
			return 1 << 62
		}
		return e.Life.Ends().Unix()
	}
	return map[string]func(a, b view.Environment) int{
		"state":   func(a, b view.Environment) int { return a.State.Rank() - b.State.Rank() },
		"name":    func(a, b view.Environment) int { return strings.Compare(a.Name, b.Name) },
		"last":    func(a, b view.Environment) int { return lastOf(b).Compare(lastOf(a)) },
		"waiting": func(a, b view.Environment) int { return len(b.Verdict.Changes) - len(a.Verdict.Changes) },
		"drift":   func(a, b view.Environment) int { return driftOf(b) - driftOf(a) },
		"cost":    func(a, b view.Environment) int { return cmp.Compare(costOf(b), costOf(a)) },
		"ends":    func(a, b view.Environment) int { return cmp.Compare(endsOf(a), endsOf(b)) },
	}
}

// sortBy sorts by a column; a minus before its name turns it round. Without one the worst state comes first.
func sortBy(all []view.Environment, column string) {
	name, turned := strings.CutPrefix(column, "-")
	order, ok := orders()[name]
	if !ok {
		order, turned = orders()["state"], false
	}
	slices.SortStableFunc(all, func(a, b view.Environment) int {
		n := order(a, b)
		if turned {
			n = -n
		}
		return cmp.Or(n, strings.Compare(a.Name, b.Name))
	})
}

func (d *fleetPage) columns(r *page.Visit) {
	for _, c := range [][3]string{{"state", "State", ""}, {"name", "Environment", ""}, {"last", "Last run", ""},
		{"waiting", "Changes waiting", ""},
		{"drift", "Drift", ""}, {"", "Findings", ""}, {"cost", "A month", "num"}, {"ends", "Ends", ""}} {
		col := column{Title: c[1], Class: c[2]}
		if c[0] != "" {
			next := c[0]
			switch cmp.Or(d.Sort, "state") {
			case c[0]:
				col.Order, next = "ascending", "-"+c[0]
			case "-" + c[0]:
				col.Order = "descending"
			}
			col.Link = r.With("sort", next, "page", "")
		}
		d.Columns = append(d.Columns, col)
	}
}

// page returns the environments of the page that the query names.
func (d *fleetPage) page(r *page.Visit, all []view.Environment) []view.Environment {
	pages := max(1, (len(all)+perPage-1)/perPage)
	if r.Static {
		return all
	}
	at, err := strconv.Atoi(r.Query.Get("page"))
	if err != nil || at < 1 || at > pages {
		at = 1
	}
	if pages > 1 {
		for n := 1; n <= pages; n++ {
			d.Pages = append(d.Pages, pageLink{n, r.With("page", strconv.Itoa(n)), n == at})
		}
	}
	return all[(at-1)*perPage : min(at*perPage, len(all))]
}

// groupings lists what environments may be grouped by: their waves, and labels that several share.
func groupings(f view.Fleet) []string {
	var by []string
	if len(f.Waves) > 0 {
		by = append(by, "wave")
	}
	names := map[string]map[string]bool{}
	for _, e := range f.Environments {
		for name, value := range e.Labels {
			if names[name] == nil {
				names[name] = map[string]bool{}
			}
			names[name][value] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if n := len(names[name]); n > 1 && n <= 30 {
			by = append(by, name)
		}
	}
	return append(by, "provider")
}

// group puts the environments into groups.
func (d *fleetPage) group(all []view.Environment, f view.Fleet) {
	var waves []string
	if d.By == "wave" {
		waves = wavesOf(f)
	}
	names, members := grouped(all, waves, func(e view.Environment) string {
		switch d.By {
		case "":
			return ""
		case "wave":
			return e.Wave
		case "provider":
			return e.Provider
		}
		return e.Labels[d.By]
	})
	for _, name := range names {
		g := group{Title: name}
		switch {
		case slices.Contains(waves, name):
			g.Title = "Wave " + name
		case d.By != "" && name == "":
			g.Title = "Without " + d.By
		}
		for _, e := range members[name] {
			one := row{Environment: e, Ends: e.Life.Ends(), Doing: e.Lately.Live}
			if len(e.Reasons) > 0 && e.State != view.Changed { // which has a column of its own
				one.Why = e.Reasons[0]
			}
			g.Rows = append(g.Rows, one)
		}
		d.Groups = append(d.Groups, g)
	}
}

// wavesOf returns the names of the waves, in their order.
func wavesOf(f view.Fleet) []string {
	return lists.Map(f.Waves, func(w fleet.Wave) string { return w.Name })
}

// grouped returns the environments by a value, and the values that they have: first known ones, in their order, then
// others as they come.
func grouped(all []view.Environment, known []string, of func(view.Environment) string) (
	values []string, members map[string][]view.Environment,
) {
	values, members = slices.Clone(known), map[string][]view.Environment{}
	for _, e := range all {
		value := of(e)
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
		members[value] = append(members[value], e)
	}
	return slices.DeleteFunc(values, func(value string) bool { return members[value] == nil }), members
}

// newRolloutPanel shows an operation on many environments wave by wave.
func newRolloutPanel(run *view.Past, f view.Fleet) rolloutPanel {
	panel := rolloutPanel{Past: run}
	names, members := grouped(f.Environments, wavesOf(f), func(e view.Environment) string { return e.Wave })
	for _, name := range names {
		counts := view.Fleet{Environments: members[name]}.Counts()
		var words []string
		for _, state := range view.States() {
			if counts[state] > 0 {
				words = append(words, fmt.Sprintf("%d %s", counts[state], state))
			}
		}
		panel.Waves = append(panel.Waves, wavePanel{name, members[name], strings.Join(words, ", ")})
	}
	return panel
}

// problems returns the problems in the files of the root that no environment has as its error.
func problems(f view.Fleet) string {
	if f.Err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(f.Err.Error(), "\n"), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(f.Environments, func(e view.Environment) bool { return strings.Contains(e.Error, line) })
	}), "\n")
}
