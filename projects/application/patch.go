package application

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/itchyny/gojq"
)

// patchTime limits a patch.
const patchTime = 3 * time.Second

// patched applies a jq expression to the resources of a program. The result has to be resources again.
func patched(resources fields, patch string) (fields, error) {
	if patch == "" {
		return resources, nil
	}
	query, err := gojq.Parse(patch)
	if err != nil {
		return nil, fmt.Errorf("patch is no jq: %w", err)
	}
	text, err := json.Marshal(resources)
	if err != nil {
		return nil, err
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patchTime)
	defer cancel()
	results := query.RunWithContext(ctx, input)
	result, ok := results.Next()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("patch does not end within %s", patchTime)
	}
	if err, isError := result.(error); isError {
		return nil, fmt.Errorf("patch: %w", err)
	}
	patched, isObject := result.(fields)
	if _, several := results.Next(); !ok || !isObject || several {
		return nil, errors.New("patch does not return the resources: write an expression such as " +
			".workload.properties.spec.x = 1")
	}
	for name, resource := range patched {
		if of, isObject := resource.(fields); !isObject || of["type"] == nil {
			return nil, fmt.Errorf("patch makes a resource %s without a type", name)
		}
	}
	for _, name := range []string{"kubeconfig", "cluster", "namespace"} {
		if patched[name] == nil {
			return nil, fmt.Errorf("patch takes %s away, which the other resources need", name)
		}
	}
	return whole(patched).(fields), nil
}

// whole turns numbers of JSON that are whole into integers, as they were.
func whole(value any) any {
	switch typed := value.(type) {
	case float64:
		if typed == float64(int(typed)) {
			return int(typed)
		}
	case fields:
		for key, item := range typed {
			typed[key] = whole(item)
		}
	case []any:
		for i, item := range typed {
			typed[i] = whole(item)
		}
	}
	return value
}
