package ui_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/ui"
)

// TestFolded: what differs in the same way in several environments, but for their names, stands there once; what loses
// something comes first.
func TestFolded(t *testing.T) {
	t.Parallel()
	changed := func(name string) string {
		return "\nWould change: 1 resource in 1 project\n  App (app)\n    ~ k:D " + name + "\n\nApp (app)\n  Outputs:\n"
	}
	got := ui.Folded(map[string]string{
		"test-1": changed("shop-test-1"), "test-2": changed("shop-test-2"), "prod-1": changed("other"), "quiet": "",
		"prod-2": "\nWould be lost: 1 resource in 1 project\n    - k:D {env}\n",
	}, ui.Options{})
	want := `
prod-2
  Would be lost: 1 resource in 1 project
      - k:D prod-2

prod-1
  Would change: 1 resource in 1 project
    App (app)
      ~ k:D other

  App (app)
    Outputs:

The same in 2 environments: test-1, test-2
  Would change: 1 resource in 1 project
    App (app)
      ~ k:D shop-{env}

  App (app)
    Outputs:
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := ui.Folded(map[string]string{"a": ""}, ui.Options{}); got != "" {
		t.Errorf("nothing differs: %q", got)
	}
}
