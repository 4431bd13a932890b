package preflight

import (
	"mara/config"
	"mara/providers"
)

// Facts is what checks need to know about the environment.
type Facts struct {
	Operation string            // "up"
	Env       map[string]string // what Pulumi and its plugins get to see
	Config    config.StackFile
}

// named are the checks that providers name.
func named() map[string]func(Facts) Check {
	return map[string]func(Facts) Check{
		"docker":  docker,
		"kubectl": kubectl,
		"aws-cli": awsCLI,
	}
}

// ForProvider makes the checks that a provider names for an operation on some of
// its projects.
func ForProvider(p providers.Provider, projects []string, f Facts) []Check {
	known := named()
	var checks []Check
	names, needed := p.NeededFor(f.Operation, projects)
	for _, name := range names {
		check := known[name](f)
		check.Name = name
		if !needed[name] {
			check = Optional(check)
		}
		checks = append(checks, check)
	}
	return checks
}
