package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mara/runner/internal/core/pulumicli/wire"
)

// Service is Pulumi Cloud, accessed through mara-engine.
type Service struct {
	Engine Engine
	Dir    string   // working directory of commands
	Env    []string // of commands
}

// Read implements stacks.Service.
func (s Service) Read(ctx context.Context, question wire.ReadStacks) (map[string]wire.ServiceStack, error) {
	var found map[string]wire.ServiceStack
	err := s.ask(ctx, "read", question, &found)
	return found, err
}

// Seal implements stacks.Service.
func (s Service) Seal(ctx context.Context, question wire.SealValues) (wire.SealedValues, error) {
	var sealed wire.SealedValues
	err := s.ask(ctx, "seal", question, &sealed)
	return sealed, err
}

// Unseal decrypts values with the key of a stack.
func (s Service) Unseal(ctx context.Context, question wire.SealValues) (wire.SealedValues, error) {
	var values wire.SealedValues
	err := s.ask(ctx, "unseal", question, &values)
	return values, err
}

// Cancel implements stacks.Service.
func (s Service) Cancel(ctx context.Context, question wire.CancelUpdate) (bool, error) {
	var ok bool
	err := s.ask(ctx, "cancel", question, &ok)
	return ok, err
}

// Imports reads the configuration that environments of Pulumi ESC have.
func (s Service) Imports(ctx context.Context, question wire.Imports) (map[string]wire.Imported, error) {
	var found map[string]wire.Imported
	err := s.ask(ctx, "imports", question, &found)
	return found, err
}

// ask asks the engine a question, which goes through a pipe.
func (s Service) ask(ctx context.Context, verb string, question, answer any) error {
	input, err := json.Marshal(question)
	if err != nil {
		return err
	}
	stdout, stderr, _, err := s.Engine.Run(ctx, s.Dir, bytes.NewReader(input), nil, nil, s.Env, "service", verb)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return serviceError(stderr, err)
	}
	if err := json.Unmarshal([]byte(stdout), answer); err != nil {
		return fmt.Errorf("the engine's answer about Pulumi Cloud is not JSON: %w", err)
	}
	return nil
}

// serviceError takes the message of a failed command from what it has written.
func serviceError(stderr string, err error) error {
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "error: "); ok {
			return errors.New(text)
		}
	}
	return err
}
