package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/encryption"
	"mara/runner/internal/typeset"
)

// provideSecrets asks for what is missing: the passphrase, and the secrets that
// the operation needs. All of them are kept at once, encrypted, or none.
func (s *Session) provideSecrets(ctx context.Context, why Need) error {
	if why == ToLook {
		return nil
	}
	if why == ToOperate {
		if err := s.adoptSalt(ctx); err != nil {
			return err
		}
	}
	if err := s.providePassphrase(ctx); err != nil {
		return err
	}
	values, err := s.givenSecrets()
	if err != nil {
		return err
	}
	lacks := slices.DeleteFunc(s.lackingSecrets(s.options.Secrets), func(l lack) bool { return s.options.Secrets.gives(l.secret.Key) })
	if len(values)+len(lacks) == 0 {
		return nil
	}
	sealer, err := s.OpenSealer(ctx)
	if err != nil {
		return err
	}
	if err := s.leaveSame(ctx, sealer, values); err != nil {
		return err
	}
	made, err := s.fillSecrets(ctx, lacks)
	if err != nil || len(values)+len(made) == 0 {
		return err
	}
	maps.Copy(values, made)
	if err := s.StoreSecrets(ctx, sealer, values); err != nil {
		return err
	}
	fmt.Fprintf(s.deps.Stderr, "kept %s in %s, encrypted\n", typeset.Counted(len(values), "secret"), s.Settings.Secrets.File)
	return nil
}

// givenSecrets reads the values that the command line names; what is wrong with
// them is told at once.
func (s *Session) givenSecrets() (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	for _, source := range s.options.Secrets.Given {
		value, err := source.Read(s.deps, s.options.Sources)
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
func (s *Session) leaveSame(ctx context.Context, sealer encryption.Sealer, values map[string]string) error {
	known, err := s.UnsealSecrets(ctx, sealer, slices.Collect(maps.Keys(values)))
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
func (s *Session) fillSecrets(ctx context.Context, lacks []lack) (map[string]string, error) {
	values := map[string]string{}
	asked := false
	for _, lack := range lacks {
		if s.options.Secrets.Generate && lack.secret.Generate != projects.None {
			value, err := encryption.Generate(lack.secret)
			if err != nil {
				return nil, fmt.Errorf("making %s: %w", lack.secret.Key, err)
			}
			values[lack.secret.Key] = value
			continue
		}
		if !asked {
			fmt.Fprintf(s.deps.Stderr, "Some secrets of %s are missing. They are kept encrypted in %s.\n", s.Settings.Stack.Text, s.Settings.Secrets.File)
			asked = true
		}
		value, err := s.AskSecret(ctx, lack.secret)
		if err != nil {
			return nil, err
		}
		values[lack.secret.Key] = value
	}
	return values, nil
}
