package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate"
	"github.com/pulumi/pulumi/sdk/v3/go/common/esc"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/core/pulumicli/wire"
)

// readImports reads what environments of Pulumi ESC give to the configuration of a stack, without opening them, and
// without secrets.
func readImports(ctx context.Context, b httpstate.Backend, question wire.Imports) (map[string]wire.Imported, error) {
	environments, ok := b.(backend.EnvironmentsBackend)
	if !ok {
		return nil, errors.New("the backend has no environments of Pulumi ESC")
	}
	var named workspace.Environment
	if err := yaml.Unmarshal(question.Environments, &named); err != nil {
		return nil, err
	}
	definition := named.Definition()
	if len(definition) == 0 {
		return nil, nil
	}
	evaluated, problems, err := environments.CheckYAMLEnvironment(ctx, question.Organization, definition)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("Pulumi ESC: %s", problems[0].Summary)
	}
	found := map[string]wire.Imported{}
	configuration, _ := evaluated.Properties["pulumiConfig"].Value.(map[string]esc.Value) // none without
	for key, value := range configuration {
		found[key] = importedOf(value)
	}
	return found, nil
}

func importedOf(value esc.Value) wire.Imported {
	imported := wire.Imported{Secret: hasAny(value, func(v esc.Value) bool { return v.Secret }),
		Unknown:     hasAny(value, func(v esc.Value) bool { return v.Unknown }),
		Environment: value.Trace.Def.Environment, Line: value.Trace.Def.Begin.Line}
	if imported.Secret || imported.Unknown {
		return imported
	}
	plain := value.ToJSON(true)
	if text, ok := plain.(string); ok {
		imported.Text = text
	} else if text, err := json.Marshal(plain); err == nil {
		imported.Text = string(text)
	}
	return imported
}

// hasAny reports whether something holds for a value, or for one in it.
func hasAny(value esc.Value, holds func(esc.Value) bool) bool {
	if holds(value) {
		return true
	}
	switch inner := value.Value.(type) {
	case []esc.Value:
		for _, v := range inner {
			if hasAny(v, holds) {
				return true
			}
		}
	case map[string]esc.Value:
		for _, v := range inner {
			if hasAny(v, holds) {
				return true
			}
		}
	}
	return false
}
