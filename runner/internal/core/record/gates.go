package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"mara/projects/model/operation"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/lock"
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
	return onRecord(d, o, stack, func(s *session.Session) error {
		store, err := s.RunLock().Rolled(ctx)
		if err != nil {
			return err
		}
		last, err := read(ctx, s, store)
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
	err = onRecord(d, o, stack, func(s *session.Session) error {
		store, err := s.RunLock().Rolled(ctx)
		if err != nil {
			return err
		}
		last, err := read(ctx, s, store)
		if err != nil {
			return err
		}
		passed, err := readGates(ctx, s, store)
		if err != nil {
			return err
		}
		ran, err := last.ran()
		missing = slices.DeleteFunc(slices.Clone(gates), func(gate string) bool {
			return passed.Ran == ran && slices.Contains(passed.Gates, gate)
		})
		return err
	})
	return missing, err
}

func readGates(ctx context.Context, s *session.Session, store lock.Store) (passed passedGates, err error) {
	var content []byte
	if store != nil {
		objects, err := store.List(ctx)
		if err != nil {
			return passed, err
		}
		content = objects[gatesKey]
	} else {
		content, err = os.ReadFile(s.Directory.Gates(s.Settings.Stack.Text))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return passed, err
		}
	}
	if json.Unmarshal(content, &passed) != nil {
		return passedGates{}, nil // none, or damaged: the gates are asked again
	}
	return passed, nil
}

// onRecord resolves the settings of an environment, whose record is to be read.
func onRecord(d session.Deps, o session.Options, stack string, do func(*session.Session) error) error {
	o.Request, o.Operation = o.Of(stack), operation.Up
	return session.Use(d, o, (*session.Session).ResolveStack, do)
}
