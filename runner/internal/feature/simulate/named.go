package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/request"
)

// FaultKind is a failure that many clouds know, and how it behaves. Each cloud has its own words for it.
type FaultKind struct {
	Name string

	operations []operation
	times      int           // how often; 0 means always
	partial    bool          // the resource exists, but did not become ready
	pause      time.Duration // how long the cloud refuses, while its provider tries again; then all is well
}

// FaultKinds lists the failures of request.Faults.
func FaultKinds() []FaultKind {
	first, change, all := []operation{create}, []operation{create, update}, []operation{create, update, remove}
	return []FaultKind{
		{Name: "quota", operations: first},
		{Name: "capacity", operations: first},
		{Name: "name-taken", operations: first},
		{Name: "version-retired", operations: change},
		{Name: "not-yet-visible", operations: first, times: 1},
		{Name: "not-ready", operations: change, times: 1, partial: true},
		{Name: "throttled", operations: all, pause: time.Minute},
		{Name: "server-error", operations: change, times: 1},
		{Name: "connection-lost", operations: change, times: 1},
		{Name: "forbidden", operations: change},
		{Name: "credentials-expired", operations: change},
		{Name: "deletion-blocked", operations: []operation{remove}},
	}
}

func faultKind(name string) (FaultKind, bool) {
	return lists.Find(FaultKinds(), func(k FaultKind) bool { return k.Name == name })
}

// parseNamed reads NAME or NAME@RESOURCE; ok is false for anything with a resource type, which has
// a colon or a wildcard.
func parseNamed(s string) (f Fault, ok bool, err error) {
	name, resource, chosen := strings.Cut(s, "@")
	if name == "" || strings.ContainsAny(name, ":*?") {
		return Fault{}, false, nil
	}
	kind, known := faultKind(name)
	switch {
	case !known && strings.Contains(name, "="):
		_, message, _ := strings.Cut(name, "=")
		return Fault{}, true, fmt.Errorf("%q has no resource type; write TYPE=%s", s, message)
	case !known:
		return Fault{}, true, fmt.Errorf("%q is neither a resource type, which has a colon, nor one of the faults %s%s",
			name, strings.Join(request.FaultNames(), ", "), config.DidYouMean(name, request.FaultNames()))
	case chosen && resource == "":
		return Fault{}, true, fmt.Errorf("%q names no resource; write for example %s@cluster", s, name)
	}
	f = Fault{Pattern: Pattern{text: s, kind: glob("*")}, everywhere: true}
	if chosen {
		f.Pattern.name = glob(resource)
	}
	return f.of(kind), true, nil
}

// of adds to a fault what its kind says and the fault itself does not.
func (f Fault) of(kind FaultKind) Fault {
	f.kind, f.Message, f.pause = kind.Name, "", kind.pause
	if f.operations == nil {
		f.operations = kind.operations
	}
	f.times = cmp.Or(f.times, kind.times)
	f.partial = f.partial || kind.partial && !slices.Contains(f.operations, read) && !slices.Contains(f.operations, remove)
	return f
}

// Words are what a cloud says in a fault of one kind.
type Words struct {
	Types string // resource types that it can happen to, with * for any text; "" for a type that the user names
	Text  string // with {name}, {id}, {type} and {region}
}

// words returns what the cloud says when a named fault hits an object, or "" if the fault does not
// happen to such objects.
func (f Fault) words(known map[string][]Words, o Object) string {
	for _, words := range known[f.kind] {
		if words.Types == "" && f.everywhere || words.Types != "" && !glob(words.Types).MatchString(o.Token) {
			continue
		}
		return strings.NewReplacer(
			"{name}", o.anyName(), "{id}", cmp.Or(o.ID, o.anyName()), "{type}", o.kind(), "{region}", o.TextOr("region", "here"),
		).Replace(words.Text)
	}
	return ""
}

// anyName returns the name that the cloud knows an object by, as far as the inputs say.
func (o Object) anyName() string {
	return cmp.Or(o.Text("name"), o.Text("label"), o.Text("metadata.name"), o.Text("imageName"), o.Text("clusterName"),
		o.Name())
}

// kind returns the last part of the type: Cluster.
func (o Object) kind() string { return o.Token[strings.LastIndex(o.Token, ":")+1:] }

// verifyNamed returns an error for a fault that no type of a resource can have.
func (f Fault) verifyNamed(packages []catalogue) error {
	if f.pause > 0 {
		return nil
	}
	kind, _, _ := strings.Cut(f.Pattern.text, "@")
	for _, c := range packages {
		for _, words := range c.pkg.Words[f.kind] {
			happens := func(token string) bool {
				isFor := words.Types == "" && !f.everywhere || words.Types != "" && glob(words.Types).MatchString(token)
				return isFor && f.Pattern.kind.MatchString(token)
			}
			if slices.ContainsFunc(c.resources(), happens) || words.Types == "" && f.Pattern.couldBeUnlisted(c, kind) {
				return nil
			}
		}
	}
	return fmt.Errorf("no simulated cloud has a fault %s for %q; give the error as a text: %s=MESSAGE",
		f.kind, f.Pattern, kind)
}
