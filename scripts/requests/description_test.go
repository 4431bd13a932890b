package requests

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/getkin/kin-openapi/openapi3"
)

// description is the official description of an API.
type description struct {
	document *openapi3.T
	path     func(path string) string // of a request, as the description writes it, without parameters
}

// read reads a description, without its prose, from a compressed file.
func read(t *testing.T, path string) description {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.NewDecoder(unpacked).Decode(&document); err != nil {
		t.Fatal(err)
	}
	merged, err := json.Marshal(merge(document))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := openapi3.NewLoader().LoadFromData(merged)
	if err != nil {
		t.Fatal(err)
	}
	return description{loaded, func(path string) string {
		return "/{apiVersion}/" + strings.TrimPrefix(strings.TrimPrefix(path, "/"), "v4/")
	}}
}

// merge replaces each allOf by one schema with all properties. Its parts forbid the properties of
// one another, which no request could satisfy.
func merge(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = merge(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = merge(value[key])
		}
		if parts, ok := value["allOf"].([]any); ok {
			delete(value, "allOf")
			for _, part := range parts {
				add(value, part.(map[string]any))
			}
			value["additionalProperties"] = false
		}
	}
	return value
}

// add adds the rules of a schema to another one.
func add(to, from map[string]any) {
	for key, rule := range from {
		existing, ok := to[key]
		if !ok {
			to[key] = rule
			continue
		}
		switch rule := rule.(type) {
		case map[string]any:
			add(existing.(map[string]any), rule)
		case []any:
			to[key] = append(slices.Clone(existing.([]any)), rule...)
		}
	}
}

// invalid returns what is wrong with a request by the description; nil if it is valid.
func (d description) invalid(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	path := d.path(r.URL.Path)
	item := d.find(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		return fmt.Errorf("there is no %s %s", r.Method, path)
	}
	if len(body) == 0 {
		if content := item.GetOperation(r.Method).RequestBody; content != nil && content.Value.Required {
			return fmt.Errorf("%s %s needs a body", r.Method, path)
		}
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	wanted := item.GetOperation(r.Method).RequestBody
	if wanted == nil || wanted.Value.Content.Get("application/json").Schema == nil {
		if string(body) != "{}" {
			return fmt.Errorf("%s %s takes no body", r.Method, path)
		}
		return nil
	}
	schema := wanted.Value.Content.Get("application/json").Schema.Value
	return schema.VisitJSON(dropNull(value), openapi3.MultiErrors(), openapi3.VisitAsRequest(), openapi3.SetSchemaRegexCompiler(compile))
}

// find returns the operations at a path, in which parameters have values; nil if there are none.
func (d description) find(path string) *openapi3.PathItem {
	if item := d.document.Paths.Value(path); item != nil {
		return item
	}
	parts := strings.Split(path, "/")
	for template, item := range d.document.Paths.Map() {
		wanted := strings.Split(template, "/")
		if slices.EqualFunc(parts, wanted, func(part, want string) bool { return part == want || strings.HasPrefix(want, "{") }) {
			return item
		}
	}
	return nil
}

// dropNull removes properties that are null: the SDK writes them for what is absent.
func dropNull(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = dropNull(value[i])
		}
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, part any) bool { return part == nil })
		for key := range value {
			value[key] = dropNull(value[key])
		}
	}
	return value
}

// compile compiles a pattern of the description, which may look ahead.
func compile(pattern string) (openapi3.RegexMatcher, error) {
	compiled, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	return matcher{compiled}, err
}

type matcher struct{ pattern *regexp2.Regexp }

// MatchString implements openapi3.RegexMatcher.
func (m matcher) MatchString(text string) bool {
	matches, err := m.pattern.MatchString(text)
	return err == nil && matches
}
