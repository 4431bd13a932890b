package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/machine/typeset"
)

// Provide gets what an operation lacks: the passphrase, and the secrets that it
// needs. It keeps all of them, encrypted, or none.
func (v *Vault) Provide(ctx context.Context) error {
	if err := v.adoptSalt(ctx); err != nil {
		return err
	}
	if err := v.AskPassphrase(ctx); err != nil {
		return err
	}
	values, err := v.readGiven()
	if err != nil {
		return err
	}
	missing := v.toProvide()
	if len(values)+len(missing) == 0 {
		return nil
	}
	keys := slices.Collect(maps.Keys(values))
	for _, m := range missing {
		keys = append(keys, m.Secret.Key)
	}
	sealer, err := v.SealerFor(ctx, keys...)
	if err != nil {
		return err
	}
	known, err := v.Unseal(ctx, sealer, slices.Collect(maps.Keys(values)))
	if err != nil {
		return err
	}
	maps.DeleteFunc(values, func(key, value string) bool { // encrypting it again would change the file for nothing
		old, ok := known[key]
		return ok && old == value
	})
	made, err := fill(ctx, v, missing)
	if err != nil || len(values)+len(made) == 0 {
		return err
	}
	maps.Copy(values, made)
	if err := v.Store(ctx, sealer, values); err != nil {
		return err
	}
	fmt.Fprintf(v.Stderr, "stored %s in %s, encrypted\n", typeset.Counted(len(values), "secret"),
		strings.Join(v.filesOf(values), ", "))
	return nil
}

// filesOf returns the files that values belong in.
func (o Options) filesOf(values map[string]string) (files []string) {
	for key := range values {
		files = append(files, o.FileOf(key))
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// KeepsSomething reports whether Provide may ask for secrets or write them.
func (o Options) KeepsSomething() bool {
	return o.Interactive || o.Given.Generate || len(o.Given.Sources) > 0
}

// readGiven reads the values that the command line names. It tells everything
// that is wrong with them at once.
func (o Options) readGiven() (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	for _, source := range o.Given.Sources {
		value, err := source.Read(o.Console, o.Sources)
		if problem, ok := errors.AsType[*config.Error](err); ok {
			wrong = config.WithProblems(wrong, problem.Problems)
			continue
		}
		if err != nil {
			return nil, err
		}
		values[source.Secret.Key] = value
	}
	return values, wrong
}

// fill makes the values that are missing, or asks for them.
func fill(ctx context.Context, v *Vault, missing []Missing) (map[string]string, error) {
	values := map[string]string{}
	asked := false
	for _, m := range missing {
		if v.Given.Generate && m.Secret.Generate != model.None {
			value, err := encryption.Generate(m.Secret)
			if err != nil {
				return nil, fmt.Errorf("making %s: %w", m.Secret.Key, err)
			}
			values[m.Secret.Key] = value
			continue
		}
		if !asked {
			of := map[string]string{}
			for _, m := range missing {
				of[m.Secret.Key] = ""
			}
			fmt.Fprintf(v.Stderr, "Some secrets of %s are missing. They are kept encrypted in %s.\n", v.stack(),
				strings.Join(v.filesOf(of), ", "))
			asked = true
		}
		value, err := v.Ask(ctx, m.Secret)
		if err != nil {
			return nil, err
		}
		values[m.Secret.Key] = value
	}
	return values, nil
}
