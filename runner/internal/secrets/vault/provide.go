package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/secrets/encryption"
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
	p := provision{v}
	values, err := p.readGiven()
	if err != nil {
		return err
	}
	missing := v.toProvide()
	if len(values)+len(missing) == 0 {
		return nil
	}
	sealer, err := v.Sealer(ctx)
	if err != nil {
		return err
	}
	if err := p.dropUnchanged(ctx, sealer, values); err != nil {
		return err
	}
	made, err := p.fill(ctx, missing)
	if err != nil || len(values)+len(made) == 0 {
		return err
	}
	maps.Copy(values, made)
	if err := v.Store(ctx, sealer, values); err != nil {
		return err
	}
	fmt.Fprintf(v.Stderr, "kept %s in %s, encrypted\n", typeset.Counted(len(values), "secret"), v.Settings.Secrets.File)
	return nil
}

// KeepsSomething reports whether Provide may ask for secrets or write them.
func (o Options) KeepsSomething() bool {
	return o.Interactive || o.Given.Generate || len(o.Given.Sources) > 0
}

// provision is Provide at work.
type provision struct{ *Vault }

// readGiven reads the values that the command line names. It tells everything
// that is wrong with them at once.
func (p provision) readGiven() (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	for _, source := range p.Given.Sources {
		if err := p.Refuse(source.Secret.Key); err != nil {
			return nil, err
		}
	}
	for _, source := range p.Given.Sources {
		value, err := source.Read(p.Console, p.Sources)
		var problem *config.Error
		if errors.As(err, &problem) {
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

// dropUnchanged drops the values that the file has already: encrypting them
// again would change it for nothing.
func (p provision) dropUnchanged(ctx context.Context, sealer encryption.Sealer, values map[string]string) error {
	known, err := p.Unseal(ctx, sealer, slices.Collect(maps.Keys(values)))
	if err != nil {
		return err
	}
	maps.DeleteFunc(values, func(key, value string) bool {
		old, ok := known[key]
		return ok && old == value
	})
	return nil
}

// fill makes the values that are missing, or asks for them.
func (p provision) fill(ctx context.Context, missing []Missing) (map[string]string, error) {
	values := map[string]string{}
	asked := false
	for _, m := range missing {
		if p.Given.Generate && m.Secret.Generate != model.None {
			value, err := encryption.Generate(m.Secret)
			if err != nil {
				return nil, fmt.Errorf("making %s: %w", m.Secret.Key, err)
			}
			values[m.Secret.Key] = value
			continue
		}
		if !asked {
			fmt.Fprintf(p.Stderr, "Some secrets of %s are missing. They are kept encrypted in %s.\n", p.stack(),
				p.Settings.Secrets.File)
			asked = true
		}
		value, err := p.Ask(ctx, m.Secret)
		if err != nil {
			return nil, err
		}
		values[m.Secret.Key] = value
	}
	return values, nil
}
