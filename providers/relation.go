package providers

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"mara/config"
)

// Relation validates values of several keys together. It returns the wrong key and what
// is wrong with it, or "".
type Relation func(value func(key string) any) (key, text string)

// disjoint returns a relation that refuses overlapping ranges of addresses.
func disjoint(first, second string) Relation {
	return func(value func(string) any) (string, string) {
		a, errA := netip.ParsePrefix(fmt.Sprint(value(first)))
		b, errB := netip.ParsePrefix(fmt.Sprint(value(second)))
		if errA != nil || errB != nil || !a.Overlaps(b) {
			return "", ""
		}
		return second, fmt.Sprintf("is %s, which overlaps %s (%s)", b, first, a)
	}
}

// distinct returns a relation that refuses equal ports; 0 means any free port.
func distinct(keys ...string) Relation {
	return func(value func(string) any) (string, string) {
		users := map[int]string{}
		for _, key := range keys {
			port, ok := config.Number(value(key))
			if !ok || port == 0 {
				continue
			}
			if other, taken := users[port]; taken {
				return key, fmt.Sprintf("is %d, the port of %s", port, other)
			}
			users[port] = key
		}
		return "", ""
	}
}

// zonesOf returns a relation that requires two zones or more, all in the region, as EKS does.
func zonesOf(zones, region string) Relation {
	return func(value func(string) any) (string, string) {
		list, _ := value(zones).([]any)
		name, _ := value(region).(string)
		for _, item := range list {
			zone, _ := item.(string)
			if name != "" && !strings.HasPrefix(zone, name) {
				return zones, fmt.Sprintf("names %s, which is not in %s (%s)", zone, region, name)
			}
		}
		if len(list) == 1 {
			return zones, "names one zone; EKS needs two at least"
		}
		return "", ""
	}
}

// armType matches AWS's instance types with an ARM processor, such as t4g.large.
var armType = regexp.MustCompile(`^(a1|[a-z]+[0-9]+g[a-z]*)\.`)

// processor returns a relation that requires nodes and their image to have the same processor.
func processor(instance, image string) Relation {
	return func(value func(string) any) (string, string) {
		kind, _ := value(instance).(string)
		ami, _ := value(image).(string)
		switch arm := armType.MatchString(kind); {
		case arm && strings.Contains(ami, "x86_64"):
			return instance, fmt.Sprintf("is %s, which has an ARM processor, but %s is %s", kind, image, ami)
		case !arm && strings.Contains(ami, "ARM_64"):
			return instance, fmt.Sprintf("is %s, which has no ARM processor, but %s is %s", kind, image, ami)
		}
		return "", ""
	}
}

// unrelated returns the problems of values that do not fit together.
func (p Provider) unrelated(file config.StackFile) []config.Problem {
	var problems []config.Problem
	for _, relation := range p.Relations {
		key, text := relation(func(key string) any { return p.Value(file, key) })
		if key != "" {
			problems = append(problems, file.Problem(key, text))
		}
	}
	return problems
}
