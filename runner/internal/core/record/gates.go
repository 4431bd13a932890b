package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"mara/projects/model/operation"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/atomicfile"
)

// gatesKey names what is recorded of an environment's gates in the backend.
const gatesKey = "gates.json"

// passedGates are the gates that the wave of an environment has passed, with what had run in it.
type passedGates struct {
	Gates   []string `json:"gates"`
	Ran     string   `json:"ran"` // digest of the record
	Rollout string   `json:"rollout"`
}

// ran returns a digest of the values and programs that last ran in an environment.
func (r Record) ran() (string, error) {
	type project struct{ Program, Values fingerprint.Fingerprint }
	projects := map[string]project{}
	for name, p := range r.Projects {
		projects[name] = project{p.Program, r.Runs[p.Run].Values}
	}
	content, err := json.Marshal(projects)
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:]), err
}

// PassGates records that the wave of an environment has passed gates, with what has run in it.
func PassGates(ctx context.Context, d session.Deps, o session.Options, stack, rollout string, gates []string) error {
	return onRecord(d, o, stack, func(s *session.Resolved) error {
		store, last, err := open(ctx, s)
		if err != nil {
			return err
		}
		ran, err := last.ran()
		if err != nil {
			return err
		}
		content, err := json.Marshal(passedGates{gates, ran, rollout})
		if err != nil {
			return err
		}
		content = append(content, '\n')
		if store != nil {
			return store.Put(ctx, gatesKey, content)
		}
		return atomicfile.WriteDeep(s.Directory.Gates(stack), content, 0o600, 0o700)
	})
}

// Unpassed returns those gates that the wave of an environment has not passed with what ran in it last.
func Unpassed(ctx context.Context, d session.Deps, o session.Options, stack string, gates []string) (missing []string, err error) {
	err = onRecord(d, o, stack, func(s *session.Resolved) error {
		store, last, err := open(ctx, s)
		if err != nil {
			return err
		}
		content, err := stored(ctx, store, gatesKey, s.Directory.Gates(stack))
		if err != nil {
			return err
		}
		var passed passedGates
		if json.Unmarshal(content, &passed) != nil { // none, or damaged: the gates are asked again
			passed = passedGates{}
		}
		ran, err := last.ran()
		missing = slices.DeleteFunc(slices.Clone(gates), func(gate string) bool {
			return passed.Ran == ran && slices.Contains(passed.Gates, gate)
		})
		return err
	})
	return missing, err
}

// onRecord resolves the settings of an environment, and works on its record.
func onRecord(d session.Deps, o session.Options, stack string, do func(*session.Resolved) error) error {
	o.Request, o.Operation = o.Of(stack), operation.Up
	return session.Use(d, o, session.ResolveStack, do)
}
