package layers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/esc"
	"k8s.io/apimachinery/pkg/util/validation"

	"mara/config"
)

// sealed lets encrypted values through as they are: only Pulumi, with the key
// of the environment, decrypts them.
type sealed struct{}

// sealedMark begins a text that stands for an encrypted value.
const sealedMark = "\x00sealed:"

// Decrypt implements eval.Decrypter.
func (sealed) Decrypt(_ context.Context, ciphertext []byte) ([]byte, error) {
	return append([]byte(sealedMark), ciphertext...), nil
}

// place returns where a value is.
func (r *reader) place(v esc.Value) (file string, line int) {
	return r.fileOf(v.Trace.Def.Environment), v.Trace.Def.Begin.Line
}

// wrong reports a problem with a value.
func (r *reader) wrong(v esc.Value, key, format string, args ...any) {
	file, line := r.place(v)
	r.problem(file, line, key, format, args...)
}

// value returns what a value stands for, without the parts that are null. Values that
// are no plain data are problems.
func (r *reader) value(key string, v esc.Value) any {
	r.checkKind(key, v)
	if v.Unknown {
		r.wrong(v, key, "cannot be known here")
		return nil
	}
	switch typed := v.Value.(type) {
	case json.Number:
		return r.number(v, typed)
	case string:
		return r.text(key, v, typed)
	case []esc.Value:
		items := make([]any, len(typed))
		for i, item := range typed {
			items[i] = r.value(fmt.Sprintf("%s[%d]", key, i), item)
		}
		return items
	case map[string]esc.Value:
		return r.mapping(key, typed)
	}
	return v.Value // bool or nil
}

func (r *reader) mapping(key string, inner map[string]esc.Value) any {
	if secure, ok := inner["secure"]; ok && len(inner) == 1 {
		if text, isText := secure.Value.(string); isText {
			return config.Ciphertext(text)
		}
	}
	values := make(map[string]any, len(inner))
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		if value := r.value(key+"."+name, inner[name]); value != nil {
			values[name] = value
		}
	}
	return values
}

// number keeps the text of everything that is not plainly a whole number: the
// version 1.30 is not the number 1.3.
func (r *reader) number(v esc.Value, number json.Number) any {
	if whole, err := strconv.Atoi(number.String()); err == nil {
		return whole
	}
	file, _ := r.place(v)
	source, begin, end := r.sources[file], v.Trace.Def.Begin.Byte, v.Trace.Def.End.Byte
	if begin >= 0 && begin < end && end <= len(source) {
		text := strings.TrimSpace(string(source[begin:end]))
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return text
		}
	}
	return number.String()
}

func (r *reader) text(key string, v esc.Value, text string) any {
	ciphertext, isSealed := strings.CutPrefix(text, sealedMark)
	switch {
	case isSealed && !strings.Contains(ciphertext, sealedMark):
		return config.Ciphertext(ciphertext)
	case strings.Contains(text, sealedMark):
		r.wrong(v, key, "puts an encrypted value into a text; only the whole value can be encrypted")
	case v.Secret:
		r.wrong(v, key, "is a secret in plain text; keep it with `runner secrets set`, or write its ciphertext as "+
			"{secure: ...}")
	}
	return text
}

// checkKind reports a map in the place of something else, and the other way
// round: whoever wrote the one does not know of the other.
func (r *reader) checkKind(key string, v esc.Value) {
	base := v.Trace.Base
	if base == nil || v.Value == nil || base.Value == nil || v.Secret || base.Secret {
		return
	}
	_, isMap := v.Value.(map[string]esc.Value)
	_, wasMap := base.Value.(map[string]esc.Value)
	if isMap == wasMap {
		return
	}
	baseFile, baseLine := r.place(*base)
	words := map[bool]string{true: "a map", false: "a single value"}
	r.wrong(v, key, "is %s, and takes the place of %s in %s:%d", words[isMap], words[wasMap], baseFile, baseLine)
}

// entries returns the configuration values, sorted by key.
func (r *reader) entries(v esc.Value) []config.Entry {
	values, isMap := v.Value.(map[string]esc.Value)
	if !isMap {
		if v.Value != nil {
			r.wrong(v, "values.pulumiConfig", "must be a map of namespace:name to value")
		}
		return nil
	}
	var entries []config.Entry
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if namespace, name, ok := strings.Cut(key, ":"); !ok || namespace == "" || name == "" || strings.Contains(name, ":") {
			r.wrong(values[key], key, "is not a configuration key; write namespace:name")
			continue
		}
		value := r.value(key, values[key])
		if value == nil { // null takes it away
			continue
		}
		file, line := r.place(values[key])
		entries = append(entries, config.Entry{Key: key, Value: value, File: file, Line: line,
			Over: r.over(key, values[key])})
	}
	return entries
}

// over lists what a value overrides, the nearest first.
func (r *reader) over(key string, v esc.Value) []config.Place {
	var places []config.Place
	for base := v.Trace.Base; base != nil; base = base.Trace.Base {
		file, line := r.place(*base)
		if last := len(places) - 1; last >= 0 && places[last].File == file && places[last].Line == line {
			continue
		}
		places = append(places, config.Place{Value: r.value(key, *base), File: file, Line: line})
	}
	return places
}

// describe reads the evaluated values. Values that are neither for the runner nor for Pulumi are
// only references for other values.
func (r *reader) describe(d *config.Description, values map[string]esc.Value) {
	for _, name := range []string{"environmentVariables", "files"} {
		if v, ok := values[name]; ok {
			r.wrong(v, "values."+name, "is not used here; variables belong into %s", config.EnvironmentFile)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		r.misplaced(name, values)
	}
	d.Entries = r.entries(values["pulumiConfig"])
	r.runner(d, values["runner"])
	slices.SortFunc(d.Entries, func(a, b config.Entry) int { return strings.Compare(a.Key, b.Key) })
}

// misplaced reports values that look as if they were for Pulumi, or for the runner, but are in a place that neither
// reads.
func (r *reader) misplaced(name string, values map[string]esc.Value) {
	const section = "pulumiConfig"
	inner, isMap := values[name].Value.(map[string]esc.Value)
	hasKeys := isMap && slices.ContainsFunc(slices.Collect(maps.Keys(inner)), isKey)
	switch known := []string{section, "environmentVariables", "files", "runner"}; {
	case slices.Contains(known, name), r.isReferenced(name):
	case isKey(name):
		r.wrong(values[name], "values."+name, "is read by nobody there; write it below values.%s", section)
	case config.DidYouMean(name, known) != "":
		r.wrong(values[name], "values."+name, "is read by nobody%s", config.DidYouMean(name, known))
	case hasKeys:
		r.wrong(values[name], "values."+name, "has configuration keys, and is read by nobody; did you mean %q?", section)
	case name == config.InfraType, name == "labels", name == "provider", name == "ttl", name == "protected":
		r.wrong(values[name], "values."+name, "is read by nobody there; write it below values.runner")
	}
}

// isReferenced reports whether a value stands for others, in one of the files.
func (r *reader) isReferenced(name string) bool {
	for _, source := range r.sources {
		if strings.Contains(string(source), "${"+name) || strings.Contains(string(source), "${[") {
			return true
		}
	}
	return false
}

// isKey reports whether a name is written as a configuration key is.
func isKey(name string) bool {
	namespace, rest, ok := strings.Cut(name, ":")
	return ok && namespace != "" && rest != "" && !strings.ContainsAny(name, " /")
}

// runner reads values.runner.
func (r *reader) runner(d *config.Description, v esc.Value) {
	fields := map[string]func(esc.Value){
		"provider":  func(v esc.Value) { r.setting(d, config.InfraType, "runner.provider", v, r.word) },
		"protected": func(v esc.Value) { r.setting(d, config.ProtectKey, "runner.protected", v, r.flag) },
		"ttl":       func(v esc.Value) { r.setting(d, config.TTLKey, "runner.ttl", v, r.duration) },
		"labels":    func(v esc.Value) { d.Labels = r.labels(v) },
		"backend":   func(v esc.Value) { d.Backend = r.backend(v) },
		"projects":  func(v esc.Value) { d.Skip = r.projects(v) },
	}
	r.fields("runner", v, fields)
}

// fields reads a map that has these keys and no others.
func (r *reader) fields(key string, v esc.Value, fields map[string]func(esc.Value)) {
	values, isMap := v.Value.(map[string]esc.Value)
	if !isMap {
		if v.Value != nil {
			r.wrong(v, "values."+key, "must be a map")
		}
		return
	}
	r.checkKind(key, v)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		read, known := fields[name]
		switch {
		case !known:
			all := slices.Sorted(maps.Keys(fields))
			r.wrong(values[name], key+"."+name, "is not known; there are: %s%s", strings.Join(all, ", "),
				config.DidYouMean(name, all))
		case values[name].Value != nil:
			r.checkKind(key+"."+name, values[name])
			read(values[name])
		}
	}
}

// setting makes a configuration value of a field, as if it had been set by its
// key. One that is set both ways has to be the same.
func (r *reader) setting(d *config.Description, key, field string, v esc.Value, read func(string, esc.Value) any) {
	value := read(field, v)
	if value == nil {
		return
	}
	file, line := r.place(v)
	i := slices.IndexFunc(d.Entries, func(e config.Entry) bool { return e.Key == key })
	if i < 0 {
		d.Entries = append(d.Entries, config.Entry{Key: key, Value: value, File: file, Line: line, Over: r.over(field, v)})
		return
	}
	if other := d.Entries[i]; fmt.Sprint(other.Value) != fmt.Sprint(value) {
		r.wrong(v, field, "is %v, but %s in %s:%d is %v", value, key, other.File, other.Line, other.Value)
	}
}

// word reads a text; nil if it is none.
func (r *reader) word(key string, v esc.Value) any {
	text, ok := r.value(key, v).(string)
	if ok && text != "" {
		return text
	}
	r.wrong(v, key, "must be a text")
	return nil
}

func (r *reader) flag(key string, v esc.Value) any {
	if on, ok := v.Value.(bool); ok {
		return on
	}
	r.wrong(v, key, "must be true or false")
	return nil
}

func (r *reader) duration(key string, v esc.Value) any {
	text, _ := v.Value.(string)
	if ttl, err := time.ParseDuration(text); err == nil && ttl > 0 {
		return text
	}
	r.wrong(v, key, "must be a duration such as 8h or 30m")
	return nil
}

// labels reads labels, which follow the rules of Kubernetes.
func (r *reader) labels(v esc.Value) map[string]config.Value {
	values, isMap := v.Value.(map[string]esc.Value)
	if !isMap {
		r.wrong(v, "runner.labels", "must be a map of names to texts")
		return nil
	}
	labels := map[string]config.Value{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		inner := values[name]
		if inner.Value == nil {
			continue
		}
		key := "runner.labels." + name
		value := r.value(key, inner)
		text := fmt.Sprint(value)
		switch value.(type) {
		case []any, map[string]any, config.Ciphertext:
			r.wrong(inner, key, "must be a text")
			continue
		}
		for _, wrong := range slices.Concat(validation.IsQualifiedName(name), validation.IsValidLabelValue(text)) {
			rule, _, _ := strings.Cut(wrong, " (e.g. ") // Kubernetes adds its regular expression
			r.wrong(inner, key, "is not a label: %s", rule)
		}
		labels[name] = config.Value{Text: text, Origin: r.origin(key, inner)}
	}
	return labels
}

func (r *reader) origin(key string, v esc.Value) config.Origin {
	file, line := r.place(v)
	return config.Origin{Source: config.FromLayer, Name: key, File: file, Line: line}
}

func (r *reader) backend(v esc.Value) config.Value {
	text, ok := r.word("runner.backend", v).(string)
	if !ok {
		return config.Value{}
	}
	backend := config.Value{Text: text, Origin: r.origin("runner.backend", v)}
	if config.CheckBackend(backend) != nil {
		r.wrong(v, "runner.backend", "is not the address of a backend such as file:///directory, s3://bucket or "+
			"https://api.pulumi.com")
	}
	return backend
}

// projects reads which projects are skipped.
func (r *reader) projects(v esc.Value) (skip []config.Value) {
	r.fields("runner.projects", v, map[string]func(esc.Value){"skip": func(v esc.Value) {
		items, isList := v.Value.([]esc.Value)
		if !isList {
			r.wrong(v, "runner.projects.skip", "must be a list of projects")
		}
		for _, item := range items {
			if name, ok := r.word("runner.projects.skip", item).(string); ok {
				skip = append(skip, config.Value{Text: name, Origin: r.origin("runner.projects.skip", item)})
			}
		}
	}})
	return skip
}
