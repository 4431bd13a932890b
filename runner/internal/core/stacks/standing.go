package stacks

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/statefiles"
)

// Standing is what the state of a project's stack says of itself without a key,
// to tell whether anybody has changed it.
type Standing struct {
	Digest    string // of all of it; "" where there is no state
	Outputs   string // of the stack, as text, secrets encrypted
	Salt      string // of the passphrase that encrypts them; "" for another key
	Resources int
	// Foreign are references to stacks that are not of the environment.
	Foreign []string
}

// Standing reads the state of a project's stack.
func (e *Set) Standing(ctx context.Context, project string) (Standing, error) {
	if standing, ok := e.options.Standings[project]; ok {
		return standing, nil
	}
	content, err := e.rawState(ctx, project)
	if err != nil || len(content) == 0 {
		return Standing{}, err
	}
	return e.standingOf(content)
}

func (c copies) standingOf(content json.RawMessage) (Standing, error) {
	var state struct {
		Provider struct {
			State struct{ Salt string } `json:"state"`
		} `json:"secrets_providers"`
		Resources []struct {
			Type    string          `json:"type"`
			ID      string          `json:"id"`
			Outputs json.RawMessage `json:"outputs"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(content, &state); err != nil {
		return Standing{}, err
	}
	digest := fingerprint.Digest(content)
	standing := Standing{Digest: digest, Resources: len(state.Resources), Salt: state.Provider.State.Salt}
	for _, r := range state.Resources {
		switch r.Type {
		case stackType:
			standing.Outputs = string(r.Outputs)
		case referenceType:
			if _, ours := c.ProjectOf(r.ID); !ours {
				standing.Foreign = append(standing.Foreign, r.ID)
			}
		}
	}
	return standing, nil
}

// Opener decrypts a secret of a state.
type Opener = func(salt, ciphertext string) (string, error)

// HasSameOutputs reports whether the outputs are what they were, secrets
// included. Pulumi encrypts those anew each time, so open says what is in them.
func (s Standing) HasSameOutputs(then Standing, open Opener) bool {
	if s.Outputs == then.Outputs {
		return true
	}
	hidden := func(string, string) (string, error) { return "", nil }
	for _, open := range []Opener{hidden, open} { // decrypting takes time
		now, before, ok := s.revealed(then, open)
		if !ok || !reflect.DeepEqual(now, before) {
			return false
		}
	}
	return true
}

// ChangedOutputs returns the names of the outputs whose values differ, secrets
// included, that both states have. Where open fails it returns none.
func (s Standing) ChangedOutputs(then Standing, open Opener) []string {
	if s.Outputs == then.Outputs || then.Outputs == "" {
		return nil
	}
	now, before, _ := s.revealed(then, open)
	values, _ := now.(map[string]any)
	old, _ := before.(map[string]any)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if was, ok := old[name]; ok && !reflect.DeepEqual(was, values[name]) {
			names = append(names, name)
		}
	}
	return names
}

// revealed returns the outputs now and then, with decrypted values in the place of
// secrets. ok is false, and there are none, if that fails.
func (s Standing) revealed(then Standing, open Opener) (now, before any, ok bool) {
	var outputs [2]any
	for i, standing := range []Standing{s, then} {
		err := json.Unmarshal([]byte(standing.Outputs), &outputs[i])
		if err == nil {
			decrypt := func(ciphertext string) (string, error) { return open(standing.Salt, ciphertext) }
			outputs[i], err = replaceSecrets(outputs[i], decrypt)
		}
		if err != nil {
			return nil, nil, false
		}
	}
	return outputs[0], outputs[1], true
}

// replaceSecrets replaces the secrets anywhere in a value.
func replaceSecrets(value any, open func(ciphertext string) (string, error)) (_ any, err error) {
	switch value := value.(type) {
	case []any:
		for i := range value {
			if value[i], err = replaceSecrets(value[i], open); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if ciphertext, ok := value["ciphertext"].(string); ok && value[sig.Key] == sig.Secret {
			text, err := open(ciphertext)
			return map[string]any{sig.Key: text}, err
		}
		for name := range value {
			if value[name], err = replaceSecrets(value[name], open); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// StandingsIn reads the standings of stacks whose states are files, without a
// command. Projects without a stack are skipped. A state that lags behind a journal
// counts as one that has resources.
func (o Options) StandingsIn(projects []string) (map[string]Standing, error) {
	c := newCopies(o)
	found := map[string]Standing{}
	for _, project := range projects {
		content, err := o.States.Read(project)
		if err != nil {
			return nil, err
		}
		if content == nil {
			continue
		}
		standing, err := c.standingOf(content)
		if err != nil {
			return nil, wrapState(project, err)
		}
		if statefiles.Lags(content) { // something is deployed, and it is not what any run has left
			standing.Digest, standing.Resources = "", max(standing.Resources, 1)
		}
		found[project] = standing
	}
	return found, nil
}

// summariesOf returns what a backend's list would say about the stacks.
func summariesOf(standings map[string]Standing) map[string]Summary {
	summaries := map[string]Summary{}
	for project, standing := range standings {
		summaries[project] = Summary{Exists: true, Resources: standing.Resources}
	}
	return summaries
}

// Recall keeps the outputs of a project that is not run, as an up would have
// reported them.
func (e *Set) Recall(project string, outputs map[string]any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outputs[project] = maps.Clone(outputs)
	delete(e.seen, project) // the outputs in the state are the project's, whatever a preview has found
}

// questionsFile is the file in a working copy to which the engine writes what the
// program has asked of its cloud.
const questionsFile = "questions.json"

// questions returns what the program has asked in the operation that has just
// ended; known is false for an engine that does not report questions.
func (c copies) questions(project string) (asked []string, known bool) {
	content, err := os.ReadFile(filepath.Join(c.options.WorkDir, project, questionsFile))
	if err != nil {
		return nil, false
	}
	return asked, json.Unmarshal(content, &asked) == nil
}

// forgetQuestions removes what an earlier operation has asked.
func (c copies) forgetQuestions(project string) {
	_ = os.Remove(filepath.Join(c.options.WorkDir, project, questionsFile)) // there may be none
}
