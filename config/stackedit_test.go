package config

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	set := func(key string, value any) Change { return Change{Key: key, Value: value} }
	unset := func(key string) Change { return Change{Key: key, Unset: true} }
	tests := []struct {
		name, in string
		change   Change
		want     string
	}{
		{"no file", "", set("a:b", "x"), "config:\n  a:b: x\n"},
		{"only comments", "# mine\n", set("a:b", "x"), "# mine\nconfig:\n  a:b: x\n"},
		{"only comments, no line end", "# mine", set("a:b", "x"), "# mine\nconfig:\n  a:b: x\n"},
		{"document start", "---\n", set("a:b", "x"), "---\nconfig:\n  a:b: x\n"},
		{"no configuration", "encryptionsalt: v1:x=\n", set("a:b", "x"), "encryptionsalt: v1:x=\nconfig:\n  a:b: x\n"},
		{"empty configuration", "config:\n", set("a:b", "x"), "config:\n  a:b: x\n"},
		{"empty configuration with a comment", "config: # mine\nencryptionsalt: x\n", set("a:b", "x"), "config: # mine\n  a:b: x\nencryptionsalt: x\n"},
		{"braces", "config: {} # mine\nencryptionsalt: x\n", set("a:b", "x"), "config: # mine\n  a:b: x\nencryptionsalt: x\n"},
		{"null", "config: null\n", set("a:b", 1), "config:\n  a:b: 1\n"},
		{"full braces", "config: {a:b: 1.30, a:c: [x, y]}\n", set("a:d", true), "config:\n  a:b: 1.30\n  a:c: [x, y]\n  a:d: true\n"},
		{"unset in braces", "config: {a:b: 1.30}\n", unset("a:b"), "config: {}\n"},

		{"a version stays a text", "config:\n  a:b: x\n", set("a:b", "1.30"), "config:\n  a:b: \"1.30\"\n"},
		{"texts that YAML reads otherwise", "config:\n", set("a:b", "yes"), "config:\n  a:b: \"yes\"\n"},
		{"a number", "config:\n  a:b: 1 # one\n  a:c: 2\n", set("a:b", 3), "config:\n  a:b: 3 # one\n  a:c: 2\n"},
		{"aligned comment", "config:\n  a:b: 1     # one\n", set("a:b", 30), "config:\n  a:b: 30     # one\n"},
		{"quoted", "config:\n  a:b: \"x # \\\" y\"   # one\n", set("a:b", "z"), "config:\n  a:b: z   # one\n"},
		{"single quotes", "config:\n  a:b: 'it''s # y' # one\n", set("a:b", false), "config:\n  a:b: false # one\n"},
		{"quoted key", "config:\n  \"a:b\"  : x\n", set("a:b", "z"), "config:\n  \"a:b\"  : z\n"},
		{"the old form of a key", "config:\n  a:config:b: x\n", set("a:b", "z"), "config:\n  a:config:b: z\n"},
		{"nothing", "config:\n  a:b:\n  a:c: 1\n", set("a:b", "z"), "config:\n  a:b: z\n  a:c: 1\n"},
		{"nothing but a comment", "config:\n  a:b: # one\n\n  # two\n", set("a:b", "z"), "config:\n  a:b: z # one\n\n  # two\n"},
		{"encrypted", "config:\n  a:b:\n    secure: v1:x\n  a:c: 1\n", set("a:b", "z"), "config:\n  a:b: z\n  a:c: 1\n"},
		{"characters before it", "config:\n  \"ä:ö\": \"ü\" # é\n", set("ä:ö", "z"), "config:\n  \"ä:ö\": z # é\n"},

		{"a new list", "config:\n  a:b: 1\n", set("a:c", []string{"x", "1.0"}), "config:\n  a:b: 1\n  a:c:\n    - x\n    - \"1.0\"\n"},
		{"an empty list", "config:\n  a:b: 1\n", set("a:c", []string{}), "config:\n  a:b: 1\n  a:c: []\n"},
		{"a list in brackets", "config:\n  a:b: [x, # one\n    \"]\"] # two\n  a:c: 1\n", set("a:b", []string{"z"}), "config:\n  a:b: # two\n    - z\n  a:c: 1\n"},
		{"a list to a text", "config:\n  a:b: # one\n    - x\n    # inside\n    - y\n\n  # two\n  a:c: 1\n", set("a:b", "z"), "config:\n  a:b: z # one\n\n  # two\n  a:c: 1\n"},
		{"a list without indentation", "config:\n  a:b:\n  - x\n  - y\nencryptionsalt: x\n", set("a:b", []string{"z"}), "config:\n  a:b:\n    - z\nencryptionsalt: x\n"},
		{"a map", "config:\n  a:b: x # one\n", set("a:b", map[string]any{"c": map[string]any{"d": 1}}), "config:\n  a:b: # one\n    c:\n      d: 1\n"},
		{"a map whose first key is quoted", "config:\n  a:b:\n    \"n\": 1\n    m: 2\n  a:c: 1\n", set("a:b", map[string]any{"n": 2}), "config:\n  a:b:\n    \"n\": 2\n  a:c: 1\n"},
		{"several lines", "config:\n  a:b: x # one\n  a:c: 1\n", set("a:b", "x\ny\n"), "config:\n  a:b: | # one\n    x\n    y\n  a:c: 1\n"},
		{"a block of text", "config:\n  a:b: |\n    x\n    # text\n\n  # comment\n  a:c: 1\n", set("a:b", "z"), "config:\n  a:b: z\n\n  # comment\n  a:c: 1\n"},
		{"behind a block of text", "config:\n  a:b: |\n    x\n    # text\n\n# comment\n", set("a:c", 1), "config:\n  a:b: |\n    x\n    # text\n  a:c: 1\n\n# comment\n"},

		{"beside its namespace", "config:\n  a:b: 1\n\n  # c\n  c:d: 1\n", set("a:c", 2), "config:\n  a:b: 1\n  a:c: 2\n\n  # c\n  c:d: 1\n"},
		{"a new namespace", "config:\n  a:b: 1\n\n# end\n", set("c:d", 2), "config:\n  a:b: 1\n  c:d: 2\n\n# end\n"},
		{"below its line in comments", "config:\n  a:b: 1\n\n  # a number.\n  #a:c: 3\n\n  # ends.\n", set("a:c", 4), "config:\n  a:b: 1\n\n  # a number.\n  #a:c: 3\n  a:c: 4\n\n  # ends.\n"},
		{"comments before the configuration", "#a:c: 3\nconfig:\n  a:b: 1\n", set("a:c", 4), "#a:c: 3\nconfig:\n  a:b: 1\n  a:c: 4\n"},
		{"keys behind the configuration", "config:\n  a:b: 1\nencryptionsalt: x\n", set("a:c", 4), "config:\n  a:b: 1\n  a:c: 4\nencryptionsalt: x\n"},
		{"no line end", "config:\n  a:b: 1", set("a:c", 2), "config:\n  a:b: 1\n  a:c: 2\n"},
		{"no line end, replaced", "config:\n  a:b: 1", set("a:b", 2), "config:\n  a:b: 2"},
		{"windows line ends", "config:\r\n  a:b: 1\r\n", set("a:c", []string{"x"}), "config:\r\n  a:b: 1\r\n  a:c:\r\n    - x\r\n"},
		{"windows line ends, replaced", "config:\r\n  a:b: 1 # one\r\n  a:c: 1\r\n", set("a:b", 2), "config:\r\n  a:b: 2 # one\r\n  a:c: 1\r\n"},
		{"deeper indentation", "config:\n     a:b: 1\n", set("a:c", 2), "config:\n     a:b: 1\n     a:c: 2\n"},
		{"strange indentation", "config:\n a:b: 1\n", set("a:c", map[string]any{"d": 1}), "config:\n a:b: 1\n a:c:\n   d: 1\n"},

		{"unset", "config:\n  # one\n  a:b: 1\n  # two\n  a:c: 2\n", unset("a:b"), "config:\n  # one\n  # two\n  a:c: 2\n"},
		{"unset a list", "config:\n  a:b:\n    - 1\n    - 2\n\n  a:c: 2\n", unset("a:b"), "config:\n\n  a:c: 2\n"},
		{"unset the last", "config:\n  a:b: 1\n", unset("a:b"), "config:\n"},
		{"unset what is not there", "config: {a:b: 1} # x", unset("a:c"), "config: {a:b: 1} # x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, err := ParseStack("f", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			got, err := file.Edit(tt.change)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEditRefuses: a form that the editor does not know is an error that says
// so, and never a damaged file.
// TestEditWithin: a change within a value keeps the comments, the order and the form of the rest of it.
func TestEditWithin(t *testing.T) {
	t.Parallel()
	const in = "config:\n  a:b: # one\n    z: 1 # two\n    # before y\n    y:\n      - x # three\n\n      - name: n\n        port: 1 # four\n" +
		"    in: {c: 1, d: [x, \"y\"]} # five\n    text: |\n      # no comment\n  # six\n  a:c: 1\n"
	for name, test := range map[string]struct {
		within   []any
		old, new string
	}{
		"a value":               {[]any{"z"}, "z: 1 # two", "z: NEW # two"},
		"an item":               {[]any{"y", 0}, "- x # three", "- NEW # three"},
		"a value in an item":    {[]any{"y", 1, "port"}, "port: 1 # four", "port: NEW # four"},
		"in brackets":           {[]any{"in", "c"}, "{c: 1,", "{c: NEW,"},
		"in two brackets":       {[]any{"in", "d", 1}, "[x, \"y\"]", "[x, NEW]"},
		"new in brackets":       {[]any{"in", "d", 2}, "[x, \"y\"]", "[x, \"y\", NEW]"},
		"new in braces":         {[]any{"in", "e"}, "\"y\"]}", "\"y\"], e: NEW}"},
		"new at the end":        {[]any{"new"}, "# no comment\n", "# no comment\n    new: NEW\n"},
		"new in an item":        {[]any{"y", 1, "host"}, "# four\n", "# four\n        host: NEW\n"},
		"a new item":            {[]any{"y", 2}, "# four\n", "# four\n      - NEW\n"},
		"new with a map":        {[]any{"new", "deep"}, "# no comment\n", "# no comment\n    new:\n      deep: NEW\n"},
		"a new item with a map": {[]any{"y", 2, "name"}, "# four\n", "# four\n      -\n        name: NEW\n"},
		"a text of lines":       {[]any{"text"}, "text: |\n      # no comment\n", "text: NEW\n"},
		"a name with a colon":   {[]any{"k: v"}, "# no comment\n", "# no comment\n    'k: v': NEW\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := ParseStack("f", []byte(in))
			if err != nil {
				t.Fatal(err)
			}
			entry, _ := f.Lookup("a:b")
			value := withValue(entry.Value, test.within, "NEW")
			got, err := f.Edit(Change{Key: "a:b", Value: value, Within: test.within})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Replace(in, test.old, test.new, 1), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// withValue returns a value with another one at a path.
func withValue(value any, within []any, inner any) any {
	if len(within) == 0 {
		return inner
	}
	switch step := within[0].(type) {
	case string:
		values, _ := value.(map[string]any)
		values = maps.Clone(values)
		if values == nil {
			values = map[string]any{}
		}
		values[step] = withValue(values[step], within[1:], inner)
		return values
	case int:
		items, _ := value.([]any)
		items = slices.Clone(items)
		if step == len(items) {
			items = append(items, nil)
		}
		items[step] = withValue(items[step], within[1:], inner)
		return items
	}
	return nil
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"explicit key":     "config:\n  ? a:b\n  : x\n",
		"document end":     "config:\n  a:b: x\n...\n",
		"all in braces":    "{config: {a:b: x}}",
		"nothing in it":    "{}",
		"on the same line": "config: !!map\n  {a:b: x}\n",
	} {
		file, err := ParseStack("f", []byte(in))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := file.Edit(Change{Key: "a:b", Value: "y"}, Change{Key: "c:d", Value: []string{"z"}})
		if err == nil {
			edited, err := ParseStack("f", got)
			if err != nil || edited.Values()["a:b"] != "y" {
				t.Errorf("%s: damaged: %s", name, got)
			}
			continue
		}
		if !strings.Contains(err.Error(), "cannot be changed by the runner in a file of this form; change it by hand") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzEdit: an edit changes one value and no other, keeps every byte that it does
// not have to touch, and can be taken back.
func FuzzEdit(f *testing.F) {
	f.Add("config:\n  a:b: 1 # one\n  # two\n  a:c: [x]\nencryptionsalt: x\n", "a:b", "1.30", byte(0))
	f.Add("config: {a:b: {c: 'd'}}\r\n", "a:c", "x\ny", byte(0))
	f.Add("config:\n  a:b: |+\n    x\n\n  a:c: \"x\n    # y\"\n", "a:c", "#", byte(4))
	f.Add("# x\n\u2028config:\n  a:b: &x y\n", "a:b", "- x", byte(3))
	f.Add("config:\r\n  'a:b' :   true   # yes\r\n  # two\r\n\r\n# three\r\n  a:c: >-\r\n   x\r\nencryptionsalt: v1:x", "a:b", "7", byte(1))
	f.Add("encryptionsalt: x\nconfig:\n a:b:\n - x # one\n - y\n # two\n a:d: 0x10\n# end", "a:c", "é", byte(2))
	f.Fuzz(func(t *testing.T, content, key, text string, kind byte) {
		before, err := ParseStack("f", []byte(content))
		name, ok := normalKey(key)
		if err != nil || !ok || name != key {
			return
		}
		value := fuzzValue(text, kind)
		edited, err := before.Edit(Change{Key: key, Value: value})
		if err != nil {
			return
		}
		checkRest(t, before, edited, key)
		after, err := ParseStack("f", edited)
		if err != nil {
			t.Fatalf("%q became %q: %v", content, edited, err)
		}
		want := before.Values()
		want[key] = value
		if diff := cmp.Diff(want, after.Values()); diff != "" {
			t.Fatalf("%q became %q: %s", content, edited, diff)
		}
		without, err := after.Edit(Change{Key: key, Unset: true})
		if err != nil {
			return
		}
		checkRest(t, after, without, key)
		delete(want, key)
		if again, err := ParseStack("f", without); err != nil || !cmp.Equal(want, again.Values()) {
			t.Fatalf("%q became %q: %v", edited, without, err)
		}
	})
}

// fuzzValue makes a value of each kind from a text, as it comes back when the
// file is read.
func fuzzValue(text string, kind byte) any {
	switch kind % 5 {
	case 1:
		return len(text)
	case 2:
		return len(text)%2 == 0
	case 3:
		return []any{text, "1.0"}
	case 4:
		return map[string]any{"k": text, "l": map[string]any{"m": "x"}}
	}
	return text
}

// checkRest holds what an edit of a key must not touch against the file before
// it: everything around the lines from the key to what comes next. A configuration
// in braces is written anew.
func checkRest(t *testing.T, before StackFile, edited []byte, key string) {
	t.Helper()
	root, err := decodeDocument("f", before.Content)
	if err != nil {
		t.Fatal(err)
	}
	content, lines := before.Content, lineStarts(before.Content)
	entry, exists := before.Lookup(key)
	from, to := 0, len(content)
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		if config := root.Content[i+1]; root.Content[i].Value == "config" && (config.Style&yaml.FlowStyle != 0 || config.Kind != yaml.MappingNode) {
			return
		}
		if exists && root.Content[i].Line > entry.Line {
			to = min(to, lines[root.Content[i].Line-1])
		}
	}
	if !exists { // something is put in, and nothing taken away
		from = commonPrefix(content, edited)
		to = from
	} else {
		from = lines[entry.Line-1]
		for _, other := range before.Entries {
			if other.Line > entry.Line {
				to = min(to, lines[other.Line-1])
			}
		}
	}
	if !bytes.HasPrefix(edited, content[:from]) || !bytes.HasSuffix(edited[from:], content[to:]) {
		t.Fatalf("%q became %q", content, edited)
	}
	changed := edited[from : len(edited)-len(content[to:])]
	if _, isNumber := entry.Value.(int); !isNumber {
		return
	}
	for line := range bytes.SplitSeq(content[from:to], []byte("\n")) { // behind a number, comments are comments
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) && !bytes.Contains(changed, line) {
			t.Fatalf("%q became %q, without %q", content, edited, line)
		}
	}
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
