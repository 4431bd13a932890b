package statefiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/runner/internal/machine/failure"
)

// Misread names the first state of the backend that this version of Pulumi does not understand, or nil. Pulumi lists no
// stack of a backend with such a state, and does not say which one it is.
func (f Directory) Misread() error {
	for _, one := range f.each() {
		if err := one.misread(); err != nil {
			return err
		}
	}
	return nil
}

func (f Directory) misread() error {
	if !f.IsFile() {
		return nil
	}
	stacks := f.files().Stacks()
	projects, err := readDirectory(stacks)
	if err != nil {
		return nil //nolint:nilerr // Broken reports what cannot be read
	}
	for _, project := range projects {
		files, err := readDirectory(filepath.Join(stacks, project.Name()))
		if err != nil || !project.IsDir() {
			continue
		}
		for _, file := range files {
			stack, _, isState := strings.Cut(file.Name(), ".json")
			if !isState || file.IsDir() || strings.Contains(file.Name(), ".bak") || strings.HasSuffix(file.Name(), sidecar) {
				continue
			}
			path := filepath.Join(stacks, project.Name(), file.Name())
			if err := misread(path); err != nil {
				return &failure.Environment{
					Text: fmt.Sprintf("the state of %s in the stack %s: %v", project.Name(), stack, err),
					Next: "look at " + path + ", and use a runner with the version of Pulumi that has written it",
				}
			}
		}
	}
	return nil
}

// misread says why Pulumi does not understand a state; nil if it does, or if the file is no JSON.
func misread(path string) error {
	content, err := readState(path)
	var state apitype.VersionedCheckpoint
	if err != nil || !json.Valid(content) {
		return nil //nolint:nilerr // Broken reports it
	}
	if err := json.Unmarshal(content, &state); err != nil {
		return mistyped(err)
	}
	if state.Version > apitype.DeploymentSchemaVersionLatest {
		return fmt.Errorf("it has version %d, and this runner's Pulumi knows versions up to %d: a newer Pulumi has written it",
			state.Version, apitype.DeploymentSchemaVersionLatest)
	}
	if state.Version < apitype.DeploymentSchemaVersionCurrent || len(state.Checkpoint) == 0 {
		return nil // Pulumi converts older ones
	}
	var checkpoint apitype.CheckpointV3
	if err := json.Unmarshal(state.Checkpoint, &checkpoint); err != nil {
		return mistyped(err)
	}
	return nil
}

// mistyped says which value has the wrong type, without the names of Go.
func mistyped(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%q is a JSON %s, which Pulumi does not expect there", wrong.Field, wrong.Value)
	}
	return err
}
