package clouds

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"mara/runner/internal/feature/simulate"
)

// refusal is a rule for changes of an existing resource: it returns the cloud's error, or "".
type refusal = func(before, after simulate.Object) string

// firstOf combines refusals.
func firstOf(rules ...refusal) refusal {
	return func(before, after simulate.Object) string {
		for _, rule := range rules {
			if refused := rule(before, after); refused != "" {
				return refused
			}
		}
		return ""
	}
}

// minorStep returns how many minor versions a change goes up, which is negative when it goes
// down, and whether both versions are known.
func minorStep(before, after simulate.Object, path string) (step int, known bool) {
	from, okFrom := minorOf(before.Text(path))
	to, okTo := minorOf(after.Text(path))
	return to - from, okFrom && okTo
}

// minorOf returns 36 for 1.36 and for 1.36.2-do.0.
func minorOf(version string) (int, bool) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 || parts[0] != "1" {
		return 0, false
	}
	minor, err := strconv.Atoi(parts[1])
	return minor, err == nil
}

// upByOne refuses versions of Kubernetes that are not the same or the next minor one.
func upByOne(path string, refused func(id, from, to string) string) refusal {
	return func(before, after simulate.Object) string {
		if step, known := minorStep(before, after, path); known && (step < 0 || step > 1) {
			return refused(after.ID, before.Text(path), after.Text(path))
		}
		return ""
	}
}

// staysOn refuses to switch something off, or to remove the switch.
func staysOn(path, format string, args ...any) refusal {
	return func(before, after simulate.Object) string {
		if before.Value(path) == true && after.Value(path) != true {
			return fmt.Sprintf(format, args...)
		}
		return ""
	}
}

// changed reports whether a value differs.
func changed(before, after simulate.Object, path string) bool {
	return !reflect.DeepEqual(before.Value(path), after.Value(path))
}
