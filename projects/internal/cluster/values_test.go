package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		base, over, want Values
	}{
		{"nothing", nil, nil, Values{}},
		{"over nothing", nil, Values{"a": 1}, Values{"a": 1}},
		{"nothing over", Values{"a": 1}, nil, Values{"a": 1}},
		{"maps merge deeply", Values{"a": Values{"b": 1, "c": 2}}, Values{"a": Values{"c": 3, "d": 4}},
			Values{"a": Values{"b": 1, "c": 3, "d": 4}}},
		{"lists are replaced", Values{"a": []any{1, 2}}, Values{"a": []any{3}}, Values{"a": []any{3}}},
		{"a map replaces a scalar", Values{"a": 1}, Values{"a": Values{"b": 1}}, Values{"a": Values{"b": 1}}},
		{"a scalar replaces a map", Values{"a": Values{"b": 1}}, Values{"a": 1}, Values{"a": 1}},
		{"null takes away", Values{"a": Values{"b": 1, "c": 2}}, Values{"a": Values{"b": nil}}, Values{"a": Values{"c": 2}}},
		{"null in a new map is dropped", nil, Values{"a": Values{"b": nil}}, Values{"a": Values{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, merge(tt.base, tt.over)); diff != "" {
				t.Errorf("merged values differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeLeavesItsInputsAlone(t *testing.T) {
	t.Parallel()
	base, over := Values{"a": Values{"b": 1}}, Values{"a": Values{"c": 2}}
	merge(base, over)["a"].(Values)["d"] = 3
	if diff := cmp.Diff(Values{"a": Values{"b": 1}}, base); diff != "" {
		t.Errorf("base changed:\n%s", diff)
	}
	if diff := cmp.Diff(Values{"a": Values{"c": 2}}, over); diff != "" {
		t.Errorf("over changed:\n%s", diff)
	}
}

func TestInputsOfRefusesOtherTypes(t *testing.T) {
	t.Parallel()
	_, err := inputsOf(Values{"a": Values{"b": []any{"x", struct{}{}}}})
	want := "a: b: item 2: a chart value cannot be a struct {}; quote it to make it text"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	project := filepath.Join(root, "projects", "kubernetes", "certmgr")
	write(t, filepath.Join(project, "Pulumi.yaml"), "name: certmgr")
	write(t, filepath.Join(root, "config", "pulumi", "values", "good.yaml"), "a: {b: 1}\nc: null\n")
	write(t, filepath.Join(root, "config", "pulumi", "values", "empty.yaml"), "# nothing\n")
	write(t, filepath.Join(root, "config", "pulumi", "values", "list.yaml"), "- a\n")
	tests := []struct {
		name, path string
		want       Values
		err        string
	}{
		{name: "relative", path: "values/good.yaml", want: Values{"a": Values{"b": 1}, "c": nil}},
		{name: "absolute", path: filepath.Join(root, "config/pulumi/values/good.yaml"), want: Values{"a": Values{"b": 1}, "c": nil}},
		{name: "empty", path: "values/empty.yaml"},
		{name: "not a map", path: "values/list.yaml", err: "cannot unmarshal"},
		{name: "missing", path: "values/none.yaml", err: "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readValues(project, tt.path)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want it to contain %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("values differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigDirOutsideOfAnEnvironment(t *testing.T) {
	t.Parallel()
	if _, err := readValues(t.TempDir(), "values.yaml"); err == nil || !strings.Contains(err.Error(), "give an absolute path") {
		t.Errorf("error %v, want one that says what to give", err)
	}
}

func TestLabelValue(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"dev":                           "dev",
		"-dev_":                         "dev",
		strings.Repeat("a", 62) + "-bc": strings.Repeat("a", 62),
	} {
		if got := labelValue(in); got != want {
			t.Errorf("labelValue(%q) = %q, want %q", in, got, want)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
