package layers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/esc"

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
