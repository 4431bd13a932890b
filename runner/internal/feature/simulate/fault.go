package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/config"
)

// operation is what is done to a resource.
type operation string

const (
	create operation = "create"
	read   operation = "read"
	update operation = "update"
	remove operation = "delete"
)

// Pattern selects resources: TYPE or TYPE@NAME, where NAME is the logical name
// in the program. In both, * stands for any text and ? for any character.
type Pattern struct {
	text string
	kind *regexp.Regexp
	name *regexp.Regexp // nil means any name
}

func parsePattern(s string) (Pattern, error) {
	kind, name, named := strings.Cut(s, "@")
	if kind == "" || named && name == "" {
		return Pattern{}, fmt.Errorf(
			"%q has no resource type; write for example 'aws:eks/cluster:Cluster' or '*:Release@prometheus'", s)
	}
	p := Pattern{text: s, kind: glob(kind)}
	if named {
		p.name = glob(name)
	}
	return p, nil
}

func glob(s string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(s)
	quoted = strings.ReplaceAll(quoted, `\*`, `.*`)
	return regexp.MustCompile("^" + strings.ReplaceAll(quoted, `\?`, `.`) + "$")
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

func (p Pattern) matches(token string, urn resource.URN) bool {
	return p.kind.MatchString(token) && (p.name == nil || p.name.MatchString(urn.Name()))
}

// Fault makes operations on some resources fail.
type Fault struct {
	Pattern Pattern
	Message string // empty means a default that names the type

	operations []operation
	times      int           // how often; 0 means always
	partial    bool          // the resource exists, but did not become ready
	kind       string        // name of the fault, for which the cloud has words; "" for a message of the user
	pause      time.Duration // how long the cloud refuses before it does what it is asked
	everywhere bool          // hits all types that the fault can happen to
}

// ParseFault reads FAULT[@NAME], where FAULT is one of FaultKinds, or
// TYPE[@NAME][=[HOW:]...MESSAGE], where MESSAGE may be the name of a fault. Creations and updates
// fail unless HOW says otherwise: create, update, read or delete name an operation;
// 2x fails the first two times only; init leaves behind a resource that exists
// but is not ready, which the next update repairs.
func ParseFault(s string) (Fault, error) {
	if f, named, err := parseNamed(s); named {
		return f, err
	}
	selector, message, _ := strings.Cut(s, "=")
	pattern, err := parsePattern(selector)
	if err != nil {
		return Fault{}, err
	}
	f := Fault{Pattern: pattern, Message: message}
	for {
		word, rest, found := strings.Cut(f.Message, ":")
		if !found || !f.modify(word) {
			break
		}
		f.Message = rest
	}
	if kind, named := faultKind(f.Message); named {
		f = f.of(kind)
	}
	if f.operations == nil {
		f.operations = []operation{create, update}
	}
	if f.partial && (slices.Contains(f.operations, read) || slices.Contains(f.operations, remove)) {
		return Fault{}, fmt.Errorf("%q: init goes with create and update only", s)
	}
	return f, nil
}

// modify applies one HOW; false means that the word belongs to the message.
func (f *Fault) modify(word string) bool {
	switch op := operation(word); op {
	case create, read, update, remove:
		f.operations = append(f.operations, op)
		return true
	case "init":
		f.partial = true
		return true
	}
	count, isCount := strings.CutSuffix(word, "x")
	times, err := strconv.Atoi(count)
	if !isCount || err != nil || times < 1 {
		return false
	}
	f.times = times
	return true
}

func (f Fault) message(token string) string {
	return cmp.Or(f.Message, "simulated failure of "+token)
}

// Delay makes operations on some resources take a given time.
type Delay struct {
	Pattern  Pattern
	Duration time.Duration
}

// ParseDelay reads TYPE[@NAME]=DURATION. The duration is real time, whatever
// the speed of the simulation.
func ParseDelay(s string) (Delay, error) {
	selector, value, found := strings.Cut(s, "=")
	pattern, err := parsePattern(selector)
	if err != nil {
		return Delay{}, err
	}
	duration, err := time.ParseDuration(value)
	if !found || err != nil || duration < 0 {
		return Delay{}, fmt.Errorf("%q has no duration; write for example %s=90s", s, selector)
	}
	return Delay{Pattern: pattern, Duration: duration}, nil
}

// faults counts how often each fault has struck.
type faults struct {
	list []Fault

	mu     sync.Mutex // protects struck and since
	struck []int
	since  []time.Time // the first time
}

func newFaults(list []Fault) *faults {
	return &faults{list: list, struck: make([]int, len(list)), since: make([]time.Time, len(list))}
}

// strike returns the fault that hits an operation on an object now; nil means none.
func (f *faults) strike(op operation, words map[string][]Words, o Object) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, fault := range f.list {
		isSpent := fault.times > 0 && f.struck[i] >= fault.times
		if fault.pause > 0 || isSpent || !fault.hits(op, o) {
			continue
		}
		if fault.kind != "" {
			if fault.Message = fault.words(words, o); fault.Message == "" {
				continue
			}
		}
		f.struck[i]++
		return &fault
	}
	return nil
}

func (f Fault) hits(op operation, o Object) bool {
	return slices.Contains(f.operations, op) && f.Pattern.matches(o.Token, o.URN)
}

// pause returns how long the cloud still refuses an operation, at a speed of 1.
func (f *faults) pause(op operation, o Object, speed float64) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	longest := time.Duration(0)
	for i, fault := range f.list {
		if fault.pause == 0 || speed == 0 || !fault.hits(op, o) {
			continue
		}
		if f.since[i].IsZero() {
			f.since[i] = time.Now()
		}
		whole := time.Duration(float64(fault.pause) / speed)
		longest = max(longest, whole-time.Since(f.since[i]))
	}
	return longest
}

// verify returns an error for patterns that can never match: a fault without effect
// would look like a success.
func verify(packages []catalogue, opts Options) error {
	var problems []error
	for _, fault := range opts.Fail {
		if fault.kind != "" {
			problems = append(problems, fault.verifyNamed(packages))
		}
		if !fault.everywhere {
			problems = append(problems, fault.Pattern.verify(packages))
		}
	}
	for _, delay := range opts.Slow {
		problems = append(problems, delay.Pattern.verify(packages))
	}
	return errors.Join(problems...)
}

func (p Pattern) verify(packages []catalogue) error {
	kind, _, _ := strings.Cut(p.text, "@")
	var tokens []string
	for _, c := range packages {
		if p.couldBeUnlisted(c, kind) || slices.ContainsFunc(c.resources(), p.kind.MatchString) {
			return nil
		}
		tokens = append(tokens, c.resources()...)
	}
	return fmt.Errorf("no simulated resource type matches %q%s", kind, config.DidYouMean(kind, tokens))
}

// couldBeUnlisted reports whether a package may have types of which it has no list.
func (p Pattern) couldBeUnlisted(c catalogue, kind string) bool {
	belongs := strings.HasPrefix(kind, c.pkg.Name+":")
	switch {
	case !c.isChecked():
		return belongs
	case c.pkg.Dynamic == nil:
		return false
	}
	_, ok := c.pkg.Dynamic(kind)
	return ok || belongs && strings.ContainsAny(kind, "*?")
}
