package preflight

import (
	"mara/config"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/runner/internal/core/session"
)

// Facts is what checks know about the environment.
type Facts struct {
	Operation operation.Operation
	Stack     string            // "" if none is chosen
	Env       map[string]string // of Pulumi and its plugins
	Config    config.StackFile
	Provider  model.Provider
	Clouds    cloud.Clients // nil if the real clouds cannot be asked
	Probes    session.Probes
	Absent    []string // projects of which there is certainly no state

	dockerToo bool     // Docker is checked as well, and needed
	projects  []string // that are selected
}

// named returns the checks that providers name.
func named() map[string]func(Facts) Check {
	return map[string]func(Facts) Check{
		"docker":         docker,
		"kubectl":        kubectl,
		"aws-cli":        awsCLI,
		"account":        account,
		"cluster":        existingCluster,
		"kind-runtime":   onThisMachine("container runtime", machine.kindRuntime),
		"kind-nodes":     onThisMachine("nodes", machine.kindNodes),
		"kind-resources": onThisMachine("memory and disk", machine.kindResources),
		"kind-limits":    onThisMachine("kernel limits", machine.kindLimits),
		"kind-ports":     onThisMachine("ports", machine.kindPorts),
	}
}

// ForProvider makes the checks that a provider names for an operation on some of
// its projects.
func ForProvider(p model.Provider, projects []string, f Facts) []Check {
	known := named()
	var checks []Check
	names, needed := p.NeededFor(f.Operation, projects)
	f.Provider, f.projects, f.dockerToo = p, projects, needed["docker"]
	for _, name := range names {
		if (name == "account" || name == "cluster") && f.Clouds == nil {
			continue
		}
		check := known[name](f)
		check.Name = name
		if !needed[name] {
			check = Optional(check)
		}
		checks = append(checks, check)
	}
	return checks
}
