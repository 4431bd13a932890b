package request

import (
	"mara/config"
	"mara/runner/internal/repo/fleet"
)

// Fleet reads all environments of the root and their waves. Its error lists all problems.
func (r Request) Fleet() ([]fleet.Environment, fleet.Rollout, error) {
	if r.Root == "" {
		return nil, fleet.Rollout{}, r.NoRoot
	}
	v := r.view()
	if len(v.problems) > 0 {
		return nil, fleet.Rollout{}, config.Join(v.problems...)
	}
	return v.all, v.waves, v.wavesErr
}

// View is the readable part of a fleet, some of whose files may be broken.
type View struct {
	Chosen []fleet.Environment
	Waves  fleet.Rollout
	Broken map[string]error // by environment
	Err    error            // all problems, or nil
}

// View chooses environments to show. Unlike Choose, it returns the readable environments if others are
// broken. It also returns broken environments, unless labels choose, which are unknown for them.
func (r Request) View(s fleet.Selection) (View, error) {
	if r.Root == "" {
		return View{}, r.NoRoot
	}
	v := r.view()
	shown := View{Waves: v.waves, Broken: v.broken, Err: config.Join(v.problems...)}
	if len(v.problems) == 0 { // else waves may miss unreadable labels
		shown.Err = v.wavesErr
	}
	if len(v.all) == 0 {
		return shown, nil
	}
	var err error
	if shown.Chosen, err = fleet.Select(v.all, s); err != nil && shown.Err != nil {
		err = config.Join(shown.Err, err)
	}
	return shown, err
}

// fleetFiles has the contents of the files of all environments of a root.
type fleetFiles struct {
	all      []fleet.Environment
	broken   map[string]error
	problems []error // with the environments
	waves    fleet.Rollout
	wavesErr error
}

func (r Request) view() fleetFiles {
	v := fleetFiles{broken: map[string]error{}}
	names, err := config.Stacks(r.Root)
	if err != nil {
		v.problems = append(v.problems, err)
	}
	for _, name := range names {
		e, err := r.Environment(name)
		if err != nil {
			e = fleet.Environment{Stack: name}
			v.broken[name] = err
			v.problems = append(v.problems, err)
		}
		v.all = append(v.all, e)
	}
	v.waves, v.wavesErr = fleet.ReadRollout(r.Root, v.all)
	return v
}

// Choose reads the fleet and chooses environments. An empty fleet is no error.
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
	if named, err := r.RememberedProvider(r.Directory(), stack, file.Text(config.InfraType)); err == nil &&
		provider == "" {
		provider = named.Text
	}
	return fleet.NewEnvironment(stack, provider, file, described), nil
}

// Of returns the request for one environment of the fleet.
func (r Request) Of(stack string) Request {
	r.Stack = config.Value{Text: stack, Origin: config.Origin{Source: config.FromFleet}}
	return r
}
