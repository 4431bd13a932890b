package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/encryption"
)

// provideSecrets asks for what is missing: the passphrase, and the secrets that
// the operation needs. All of them are kept at once, encrypted, or none.
func (s *session) provideSecrets(ctx context.Context, d Deps, o sessionOptions, why need) error {
	if why == toLook {
		return nil
	}
	if why == toOperate {
		if err := s.adoptSalt(ctx, d, o); err != nil {
			return err
		}
	}
	if err := s.providePassphrase(ctx, d, o); err != nil {
		return err
	}
	values, err := s.givenSecrets(d, o)
	if err != nil {
		return err
	}
	lacks := slices.DeleteFunc(s.lackingSecrets(o), func(l lack) bool { return o.Secrets.gives(l.secret.Key) })
	if len(values)+len(lacks) == 0 {
		return nil
	}
	sealer, err := s.openSealer(ctx, d, o)
	if err != nil {
		return err
	}
	if err := s.leaveSame(ctx, sealer, values); err != nil {
		return err
	}
	made, err := s.fillSecrets(ctx, d, o, lacks)
	if err != nil || len(values)+len(made) == 0 {
		return err
	}
	maps.Copy(values, made)
	if err := s.storeSecrets(ctx, d, sealer, values); err != nil {
		return err
	}
	fmt.Fprintf(d.Stderr, "kept %s in %s, encrypted\n", secretCount(len(values)), s.settings.Secrets.File)
	return nil
}

// givenSecrets reads the values that the command line names; what is wrong with
// them is told at once.
func (s *session) givenSecrets(d Deps, o sessionOptions) (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	for _, source := range o.Secrets.Given {
		value, err := source.read(d, o.Sources)
		var problem *config.Error
		if errors.As(err, &problem) {
			wrong = withProblems(wrong, problem.Problems)
			continue
		}
		if err != nil {
			return nil, err
		}
		values[source.Secret.Key] = value
	}
	return values, wrong
}

// leaveSame takes the values away that the file has already: encrypting them
// again would change the file for nothing.
func (s *session) leaveSame(ctx context.Context, sealer encryption.Sealer, values map[string]string) error {
	known, err := s.unsealSecrets(ctx, sealer, slices.Collect(maps.Keys(values)))
	if err != nil {
		return err
	}
	maps.DeleteFunc(values, func(key, value string) bool {
		old, ok := known[key]
		return ok && old == value
	})
	return nil
}

// fillSecrets makes the values that are missing, or asks for them.
func (s *session) fillSecrets(ctx context.Context, d Deps, o sessionOptions, lacks []lack) (map[string]string, error) {
	values := map[string]string{}
	asked := false
	for _, lack := range lacks {
		if o.Secrets.Generate && lack.secret.Generate != projects.None {
			value, err := encryption.Generate(lack.secret)
			if err != nil {
				return nil, fmt.Errorf("making %s: %w", lack.secret.Key, err)
			}
			values[lack.secret.Key] = value
			continue
		}
		if !asked {
			fmt.Fprintf(d.Stderr, "Some secrets of %s are missing. They are kept encrypted in %s.\n", s.settings.Stack.Text, s.settings.Secrets.File)
			asked = true
		}
		value, err := askSecret(ctx, d, o, lack.secret)
		if err != nil {
			return nil, err
		}
		values[lack.secret.Key] = value
	}
	return values, nil
}

func secretCount(n int) string {
	if n == 1 {
		return "1 secret"
	}
	return fmt.Sprintf("%d secrets", n)
}
