package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/doctor/preflight"
)

// port is a port of this machine that an environment wants.
type port struct {
	address string
	number  int
	problem config.Problem // names file and line
}

// portsOf returns the ports that an environment on this machine wants.
func portsOf(s *session.Resolved) (ports []port) {
	if !s.Provider.Local {
		return nil
	}
	file := s.Settings.Config
	for _, want := range preflight.KindPorts() {
		number, ok := config.Number(s.Provider.Value(file, want.Key))
		if !ok || number == 0 { // any free port
			continue
		}
		address, _ := s.Provider.Value(file, want.Address).(string)
		ports = append(ports, port{address: address, number: number, problem: file.Problem(want.Key, "")})
	}
	return ports
}

// samePorts doubts environments that want ports of this machine that an earlier one wants.
func samePorts(all []environment) (found []Finding) {
	for i, one := range all {
		for _, other := range all[:i] {
			shared := sharedPorts(one.ports, other.ports)
			if len(shared) == 0 {
				continue
			}
			numbers := lists.Map(shared, func(p port) string { return strconv.Itoa(p.number) })
			problem := shared[0].problem
			problem.Text = fmt.Sprintf("and %s want the same ports of this machine (%s): only one of the two can run on it",
				other.Name, strings.Join(numbers, ", "))
			problem.Key = one.Name
			found = append(found, Finding{Problem: problem, Kind: Ports, Doubt: true, Environments: []string{one.Name}})
			break
		}
	}
	return found
}

// sharedPorts returns the ports that two environments want.
func sharedPorts(one, other []port) []port {
	return slices.DeleteFunc(slices.Clone(one), func(want port) bool {
		return !slices.ContainsFunc(other, func(taken port) bool {
			return want.number == taken.number && overlap(want.address, taken.address)
		})
	})
}

// overlap reports whether two addresses that are listened on have one in common.
func overlap(a, b string) bool {
	return a == b || a == "0.0.0.0" || b == "0.0.0.0" || a == "::" || b == "::"
}
