package model_test

import (
	"testing"

	"mara/projects/model"
)

// TestSplitImage: a port of a registry is no tag.
func TestSplitImage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][3]string{
		"nginx/nginx-ingress:5.5.4":              {"nginx/nginx-ingress", "5.5.4", ""},
		"localhost:5001/nginx":                   {"localhost:5001/nginx", "", ""},
		"registry.example.com/a/b:1@sha256:0123": {"registry.example.com/a/b", "1", "sha256:0123"},
	} {
		repository, tag, digest := model.SplitImage(name)
		if got := [3]string{repository, tag, digest}; got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
