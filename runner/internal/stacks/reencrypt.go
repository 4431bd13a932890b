package stacks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mara/runner/internal/layout"
)

// Encryption is how a state's secrets are to be encrypted, in the state's own
// words.
type Encryption struct {
	Salt     string            // of a passphrase
	Provider string            // URL of a key service, with
	DataKey  string            // the data key that it keeps safe
	Env      map[string]string // what the new one needs, such as the passphrase
}

// secretsProvider is what a state says about its encryption.
type secretsProvider struct {
	Type  string          `json:"type"`
	State json.RawMessage `json:"state"`
}

// inState is the encryption as a state has it.
func (n Encryption) inState() (secretsProvider, error) {
	kind, state := "passphrase", map[string]string{"salt": n.Salt}
	if n.Salt == "" {
		kind, state = "cloud", map[string]string{"url": n.Provider, "encryptedkey": n.DataKey}
	}
	text, err := json.Marshal(state)
	return secretsProvider{Type: kind, State: text}, err
}

// Projects lists the projects that have a stack in the environment.
func (e *Environment) Projects() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.summaries))
}

// Salt is the salt of the passphrase that a deployed state is encrypted with,
// "" when there is none. All stacks of an environment share it.
func (e *Environment) Salt(ctx context.Context) (string, error) {
	for _, project := range e.Projects() {
		content, err := e.Export(ctx, project)
		if err != nil {
			return "", err
		}
		provider, err := providerIn(content)
		if err != nil {
			return "", wrapState(project, err)
		}
		if salt := provider.salt(); salt != "" {
			return salt, nil
		}
	}
	return "", nil
}

// SaltInFolder is Salt where states are files below the folder of a file
// backend: no command is needed to read them. What cannot be read there is
// reported by whoever needs more of it.
func SaltInFolder(backendFolder, stack string) string {
	files, _ := filepath.Glob(layout.State(backendFolder).Stack("*", stack))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var stored struct {
			Checkpoint struct {
				Latest struct {
					Provider *secretsProvider `json:"secrets_providers"`
				} `json:"latest"`
			} `json:"checkpoint"`
		}
		if err := json.Unmarshal(content, &stored); err != nil {
			continue
		}
		if salt := stored.Checkpoint.Latest.Provider.salt(); salt != "" {
			return salt
		}
	}
	return ""
}

// salt is that of a passphrase, "" for other encryptions.
func (p *secretsProvider) salt() string {
	var state struct{ Salt string }
	if p == nil || json.Unmarshal(p.State, &state) != nil {
		return ""
	}
	return state.Salt
}

// Reencrypt encrypts the state of a project's stack in another way. changed is
// false when it is so already, which makes doing it again safe. Pulumi reads
// and writes the state in one step each; between them it passes through this
// process only.
func (e *Environment) Reencrypt(ctx context.Context, project string, to Encryption) (changed bool, err error) {
	wanted, err := to.inState()
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
	dir, err := e.workingCopy(project)
	if err != nil {
		return false, err
	}
	plain, err := e.run(ctx, dir, "stack", "export", "--show-secrets", "--stack", e.qualified(project))
	if err != nil {
		return false, fmt.Errorf("decrypting the state of %s: %w", project, err)
	}
	renewed, err := withProvider([]byte(plain), wanted)
	if err != nil {
		return false, wrapState(project, err)
	}
	if err := e.restore(ctx, dir, project, to.Env, renewed); err != nil {
		return false, fmt.Errorf("encrypting the state of %s: %w", project, err)
	}
	return true, nil
}

// restore has Pulumi take a state, which comes by a pipe.
func (e *Environment) restore(ctx context.Context, dir, project string, env map[string]string, state []byte) error {
	merged := maps.Clone(e.options.Env)
	maps.Copy(merged, env)
	_, stderr, _, err := e.options.Command.Run(ctx, dir, bytes.NewReader(state), nil, nil, Environ(merged), "stack", "import", "--stack", e.qualified(project))
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return e.explain(err, stderr)
	}
	return nil
}

func wrapState(project string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reading the state of %s: %w", project, err)
}

// isEncrypted says whether an exported state is encrypted so already. A state
// that says nothing has nothing to encrypt.
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

// providerIn is what an exported state says about its encryption, nil when it
// says nothing.
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

// withProvider is an exported state, in plain text, that says how it is to be
// encrypted. Everything else stays as Pulumi has written it.
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
