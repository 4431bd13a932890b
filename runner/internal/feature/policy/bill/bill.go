// Package bill estimates what deployed resources cost a month, from their states and the sheet of prices. It starts no
// preview and asks no cloud.
package bill

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/policy/cost"
)

// Environment is what an environment costs, and its JSON form.
type Environment struct {
	Environment string       `json:"environment"`
	Costs       *event.Costs `json:"costs,omitempty"`
	Error       string       `json:"error,omitempty"` // why the costs cannot be estimated
}

// IsPartial reports whether something in the environment is not counted.
func (e Environment) IsPartial() bool { return len(e.Uncounted()) > 0 }

// Uncounted lists what is not counted, with the reasons.
func (e Environment) Uncounted() []string {
	if e.Costs == nil {
		return nil
	}
	return cost.Estimate{Costs: *e.Costs}.Uncounted()
}

// OfAll estimates the costs of environments. Each has its own error.
func OfAll(ctx context.Context, d session.Deps, o session.Options, names []string, sheet cost.Sheet) []Environment {
	all := []Environment{}
	for _, name := range names {
		e := Environment{Environment: name}
		estimate, err := Of(ctx, d, o, name, sheet)
		if err != nil {
			e.Error = err.Error()
		} else {
			e.Costs = &estimate.Costs
		}
		all = append(all, e)
	}
	return all
}

// Of estimates what the resources in the states of an environment cost.
func Of(ctx context.Context, d session.Deps, o session.Options, name string, sheet cost.Sheet) (e cost.Estimate,
	err error) {
	o.Request = o.Of(name)
	err = session.Use(d, o, session.ResolveStack, func(s *session.Resolved) error {
		document := updateplan.Document{}
		if s.States().MayHaveStates() {
			states, err := inventory.OfEnvironment(ctx, s)
			if err != nil {
				return err
			}
			for _, project := range slices.Sorted(maps.Keys(states)) {
				steps, err := stepsIn(states[project])
				if err != nil {
					return fmt.Errorf("the state of %s: %w", project, err)
				}
				document.Projects = append(document.Projects, updateplan.Project{Name: project, Steps: steps})
			}
		}
		e, err = sheet.Of(ctx, document, func(name string) string { return DefaultRegion(s, name) })
		return err
	})
	return e, err
}

// DefaultRegion returns where the default provider of a package works: the configuration, then for AWS the
// variables that its SDK reads. A region in a profile is not known.
func DefaultRegion(s *session.Resolved, name string) string {
	if region := s.Settings.Config.Text(name + ":region").Text; region != "" || name != "aws" {
		return region
	}
	environ := s.Settings.Environ()
	if region := environ["AWS_REGION"]; region != "" {
		return region
	}
	return environ["AWS_DEFAULT_REGION"]
}

// resource is a resource in a state.
type resource struct {
	URN      string         `json:"urn"`
	Type     string         `json:"type"`
	Provider string         `json:"provider"` // the URN of the provider and an ID
	External bool           `json:"external"` // read, not created
	Inputs   map[string]any `json:"inputs"`
}

// stepsIn returns the resources of a state as steps that change nothing. What depends on an encrypted input is unknown.
func stepsIn(state json.RawMessage) (steps []updateplan.Step, err error) {
	var content struct {
		Resources []resource `json:"resources"`
	}
	if len(state) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(state, &content); err != nil {
		return nil, err
	}
	regions := map[string]string{} // of providers
	for _, r := range content.Resources {
		if strings.HasPrefix(r.Type, "pulumi:providers:") {
			regions[r.URN], _ = r.Inputs["region"].(string)
		}
	}
	for _, r := range content.Resources {
		if strings.HasPrefix(r.Type, "pulumi:") || r.External {
			continue
		}
		provider := r.Provider
		if i := strings.LastIndex(provider, "::"); i >= 0 {
			provider = provider[:i]
		}
		steps = append(steps, updateplan.Step{Op: "same", Type: r.Type, URN: r.URN, Region: regions[provider],
			Name: r.URN[strings.LastIndex(r.URN, "::")+len("::"):], Inputs: r.Inputs})
	}
	return steps, nil
}
