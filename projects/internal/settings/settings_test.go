package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
)

func testProject() model.Project {
	one, nine := 1, 9
	return model.Project{
		Name: "example",
		Keys: []config.Key{
			{Name: "x:version", Kind: config.String, Default: "1.30", Doc: "version"},
			{Name: "x:mode", Kind: config.String, Allowed: []string{"a", "b"}, Doc: "mode"},
			{Name: "x:count", Kind: config.Int, Default: 3, Min: &one, Max: &nine, Doc: "how many", Example: "2"},
			{Name: "x:flag", Kind: config.Bool, Default: true, Doc: "flag"},
			{Name: "x:zones", Kind: config.List, Default: []string{"z1"}, Doc: "zones"},
			{Name: "x:values", Kind: config.Map, Doc: "values"},
			{Name: "x:needed", Kind: config.String, Required: true, Doc: "needed", Example: "something"},
		},
	}
}

func settingsOf(values map[string]string) *Settings {
	return load(testProject(), "dev", func(key string) (string, bool) {
		value, ok := values[key]
		return value, ok
	})
}

type result struct {
	Version, Mode string
	Count         int
	Flag          bool
	Zones         []string
	Values        map[string]any
	Needed        string
}

func readAll(s *Settings) result {
	return result{
		Version: s.String("x:version"), Mode: s.String("x:mode"), Count: s.Int("x:count"), Flag: s.Bool("x:flag"),
		Zones: s.List("x:zones"), Values: s.Map("x:values"), Needed: s.String("x:needed"),
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   map[string]string
		want result
	}{
		{
			name: "defaults",
			in:   map[string]string{"x:needed": "n"},
			want: result{Version: "1.30", Count: 3, Flag: true, Zones: []string{"z1"}, Needed: "n"},
		},
		{
			name: "every kind is decoded",
			in: map[string]string{
				"x:version": "1.36", "x:mode": "b", "x:count": "9", "x:flag": "false",
				"x:zones": `["a","b"]`, "x:values": `{"a":{"b":[1,"2",null]}}`, "x:needed": "n",
			},
			want: result{
				Version: "1.36", Mode: "b", Count: 9, Zones: []string{"a", "b"}, Needed: "n",
				Values: map[string]any{"a": map[string]any{"b": []any{1.0, "2", nil}}},
			},
		},
		{
			name: "empty text is not set",
			in: map[string]string{
				"x:version": "", "x:mode": "", "x:count": "", "x:flag": "", "x:zones": "", "x:values": "", "x:needed": "n",
			},
			want: result{Version: "1.30", Count: 3, Flag: true, Zones: []string{"z1"}, Needed: "n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := settingsOf(tt.in)
			if diff := cmp.Diff(tt.want, readAll(s)); diff != "" {
				t.Errorf("settings differ (-want +got):\n%s", diff)
			}
			if err := s.Err(); err != nil {
				t.Errorf("unexpected error: %v", err)
			}
		})
	}
}

func TestErrListsEveryProblem(t *testing.T) {
	t.Parallel()
	s := settingsOf(map[string]string{
		"x:mode": "c", "x:count": "10", "x:flag": "yes", "x:zones": "a,b", "x:values": "[]",
	})
	readAll(s) // reading what was found wrong must not report it twice
	err := s.Err()
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	want := []string{
		`"x:mode" in config/pulumi/Pulumi.dev.yaml is "c"; allowed: a, b`,
		`"x:count" in config/pulumi/Pulumi.dev.yaml is 10; the largest allowed value is 9 (how many; example: 2)`,
		`"x:flag" in config/pulumi/Pulumi.dev.yaml must be true or false`,
		`"x:zones" in config/pulumi/Pulumi.dev.yaml must be a list`,
		`"x:values" in config/pulumi/Pulumi.dev.yaml must be a map`,
		`"x:needed" in config/pulumi/Pulumi.dev.yaml is not set (needed; example: something)`,
	}
	if len(lines) != len(want) {
		t.Fatalf("%d problems, want %d:\n%v", len(lines), len(want), err)
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("line %d is %q, want it to contain %q", i, lines[i], want[i])
		}
	}
}

func TestReject(t *testing.T) {
	t.Parallel()
	s := settingsOf(map[string]string{"x:needed": "n"})
	s.Reject("x:count", "is %d, more than x:max", 7)
	want := `configuration key "x:count" in config/pulumi/Pulumi.dev.yaml is 7, more than x:max (how many; example: 2)`
	if got := s.Err().Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIsSet(t *testing.T) {
	t.Parallel()
	s := settingsOf(map[string]string{"x:count": "3", "x:mode": ""})
	if !s.IsSet("x:count") || s.IsSet("x:mode") || s.IsSet("x:version") {
		t.Error("only x:count is set")
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	s := settingsOf(map[string]string{"x:needed": "n", "x:a": "value", "x:short": "abc"})
	if got := s.Secret(model.Secret{Key: "x:a"}); got != "value" {
		t.Errorf("got %q", got)
	}
	if got := s.Secret(model.Secret{Key: "x:b", Default: "d"}); got != "d" {
		t.Errorf("default: got %q", got)
	}
	if err := s.Err(); err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	s.Secret(model.Secret{Key: "x:c", Doc: "database password"})
	s.Secret(model.Secret{Key: "x:short", MinLength: 8})
	want := "secret \"x:c\" (database password) has no value in config/pulumi/secrets/Pulumi.dev.yaml: " +
		"set it with `runner secrets set x:c -s dev`\n" +
		"secret \"x:short\" is shorter than 8 characters: give it a longer value with `runner secrets set x:short -s dev`"
	if diff := cmp.Diff(want, s.Err().Error()); diff != "" {
		t.Errorf("error differs (-want +got):\n%s", diff)
	}
}

func TestProgrammerErrorsPanic(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		read func(*Settings)
		want string
	}{
		{"undeclared key", func(s *Settings) { s.String("x:other") },
			`project example reads the configuration key "x:other", but does not declare it in the catalogue`},
		{"other kind", func(s *Settings) { s.Int("x:version") },
			`project example declares "x:version" as string, but its program reads it as integer`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("panic %v, want %q", got, tt.want)
				}
			}()
			tt.read(settingsOf(nil))
		})
	}
}
