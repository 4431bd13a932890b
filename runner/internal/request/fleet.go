package request

import (
	"mara/config"
	"mara/runner/internal/fleet"
)

// Fleet reads all environments of the root, and the waves that they are in. It
// tells everything that is wrong with them at once.
func (r Request) Fleet() ([]fleet.Environment, fleet.Rollout, error) {
	if r.Root == "" {
		return nil, fleet.Rollout{}, r.NoRoot
	}
	names, err := config.Stacks(r.Root)
	errs := []error{err}
	var all []fleet.Environment
	for _, name := range names {
		e, err := r.Environment(name)
		errs = append(errs, err)
		all = append(all, e)
	}
	if err := config.Join(errs...); err != nil {
		return nil, fleet.Rollout{}, err
	}
	rollout, err := fleet.ReadRollout(r.Root, all)
	return all, rollout, err
}

// Choose reads the fleet, and chooses among its environments: none where there are none.
func (r Request) Choose(s fleet.Selection) ([]fleet.Environment, fleet.Rollout, error) {
	all, rollout, err := r.Fleet()
	if err != nil || len(all) == 0 {
		return nil, rollout, err
	}
	chosen, err := fleet.Select(all, s)
	return chosen, rollout, err
}

// Environment reads one environment of the fleet.
func (r Request) Environment(stack string) (fleet.Environment, error) {
	file, described, err := r.ReadStack(stack)
	if err != nil {
		return fleet.Environment{}, err
	}
	provider := file.Text(config.InfraType).Text
	if named, err := r.RememberedProvider(r.Folder(), stack, file.Text(config.InfraType)); err == nil && provider == "" {
		provider = named.Text
	}
	return fleet.NewEnvironment(stack, provider, file, described), nil
}

// Of is the request for one environment of the fleet.
func (r Request) Of(stack string) Request {
	r.Stack = config.Value{Text: stack, Origin: config.Origin{Source: config.FromFleet}}
	return r
}
