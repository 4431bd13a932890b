package naming_test

import (
	"strings"
	"testing"

	"mara/projects/naming"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		stack string
		part  string
		limit int
		want  string
	}{
		{"the environment", "dev", "", 32, "mara-dev"},
		{"a part", "dev", "registry", 32, "mara-dev-registry"},
		{"it just fits", "abcdefg", "eks", 16, "mara-abcdefg-eks"},
		{"too long", "abcdefgh", "eks", 16, "mara-9c56cc-eks"},
		{"long with room", "a-long-name-of-a-stack", "", 20, "mara-a-long-n-3fd33a"},
		{"capitals", "Dev", "", 32, "mara-dev-9c24f4"},
		{"an underscore", "my_dev", "", 32, "mara-my-dev-3b9666"},
		{"two hyphens", "x--y", "harbor", 32, "mara-x-y-6484a2-harbor"},
		{"a hyphen first", "-x", "harbor", 32, "mara-x-a42096-harbor"},
		{"a hyphen last", "x-", "harbor", 32, "mara-x-c8b60e-harbor"},
		{"a dot before an underscore", "Test.Env_1--x", "", 32, "mara-test-env-1-x-7e695f"},
		{"nothing that can stay", "..", "", 32, "mara-5ec1f7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := naming.Environment(test.stack, test.part, test.limit)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if len(got) > test.limit {
				t.Errorf("%q has %d characters, more than %d", got, len(got), test.limit)
			}
		})
	}
}

func TestEnvironmentIsUnique(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 90)
	seen := map[string]string{}
	for _, stack := range []string{"dev", "Dev", "dev.1", "dev_1", "dev-1", long + "1", long + "2"} {
		name := naming.Environment(stack, "node", 40)
		if other, ok := seen[name]; ok {
			t.Errorf("stacks %q and %q share the name %q", stack, other, name)
		}
		seen[name] = stack
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 80)
	tests := []struct{ name, stack, want string }{
		{"as it is", "dev_1.2", "dev_1.2"},
		{"too long", long, long[:56] + "-d929cd"},
		{"a hyphen at the end", "dev-", "dev-af7712"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := naming.Label(test.stack); got != test.want || len(got) > 63 {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
