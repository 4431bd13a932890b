package providers

import (
	"slices"
	"strings"
	"testing"
)

// TestNarrow: some of the projects have only the questions about their keys.
func TestNarrow(t *testing.T) {
	t.Parallel()
	for _, p := range All() {
		for _, step := range p.Steps {
			narrow := p.Narrow([]string{step.Project.Name})
			if names := narrow.Names(); !slices.Equal(names, []string{step.Project.Name}) {
				t.Errorf("%s of %s has %v", step.Project.Name, p.Name, names)
			}
			for _, q := range narrow.Questions {
				if _, ok := step.Project.Key(q.Key); !ok {
					t.Errorf("%s of %s is asked for %s", step.Project.Name, p.Name, q.Key)
				}
			}
		}
	}
	linode, err := ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, q := range linode.Narrow([]string{"linode-lke"}).Questions {
		keys = append(keys, q.Key)
	}
	if len(keys) != 5 || slices.ContainsFunc(keys, func(key string) bool { return !strings.HasPrefix(key, "lke:") }) {
		t.Errorf("the cluster of linode alone is asked for %v", keys)
	}
	if len(linode.Narrow(linode.Names()).Questions) != len(linode.Questions) {
		t.Error("all projects have not all questions")
	}
}
