package updateplan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/config/lists"
	"mara/runner/internal/core/event"
)

// mostValues bounds the listed values of a resource, and longestValue the bytes of each.
const (
	mostValues   = 40
	longestValue = 2000
)

// Changes lists the values that differ between the current inputs of a resource and the planned ones, for an update or
// a replacement. It compares inputs: which properties a provider names says little while it is not configured.
// A secret that has changed is known only by its path.
func (s Step) Changes() []event.ValueChange {
	if s.Op != "update" && s.Op != "replace" || s.Old == nil || s.Inputs == nil {
		return nil
	}
	c := &comparer{step: s}
	c.maps("", s.Old, s.Inputs)
	for _, path := range s.Properties {
		if !c.lists(path) && c.isMaskedAt(path) {
			c.add(event.ValueChange{Path: path, Action: event.Update, Before: event.Masked, After: event.Masked})
		}
	}
	return c.found
}

// Unmarked returns the paths of changed values that are hidden because they look like secrets that the program has not
// marked as such.
func (s Step) Unmarked() []string {
	var paths []string
	for _, c := range s.Changes() {
		if mentions(c.Before, event.Hidden) || mentions(c.After, event.Hidden) {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// IsVague reports whether no new value of an update or a replacement is known: it depends on outputs that are not known
// yet, and may turn out to be nothing.
func IsVague(changes []event.ValueChange) bool {
	return !slices.ContainsFunc(changes, func(c event.ValueChange) bool {
		return !mentions(c.After, Unknown)
	})
}

// mentions reports whether a text in a value has a word such as Unknown in it.
func mentions(value any, word string) bool {
	return holds(value, func(part any) bool {
		text, _ := part.(string)
		return strings.Contains(text, word)
	})
}

// comparer collects the values of a step that differ.
type comparer struct {
	step  Step
	found []event.ValueChange
	named map[string]bool // paths of values that a name beside them says are secret, as in {name: DB_PASSWORD, value: x}
}

func (c *comparer) maps(path string, before, after map[string]any) {
	if isNamedSecret(before) || isNamedSecret(after) {
		if c.named == nil {
			c.named = map[string]bool{}
		}
		c.named[path+".value"] = true
	}
	for _, name := range lists.Keys(before, after) {
		if name == defaultsKey {
			continue
		}
		c.values(strings.TrimPrefix(path+"."+name, "."), before[name], after[name])
	}
}

func (c *comparer) values(path string, before, after any) {
	if isEmpty(before) && isEmpty(after) || reflect.DeepEqual(before, after) || len(c.found) >= mostValues {
		return
	}
	switch was := before.(type) {
	case map[string]any:
		if is, ok := after.(map[string]any); ok {
			c.maps(path, was, is)
			return
		}
	case []any:
		if is, ok := after.([]any); ok {
			c.elements(path, was, is)
			return
		}
	case string:
		if is, ok := after.(string); ok && c.texts(path, was, is) {
			return
		}
	}
	action := event.Update
	switch {
	case isEmpty(before):
		action = event.Create
	case isEmpty(after):
		action = event.Delete
	}
	c.add(event.ValueChange{Path: path, Action: action, Before: before, After: after})
}

// elements compares lists of one length by place, and others as sets: an element more at the beginning is one change.
func (c *comparer) elements(path string, before, after []any) {
	if len(before) == len(after) {
		for i := range before {
			c.values(fmt.Sprintf("%s[%d]", path, i), before[i], after[i])
		}
		return
	}
	without := func(list, others []any) []any {
		others = slices.Clone(others)
		return slices.DeleteFunc(slices.Clone(list), func(element any) bool {
			i := slices.IndexFunc(others, func(other any) bool { return reflect.DeepEqual(element, other) })
			if i >= 0 {
				others = slices.Delete(others, i, i+1)
			}
			return i >= 0
		})
	}
	for _, element := range without(before, after) {
		c.add(event.ValueChange{Path: path + "[]", Action: event.Delete, Before: element})
	}
	for _, element := range without(after, before) {
		c.add(event.ValueChange{Path: path + "[]", Action: event.Create, After: element})
	}
}

// texts compares texts of several lines, or objects in JSON, inside. It reports whether they are that.
func (c *comparer) texts(path, before, after string) bool {
	var was, is map[string]any
	if json.Unmarshal([]byte(before), &was) == nil && json.Unmarshal([]byte(after), &is) == nil && was != nil && is != nil {
		c.maps(path+"{json}", was, is)
		return true
	}
	if !strings.Contains(before, "\n") || !strings.Contains(after, "\n") || strings.Contains(after, Unknown) ||
		secretForms.MatchString(before) || secretForms.MatchString(after) { // the lines of a key do not look like one
		return false
	}
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	same := 0
	for same < len(old) && same < len(now) && old[same] == now[same] {
		same++
	}
	end := 0
	for end < len(old)-same && end < len(now)-same && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	change := event.ValueChange{Path: path, Action: event.Update, Line: same + 1,
		Before: strings.Join(old[same:len(old)-end], "\n"), After: strings.Join(now[same:len(now)-end], "\n")}
	c.add(change)
	return true
}

// add keeps a change, with what is secret hidden.
func (c *comparer) add(change event.ValueChange) {
	if len(c.found) >= mostValues {
		return
	}
	change.Replaces = slices.ContainsFunc(c.step.Replaces, func(key string) bool { return isBelow(change.Path, key) })
	secret := holdsMasked(change.Before) || holdsMasked(change.After)
	for _, side := range []*any{&change.Before, &change.After} {
		switch {
		case *side == nil:
		case secret && !holdsMasked(*side): // it was or becomes secret, and this side is the same value in the clear
			*side = event.Masked
		case c.named[change.Path] && *side != event.Masked && *side != Unknown:
			*side = event.Hidden
		default:
			*side = shorten(hide(c.step.Type, change.Path, *side))
		}
	}
	c.found = append(c.found, change)
}

// lists reports whether a change at or below a path is known.
func (c *comparer) lists(path string) bool {
	return slices.ContainsFunc(c.found, func(change event.ValueChange) bool {
		return isBelow(change.Path, path) || isBelow(path, change.Path)
	})
}

// isMaskedAt reports whether the planned value at a path is secret, or is inside of one that is secret as a whole.
func (c *comparer) isMaskedAt(path string) bool {
	keys, err := resource.ParsePropertyPath(path)
	if err != nil {
		return false
	}
	var value any = c.step.Inputs
	for _, key := range keys {
		switch within := value.(type) {
		case map[string]any:
			name, _ := key.(string)
			value = within[name]
		case []any:
			i, isIndex := key.(int)
			if !isIndex || i < 0 || i >= len(within) {
				return false
			}
			value = within[i]
		default:
			return value == event.Masked
		}
	}
	return value == event.Masked
}

// isBelow reports whether a path is another one, or a part of its value.
func isBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[' || rest[0] == '{')
}

// shorten cuts a value that is too long for an event; rules and saved plans have it whole.
func shorten(value any) any {
	text, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(value)
		if err != nil || len(encoded) <= longestValue {
			return value
		}
		text = string(encoded)
	}
	if len(text) <= longestValue {
		return value
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:200], ""), len(text))
}

// secretNames matches the names of values that are secret, where programs forget to mark them. Names, references and
// IDs of secrets are none.
var secretNames = regexp.MustCompile(
	`(?i)(password|passwd|passphrase|token|secret|api_?-?key|private_?-?key|access_?-?key|connection_?-?string|credentials)$`)

// referenceNames matches those of them that name a Secret of Kubernetes, as values of charts do.
var referenceNames = regexp.MustCompile(`(?i)^(use_?)?(existing|image_?pull|pull|tls)[a-z_]*secret$`)

func isSecretName(name string) bool {
	return secretNames.MatchString(name) && !referenceNames.MatchString(name)
}

// secretForms matches values that are secret whatever their name is: PEM blocks of keys, access keys of AWS, JSON Web
// Tokens.
var secretForms = regexp.MustCompile(
	`-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(AKIA|ASIA)[A-Z0-9]{16}\b|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+`)

// secretAssignments matches values in a text that are secret by the name before them: password=x, token: "y".
var secretAssignments = regexp.MustCompile(
	`(?i)((?:password|passwd|passphrase|token|secret|api_?-?key|private_?-?key|access_?-?key)["']?\s*[:=]\s*)` +
		`("[^"\n]*"|'[^'\n]*'|[^\s;,&"']+)`)

// hideAssigned replaces the values of such assignments, but for those that are masked or unknown.
func hideAssigned(text string) string {
	return secretAssignments.ReplaceAllStringFunc(text, func(found string) string {
		parts := secretAssignments.FindStringSubmatch(found)
		if value := strings.Trim(parts[2], `"'`); strings.HasPrefix(value, event.Masked) || strings.HasPrefix(value, Unknown) {
			return found
		}
		return parts[1] + event.Hidden
	})
}

// isNamedSecret reports whether an object names a value that is secret, as the environment of a container does.
func isNamedSecret(object map[string]any) bool {
	name, _ := object["name"].(string)
	return object["value"] != nil && isSecretName(name)
}

// hide replaces what looks like a secret in a value of a resource type, by type, name and form.
func hide(kind, path string, value any) any {
	switch value := value.(type) {
	case string:
		if value != event.Masked && value != Unknown && value != "" &&
			(isSecretPlace(kind, path) || secretForms.MatchString(value)) {
			return event.Hidden
		}
		return hideAssigned(value)
	case map[string]any:
		hidden := make(map[string]any, len(value))
		for name, part := range value {
			hidden[name] = hide(kind, path+"."+name, part)
		}
		if isNamedSecret(value) && value["value"] != event.Masked && value["value"] != Unknown {
			hidden["value"] = event.Hidden
		}
		return hidden
	case []any:
		hidden := make([]any, len(value))
		for i, part := range value {
			hidden[i] = hide(kind, path, part)
		}
		return hidden
	}
	return value
}

// isSecretPlace reports whether values at a path of a resource type are secret by their name.
func isSecretPlace(kind, path string) bool {
	if strings.HasPrefix(kind, "kubernetes:core/v1:Secret") && (isBelow(path, "data") || isBelow(path, "stringData")) {
		return true
	}
	name := path[strings.LastIndexAny(path, ".}")+1:]
	name, _, _ = strings.Cut(name, "[")
	return isSecretName(name)
}
