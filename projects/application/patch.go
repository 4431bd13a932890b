package application

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"mara/config"
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
		return nil, fmt.Errorf("patch is not a valid jq expression: %w", err)
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
	isKept := func(name string) bool { return patched[name] != nil }
	if _, several := results.Next(); !ok || !isObject || several || !slices.ContainsFunc(needed(), isKept) {
		return nil, errors.New("patch does not return the resources: write an expression such as " +
			".workload.properties.spec.x = 1")
	}
	for _, name := range slices.Sorted(maps.Keys(patched)) {
		if of, isObject := patched[name].(fields); isObject && of["type"] != nil {
			continue
		}
		if resources[name] != nil {
			return nil, fmt.Errorf("patch leaves %s without its type: change what is below %s.properties, or remove it with del(.%s)", name, name, name)
		}
		there := slices.Sorted(maps.Keys(resources))
		return nil, fmt.Errorf("patch changes %s, and there is no such resource; there are: %s; a new one needs a type, as in "+
			`.%s = {type: "kubernetes:core/v1:ConfigMap", properties: {...}}%s`, name, strings.Join(there, ", "), name, config.DidYouMean(name, there))
	}
	for _, name := range needed() {
		if patched[name] == nil {
			return nil, fmt.Errorf("patch takes %s away, which the other resources need", name)
		}
	}
	return whole(patched).(fields), nil
}

// needed are the resources that the others need.
func needed() []string { return []string{"kubeconfig", "cluster", "namespace"} }

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
