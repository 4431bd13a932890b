package updateplan

import (
	"fmt"
	"reflect"
)

// Differences says in what a later preview of a project does more or else than
// this one. A value that was not known may have become anything; a resource that
// would have been updated or replaced because of such a value may stay as it is.
func (p Project) Differences(later Project) []string {
	planned := map[string]Step{}
	for _, step := range p.Steps {
		planned[step.URN] = step
	}
	var differences []string
	for _, now := range later.Steps {
		before, ok := planned[now.URN]
		switch {
		case now.Op == "same" || now.Op == "read":
		case !ok:
			differences = append(differences, fmt.Sprintf("%s of %s %s is not in the plan", now.Op, now.Type, now.Name))
		case before.Op != now.Op:
			differences = append(differences, fmt.Sprintf("%s of %s %s, not %s", now.Op, now.Type, now.Name, before.Op))
		case !fits(before.Inputs, now.Inputs):
			differences = append(differences, fmt.Sprintf("other values for %s %s", now.Type, now.Name))
		}
	}
	return append(differences, p.outputDifferences(later)...)
}

// fits reports whether a value is the planned one, as far as that was known.
func fits(planned, now any) bool {
	switch planned := planned.(type) {
	case string:
		return planned == Unknown || planned == now
	case map[string]any:
		later, ok := now.(map[string]any)
		for name, value := range planned {
			ok = ok && fits(value, later[name])
		}
		return ok && len(later) <= len(planned)
	case []any:
		later, ok := now.([]any)
		ok = ok && len(later) == len(planned)
		for i := range planned {
			ok = ok && fits(planned[i], later[i])
		}
		return ok
	}
	return reflect.DeepEqual(planned, now)
}
