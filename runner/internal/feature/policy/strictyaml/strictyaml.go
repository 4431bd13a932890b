// Package strictyaml decodes YAML files of users, and reports problems with file, line, key
// and the key that was probably meant. Errors of yaml.v3 contain names of Go types.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
)

// Decode decodes a file into a pointer to a struct and rejects unknown keys. It ignores an
// empty file. The error has a line for each problem, see Errors.
func Decode(path string, content []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return translate(path, err, keysOf(reflect.TypeOf(into), map[string][]string{}))
	}
	return nil
}

// Errors returns the problems of a file with path and line, from an error of yaml.v3 or an
// error whose lines begin with "line N: ".
func Errors(path string, err error) error { return translate(path, err, nil) }

// withLine finds the line in an error.
var withLine = regexp.MustCompile(`^line (\d+): `)

func translate(path string, err error, keys map[string][]string) error {
	var errs []error
	for text := range strings.Lines(strings.TrimPrefix(err.Error(), "yaml: ")) {
		text = strings.TrimSpace(text)
		if text == "unmarshal errors:" || text == "" {
			continue
		}
		place := path + ": "
		if found := withLine.FindStringSubmatch(text); found != nil {
			place, text = path+":"+found[1]+": ", strings.TrimPrefix(text, found[0])
		}
		errs = append(errs, errors.New(place+words(text, keys)))
	}
	return errors.Join(errs...)
}

var (
	unknownKey = regexp.MustCompile(`^field (.+) not found in type (\S+)$`)
	wrongKind  = regexp.MustCompile("^cannot unmarshal !!(\\S+)(?: `(.*)`)? into (.+)$")
	twice      = regexp.MustCompile(`^mapping key "(.+)" already defined at line (\d+)$`)
)

// words rewrites a message of yaml.v3 without Go types.
func words(text string, keys map[string][]string) string {
	if found := unknownKey.FindStringSubmatch(text); found != nil {
		known := keys[found[2]]
		if len(known) == 0 {
			return fmt.Sprintf("unknown key %q", found[1])
		}
		near := cmp.Or(config.DidYouMean(found[1], known), "; known: "+strings.Join(known, ", "))
		return fmt.Sprintf("unknown key %q%s", found[1], near)
	}
	if found := wrongKind.FindStringSubmatch(text); found != nil {
		return fmt.Sprintf("%s is not %s", given(found[1], found[2]), wanted(found[3]))
	}
	if found := twice.FindStringSubmatch(text); found != nil {
		return fmt.Sprintf("%q is set a second time; the first time is line %s", found[1], found[2])
	}
	return text
}

// given describes a value by its YAML tag.
func given(tag, value string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a mapping"
	case "null":
		return "nothing"
	}
	return fmt.Sprintf("%q", value)
}

// wanted describes a Go type for users.
func wanted(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "float"), strings.HasPrefix(goType, "*float"):
		return "a number"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "a text"
	}
	return "a mapping"
}

// keysOf collects the keys of a struct and its nested structs, by type name.
func keysOf(t reflect.Type, into map[string][]string) map[string][]string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return keysOf(t.Elem(), into)
	case reflect.Struct:
	default:
		return into
	}
	if _, seen := into[t.String()]; seen {
		return into
	}
	into[t.String()] = nil
	keys := map[string]bool{}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous && strings.HasSuffix(field.Tag.Get("yaml"), ",inline") {
			for _, name := range keysOf(field.Type, into)[field.Type.String()] {
				keys[name] = true
			}
			continue
		}
		if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name != "" && name != "-" {
			keys[name] = true
			keysOf(field.Type, into)
		}
	}
	into[t.String()] = slices.Sorted(maps.Keys(keys))
	return into
}
