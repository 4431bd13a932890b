package projects_test

import (
	"testing"

	"mara/projects/model"
)

func TestStackNames(t *testing.T) {
	t.Parallel()
	names := model.StackNamesOf([]model.Project{
		{Name: "network", Own: &model.Own{Stack: "network-{stack}"}},
		{Name: "shop", Own: &model.Own{}},
		{Name: "secrets"},
	})
	for _, test := range []struct{ project, environment, stack string }{
		{"network", "dev", "network-dev"},
		{"shop", "dev", "dev"},
		{"secrets", "prod.eu", "prod.eu"},
		{"unknown", "dev", "dev"},
	} {
		if got := names.Of(test.project, test.environment); got != test.stack {
			t.Errorf("the stack of %s in %s is %q, want %q", test.project, test.environment, got, test.stack)
		}
		if got, ok := names.Environment(test.project, test.stack); got != test.environment || !ok {
			t.Errorf("the stack %s of %s belongs to %q, %t; want %q", test.stack, test.project, got, ok, test.environment)
		}
	}
	for _, stack := range []string{"dev", "network-", "other-dev"} {
		if got, ok := names.Environment("network", stack); ok {
			t.Errorf("the stack %s of network belongs to %q", stack, got)
		}
	}
}
