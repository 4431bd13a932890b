package upgrade

import (
	"fmt"
	"slices"

	"mara/projects"
)

// tested is with which versions of Kubernetes the makers of a chart tested it.
type tested struct {
	chart, since   string // the chart's first version with these
	oldest, newest string // versions of Kubernetes
}

// testedDay is the day of the lists in testedWith.
const testedDay = "29 November 2026"

// testedWith returns what the makers of charts say, the newest version of each chart first. Charts that are not here are not
// judged: Velero's makers expect every version of Kubernetes from 1.18 on, and of the others there is no such list.
// https://cert-manager.io/docs/releases/ and https://docs.nginx.com/nginx-ingress-controller/technical-specifications/
func testedWith() []tested {
	return []tested{
		{"cert-manager", "1.21", "1.33", "1.36"}, {"cert-manager", "1.20", "1.32", "1.35"}, {"cert-manager", "1.19", "1.31", "1.35"},
		{"cert-manager", "1.18", "1.29", "1.33"}, {"cert-manager", "1.17", "1.29", "1.32"}, {"cert-manager", "1.16", "1.25", "1.32"},
		{"nginx-ingress", "2.6", "1.29", "1.36"}, {"nginx-ingress", "2.5", "1.28", "1.35"}, {"nginx-ingress", "2.4", "1.27", "1.35"},
		{"nginx-ingress", "2.3", "1.27", "1.34"}, {"nginx-ingress", "2.2", "1.25", "1.33"}, {"nginx-ingress", "2.1", "1.25", "1.32"},
		{"nginx-ingress", "2.0", "1.25", "1.32"},
	}
}

// testedWithOf returns what is known of a version of a chart. A minor version that is not in the list is not known.
func testedWithOf(chart, version string) (tested, bool) {
	for _, t := range testedWith() {
		if t.chart == chart && minorOf(version) == t.since {
			return t, true
		}
	}
	return tested{}, false
}

// goesBefore reports whether a chart is upgraded before its cluster gets a version of Kubernetes: the makers did not test the
// one that runs with it, and tested the new one with the version before.
func (p Part) goesBefore(next string) bool {
	running, isKnown := testedWithOf(p.chart, p.oldest())
	if !isKnown || Compare(running.newest, next) >= 0 {
		return false
	}
	target, isKnown := testedWithOf(p.chart, p.target())
	return isKnown && Compare(target.oldest, before(next)) <= 0
}

// pinned returns that the version of the autoscaler's image is fixed to one of another minor version of Kubernetes, which its
// program refuses in the middle of an upgrade.
func (e Environment) pinned(to string) []Obstacle {
	name, key := projects.ClusterAutoscaler().Name, "cluster-autoscaler:version"
	if version := textOf(e.Value(key)); len(e.States[name]) > 0 && version != "" && to != "" && minorOf(version) != to {
		return []Obstacle{{Stops: true, Where: name, Text: fmt.Sprintf("%s is %s, which is for Kubernetes %s alone: `runner config unset %s` takes the one of each version",
			key, version, minorOf(version), key)}}
	}
	return nil
}

// Untested returns what is to be known of charts that are deployed and whose makers did not test the version that the
// upgrade ends with on the version of Kubernetes that it leads to.
func Untested(parts []Part, to string) (found []Obstacle) {
	for _, p := range parts {
		if p.chart == "" || p.oldest() == "" || to == "" {
			continue
		}
		version := slices.MaxFunc([]string{p.oldest(), p.target()}, Compare)
		if t, isKnown := testedWithOf(p.chart, version); isKnown && (Compare(t.newest, to) < 0 || Compare(t.oldest, to) > 0) {
			found = append(found, Obstacle{Where: p.Project, Text: fmt.Sprintf("the makers of %s have tested %s with Kubernetes %s to %s, and not with %s (list of %s)",
				p.What, version, t.oldest, t.newest, to, testedDay)})
		}
	}
	return found
}
