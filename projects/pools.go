package projects

import (
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/offers"
)

// Pool is a pool of nodes besides the first one of a cluster.
type Pool struct {
	Name         string
	Size         string // type of its nodes, as the cloud names it
	Count        int    // fixed number of nodes; 0 with Min and Max
	Min, Max     int
	Architecture string // amd64 or arm64
	Spot         bool
	Labels       map[string]string
	Taints       []Taint
}

// Scaled reports whether the number of nodes follows the load.
func (p Pool) Scaled() bool { return p.Max > 0 }

// Taint keeps Pods from nodes.
type Taint struct {
	Key, Value string
	Effect     string // as Kubernetes writes it: NoSchedule, PreferNoSchedule or NoExecute
}

// Pools reads the value of a key with pools of nodes, by name. It returns what is wrong. features are what
// pools of the cloud can have besides: architecture, spot, and empty for a pool of no nodes.
func Pools(value map[string]any, size *config.Form, features ...string) (pools []Pool, problems []string) {
	for _, name := range lists.Keys(value) {
		p := Pool{Name: name, Architecture: "amd64", Labels: map[string]string{}}
		e := entry{name: name, problems: &problems}
		if !poolName.Matches(name) {
			e.problem("is no name for a pool: write up to 20 small letters, digits and hyphens")
		}
		if name == "default" || name == "nodes" {
			e.problem("is the name of the first pool, which has keys of its own")
		}
		var taints []string
		fewest := 1
		if slices.Contains(features, "empty") {
			fewest = 0
		}
		p.Min = -1
		known := map[string]reader{
			"size": e.text(&p.Size, size), "count": e.number(&p.Count, 1, 450),
			"min": e.number(&p.Min, fewest, 450), "max": e.number(&p.Max, 1, 450),
			"labels": e.labels(p.Labels), "taints": e.texts(&taints, taintForm),
			"architecture": e.text(&p.Architecture, architecture), "spot": e.flag(&p.Spot),
		}
		for _, feature := range []string{"architecture", "spot"} {
			if !slices.Contains(features, feature) {
				delete(known, feature)
			}
		}
		e.fields(value[name], known)
		p.check(e)
		for _, text := range taints {
			p.Taints = append(p.Taints, parseTaint(text))
		}
		pools = append(pools, p)
	}
	return pools, problems
}

// check reports fields that do not agree.
func (p *Pool) check(e entry) {
	switch {
	case p.Size == "":
		e.problem("has no size; write the type of its nodes")
	case p.Max > 0 && p.Count > 0:
		e.problem("has count, and min and max; write either")
	case p.Max == 0 && p.Min >= 0:
		e.problem("has min without max")
	case p.Min > p.Max:
		e.problem("has min %d, which is more than max %d", p.Min, p.Max)
	case p.Max == 0:
		p.Min, p.Count = 0, max(p.Count, 1)
	case p.Min < 0:
		p.Min = 1
	}
}

// labels reads labels of nodes.
func (e entry) labels(to map[string]string) reader {
	return reader{"a map of labels with texts in quotes", func(value any) bool {
		labels, ok := value.(map[string]any)
		for name, value := range labels {
			text, isText := value.(string)
			to[name] = text
			ok = ok && isText && labelName.Matches(name) && (text == "" || labelValue.Matches(text))
		}
		return ok
	}}
}

// parseTaint reads KEY=VALUE:EFFECT; the value may be missing.
func parseTaint(text string) Taint {
	rest, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	return Taint{Key: key, Value: value, Effect: effect}
}

// The forms of what a pool has.
var (
	poolName     = config.NewForm("the name of a pool", `^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$`)
	architecture = config.NewForm("amd64 or arm64", `^(amd64|arm64)$`)
	labelName    = config.NewForm("the name of a label", `^([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	labelValue   = config.NewForm("the value of a label", `^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	taintForm    = config.NewForm("a taint such as dedicated=batch:NoSchedule",
		`^([a-z0-9.-]+/)?[A-Za-z0-9][A-Za-z0-9_.-]*(=[A-Za-z0-9_.-]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$`)
)

// poolsKey declares pools of nodes besides the first one.
func poolsKey(group, size, more string) config.Key {
	return config.Key{Name: group + ":pools", Kind: config.Map,
		Example: "{batch: {size: " + size + ", min: 1, max: 5, labels: {role: batch}, taints: [\"role=batch:NoSchedule\"]}}",
		Doc: "further pools of nodes by name, each with size, and count or min and max" + more +
			", labels and taints; another size replaces the nodes of the pool"}
}

// poolSizes doubts types of nodes that the cloud did not offer on the day of its list.
func poolSizes(group, provider string, form *config.Form) config.Rule {
	return func(v config.Values) (found []config.Finding) {
		key := group + ":pools"
		pools := v.Map(key)
		for _, name := range lists.Keys(pools) {
			fields, _ := pools[name].(map[string]any)
			size, _ := fields["size"].(string)
			if text := offers.Of(provider).NodeTypes.Doubt(size); text != "" && form.Matches(size) {
				found = append(found, config.Doubtful(key, "%s has a size that %s", name, text)...)
			}
		}
		return found
	}
}

// poolRule judges pools of nodes.
func poolRule(group string, size *config.Form, features ...string) config.Rule {
	return entries(group+":pools", func(value map[string]any) ([]Pool, []string) {
		return Pools(value, size, features...)
	})
}
