package stacks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"mara/projects/model"
)

// Encryption says how a state's secrets are to be encrypted.
type Encryption struct {
	Salt     string            // of a passphrase
	Provider string            // URL of a key service, with
	DataKey  string            // the data key that it keeps safe
	Env      map[string]string // what the new one needs, such as the passphrase
	Service  string            // the address of Pulumi Cloud, which encrypts with a key of each stack
}

// serviceProvider is the type of the encryption of Pulumi Cloud in a state.
const serviceProvider = "service"

// secretsProvider is what a state says about its encryption.
type secretsProvider struct {
	Type  string          `json:"type"`
	State json.RawMessage `json:"state"`
}

// inState returns the encryption in the form of the state of a project's stack.
func (c copies) inState(project string, n Encryption) (secretsProvider, error) {
	kind, state := "cloud", map[string]string{"url": n.Provider, "encryptedkey": n.DataKey}
	switch {
	case n.Service != "":
		kind, state = serviceProvider, map[string]string{"url": n.Service, "owner": c.options.Organization, "project": project,
			"stack": c.stackOf(project)}
	case n.Salt != "":
		kind, state = "passphrase", map[string]string{"salt": n.Salt}
	}
	text, err := json.Marshal(state)
	return secretsProvider{Type: kind, State: text}, err
}

// Projects lists the projects of the environment that have a stack.
func (e *Set) Projects() []string {
	return slices.DeleteFunc(e.listed(), func(project string) bool { return !e.isOurs(project) })
}

// Unclaimed lists the projects with a stack of the environment's name that are not
// projects of the environment.
func (e *Set) Unclaimed() []string {
	return slices.DeleteFunc(e.listed(), func(project string) bool { return e.isOurs(project) || AtService{e}.holdsKey(project) })
}

// holdsKey reports whether a stack at a service is there for its key alone, which encrypts the secrets of the files.
func (e AtService) holdsKey(project string) bool {
	return e.options.Service != nil && project == model.SecretsProject && e.Summary(project).Resources == 0
}

// listed lists all projects with a stack of the environment's name.
func (e *Set) listed() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.summaries))
}

func (e *Set) isOurs(project string) bool {
	return e.options.Projects == nil || slices.Contains(e.options.Projects, project)
}

// Salt reads the salt of the passphrase that encrypts the deployed states; "" if
// there is none. All stacks of an environment share it.
func (e *Set) Salt(ctx context.Context) (string, error) {
	for _, project := range e.Projects() {
		standing, err := e.Standing(ctx, project)
		if err != nil || standing.Salt != "" {
			return standing.Salt, err
		}
	}
	return "", nil
}

// Reencrypt changes the encryption of the state of a project's stack. changed is
// false if the state has it already, so calling it again is safe. Between the two
// commands that read and write the state, it is in plain text in this process
// only.
func (e *Set) Reencrypt(ctx context.Context, project string, to Encryption) (changed bool, err error) {
	wanted, err := e.inState(project, to)
	if err != nil {
		return false, err
	}
	content, err := e.Export(ctx, project)
	if err != nil {
		return false, err
	}
	if same, err := isEncrypted(content, wanted); err != nil || same {
		return false, wrapState(project, err)
	}
	plain, err := e.runOn(ctx, project, "stack", "export", "--show-secrets")
	if err != nil {
		return false, fmt.Errorf("decrypting the state of %s: %w", project, err)
	}
	renewed, err := withProvider([]byte(plain), wanted)
	if err != nil {
		return false, wrapState(project, err)
	}
	if err := e.restore(ctx, project, to.Env, renewed); err != nil {
		return false, fmt.Errorf("encrypting the state of %s: %w", project, err)
	}
	return true, nil
}

// rewrite exports the state of a project, changes it, and imports it again. doing begins the error.
func (e *Set) rewrite(ctx context.Context, project, doing string, change func([]byte) ([]byte, error)) error {
	content, err := e.Export(ctx, project)
	if err != nil {
		return err
	}
	changed, err := change(content)
	if err == nil {
		err = e.restore(ctx, project, nil, changed)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// restore imports a state, which Pulumi reads from a pipe.
func (e *Set) restore(ctx context.Context, project string, env map[string]string, state []byte) error {
	_, err := e.executeOn(ctx, project, bytes.NewReader(state), env, "stack", "import")
	return err
}

func wrapState(project string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reading the state of %s: %w", project, err)
}

// isEncrypted reports whether an exported state has an encryption. A state that
// names none has nothing to encrypt.
func isEncrypted(content []byte, wanted secretsProvider) (bool, error) {
	has, err := providerIn(content)
	if err != nil || has == nil {
		return true, err
	}
	var a, b map[string]string
	if has.Type != wanted.Type || json.Unmarshal(has.State, &a) != nil || json.Unmarshal(wanted.State, &b) != nil {
		return false, nil
	}
	return maps.Equal(a, b), nil
}

// providerIn returns the encryption of an exported state; nil if it names none.
func providerIn(content []byte) (*secretsProvider, error) {
	var exported struct {
		Deployment struct {
			Provider *secretsProvider `json:"secrets_providers"`
		} `json:"deployment"`
	}
	if err := json.Unmarshal(content, &exported); err != nil {
		return nil, fmt.Errorf("pulumi answered with something else than JSON: %w", err)
	}
	return exported.Deployment.Provider, nil
}

// withProvider sets the encryption of an exported state in plain text, and leaves
// the rest as Pulumi has written it.
func withProvider(content []byte, wanted secretsProvider) ([]byte, error) {
	var exported, deployment map[string]json.RawMessage
	if err := json.Unmarshal(content, &exported); err != nil {
		return nil, fmt.Errorf("pulumi answered with something else than JSON: %w", err)
	}
	if err := json.Unmarshal(exported["deployment"], &deployment); err != nil {
		return nil, fmt.Errorf("pulumi answered with a state without resources: %w", err)
	}
	var err error
	if deployment["secrets_providers"], err = json.Marshal(wanted); err != nil {
		return nil, err
	}
	if exported["deployment"], err = json.Marshal(deployment); err != nil {
		return nil, err
	}
	return json.Marshal(exported)
}
