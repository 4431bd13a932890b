package exports

import (
	"mara/runner/internal/fleet"
	"mara/runner/internal/request"
)

// wavesOf are the chosen environments of the fleet in the waves of config/rollout.yaml,
// one after the other as they are listed there; one wave where there are none. held
// says whether something waits between them: a soak or a gate.
func wavesOf(r request.Request, s fleet.Selection) (waves [][]string, held bool, err error) {
	all, rollout, err := r.Fleet()
	if err != nil {
		return nil, false, err
	}
	chosen, err := fleet.Select(all, s)
	if err != nil {
		return nil, false, err
	}
	members := map[string][]string{}
	for _, e := range chosen {
		wave, err := rollout.WaveOf(e)
		if err != nil {
			return nil, false, err
		}
		members[wave.Name] = append(members[wave.Name], e.Stack)
	}
	if len(rollout.Waves) == 0 {
		return [][]string{members[""]}, false, nil
	}
	for _, wave := range rollout.Waves {
		if len(members[wave.Name]) > 0 {
			waves = append(waves, members[wave.Name])
			held = held || wave.Soak > 0 || len(wave.Gates) > 0
		}
	}
	return waves, held, nil
}
