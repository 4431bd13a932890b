package stacks

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	"mara/runner/internal/machine/exactjson"
	"mara/runner/internal/machine/failure"
)

// Copier copies states between the same stacks of two backends.
type Copier struct {
	From, To *Set
	// Encrypt says how the copies are encrypted, where the new backend does not keep the encryption of the old one. It
	// is asked with the type of encryption in the old state, such as "passphrase" or "service", and returns nil to keep
	// it.
	Encrypt func(project, before string) *Encryption
}

// HasCopied reports whether the new backend has the state of a project's stack already. A
// different state there is an error.
func (c Copier) HasCopied(ctx context.Context, project string) (bool, error) {
	if c.To.Summary(project).Resources == 0 {
		return false, nil
	}
	same, err := c.isSame(ctx, project)
	if err == nil && !same {
		err = &failure.Environment{
			Text: "another state of " + project + " is in the new backend already; nothing is overwritten",
			Next: "look whether another environment of this name is there, or whether it was deployed to since, before you " +
				"delete it",
		}
	}
	return same, err
}

// Copy copies the state of a project's stack to the same stack of the new backend,
// which has none or one without resources; reads it back, and compares both. Secrets stay
// encrypted with the same key, unless Encrypt names another one.
func (c Copier) Copy(ctx context.Context, project string) error {
	content, err := c.From.Export(ctx, project)
	if err != nil {
		return err
	}
	if !c.To.Summary(project).Exists {
		if err := c.To.create(ctx, project); err != nil {
			return fmt.Errorf("creating the stack of %s: %w", project, err)
		}
	}
	if !c.From.IsDeployed(project) {
		return nil
	}
	content, env, err := c.encrypt(ctx, project, content)
	if err != nil {
		return err
	}
	if err := c.To.restore(ctx, project, env, c.renamed(content)); err != nil {
		return fmt.Errorf("writing the state of %s: %w", project, err)
	}
	same, err := c.isSame(ctx, project)
	if err == nil && !same {
		err = fmt.Errorf("the copy of the state of %s differs from the original", project)
	}
	return err
}

// encrypt returns an exported state for the new backend, and the variables that Pulumi needs to import it. A state whose
// encryption changes is in plain text there, in this process only.
func (c Copier) encrypt(ctx context.Context, project string, content []byte) ([]byte, map[string]string, error) {
	before, err := providerIn(content)
	if err != nil || before == nil || c.Encrypt == nil {
		return content, nil, wrapState(project, err)
	}
	to := c.Encrypt(project, before.Type)
	if to == nil {
		return content, nil, nil
	}
	wanted, err := c.To.inState(project, *to)
	if err != nil {
		return nil, nil, err
	}
	plain, err := c.From.runOn(ctx, project, "stack", "export", "--show-secrets")
	if err != nil {
		return nil, nil, fmt.Errorf("decrypting the state of %s: %w", project, err)
	}
	renewed, err := withProvider([]byte(plain), wanted)
	return renewed, to.Env, wrapState(project, err)
}

// renamed returns a state in which references to stacks of the environment name the organization of the new backend,
// as the programs do there. Without that the next up would read all of them anew.
func (c Copier) renamed(content []byte) []byte {
	from, to := c.From.options.Organization, c.To.options.Organization
	if from == to {
		return content
	}
	for _, project := range c.From.listed() {
		stack := "/" + project + "/" + c.From.stackOf(project) + `"`
		content = bytes.ReplaceAll(content, []byte(`"`+from+stack), []byte(`"`+to+stack))
	}
	return content
}

// isSame reports whether two backends have the same state of a project's stack. Each
// import encrypts secrets again, so the states are compared in plain text, which stays
// in this process.
func (c Copier) isSame(ctx context.Context, project string) (bool, error) {
	var plain [2]map[string]any
	for i, set := range []*Set{c.From, c.To} {
		output, err := set.runOn(ctx, project, "stack", "export", "--show-secrets")
		if err != nil {
			return false, fmt.Errorf("decrypting the state of %s: %w", project, err)
		}
		exported := []byte(output)
		if set == c.From {
			exported = c.renamed(exported)
		}
		if plain[i], err = withoutManifest(exported); err != nil {
			return false, wrapState(project, err)
		}
		if c.Encrypt != nil {
			delete(plain[i], "secrets_providers")
		}
	}
	return reflect.DeepEqual(plain[0], plain[1]), nil
}

// withoutManifest decodes an exported state without what every import writes: when and by
// which version of Pulumi.
func withoutManifest(content []byte) (map[string]any, error) {
	var exported struct {
		Deployment map[string]any `json:"deployment"`
	}
	if err := exactjson.Decode(content, &exported); err != nil {
		return nil, fmt.Errorf("pulumi answered with something else than JSON: %w", err)
	}
	delete(exported.Deployment, "manifest")
	return exported.Deployment, nil
}
