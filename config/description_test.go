package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOver(t *testing.T) {
	t.Parallel()
	lower := func(key string, value any) Entry { return Entry{Key: key, Value: value, File: "layer.yaml", Line: 7} }
	for _, test := range []struct {
		name, file  string
		description []Entry
		want        map[string]any
		wrong       string
	}{
		{"no file", "", []Entry{lower("a:b", "x")}, map[string]any{"a:b": "x"}, ""},
		{"the file wins", "config:\n  a:b: y\n", []Entry{lower("a:b", "x"), lower("a:c", 1)}, map[string]any{"a:b": "y", "a:c": 1}, ""},
		{"maps are merged", "config:\n  a:m: {x: 1, y: null}\n", []Entry{lower("a:m", map[string]any{"x": 0, "y": 2, "z": "1.30"})},
			map[string]any{"a:m": map[string]any{"x": 1, "z": "1.30"}}, ""},
		{"null takes away", "config:\n  a:b: null\n", []Entry{lower("a:b", "x")}, map[string]any{"a:b": nil}, ""},
		{"what is encrypted", "encryptionsalt: v1:x\nconfig:\n  a:c: {secure: v1:y}\n", []Entry{lower("a:b", Ciphertext("v1:z"))},
			map[string]any{"a:b": Ciphertext("v1:z"), "a:c": Ciphertext("v1:y")}, ""},
		{"a text in the place of a map", "config:\n  a:m: text\n", []Entry{lower("a:m", map[string]any{"x": 0})}, nil,
			`Pulumi.dev.yaml:2: a:m is the string "text", and replaces the map of layer.yaml:7`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file, err := ParseStack("Pulumi.dev.yaml", []byte(test.file))
			if err != nil {
				t.Fatal(err)
			}
			merged, err := file.Over(Description{Entries: test.description})
			if test.wrong != "" {
				if err == nil || err.Error() != test.wrong {
					t.Errorf("got %v, want %s", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, merged.Values()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			read, err := ParseStack("copy", merged.Content)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, read.Values()); diff != "" {
				t.Errorf("what Pulumi reads (-want +got):\n%s", diff)
			}
			if string(merged.Own().Content) != test.file {
				t.Errorf("the file on disk is %q", merged.Own().Content)
			}
			overridden, err := merged.Override(Change{Key: "a:new", Value: "1"})
			if err != nil || overridden.Own().File != "Pulumi.dev.yaml" {
				t.Errorf("overridden: %v", err)
			}
			for _, entry := range test.description {
				if got, _ := overridden.Lookup(entry.Key); got.Value != nil && got.File != "layer.yaml" && len(got.Over) == 0 {
					t.Errorf("%s has lost its place", entry.Key)
				}
			}
		})
	}
}

// TestTTL: what is no lifetime is an error, and not the absence of one.
func TestTTL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"8h": "8h0m0s", `"90m"`: "1h30m0s", "1d": "", `"-1h"`: "", "8": "", "0": "", `"0s"`: "", "true": "", "[1s]": "", "1S": "",
	} {
		file, err := ParseStack("Pulumi.dev.yaml", []byte("config: {runner:ttl: "+text+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		ttl, _, err := file.TTL()
		if (err == nil) != (want != "") || err == nil && ttl.String() != want {
			t.Errorf("%s: %v, %v", text, ttl, err)
		}
	}
	if ttl, _, err := (StackFile{}).TTL(); ttl != 0 || err != nil {
		t.Errorf("no file: %v, %v", ttl, err)
	}
}
