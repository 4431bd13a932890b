package stacks

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/statefiles"
)

// TestSameOutputs: secrets are compared by what is in them.
func TestSameOutputs(t *testing.T) {
	t.Parallel()
	secret := func(ciphertext string) string {
		return `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "` + ciphertext + `"}`
	}
	open := func(salt, ciphertext string) (string, error) {
		if salt == "" {
			return "", errors.New("there is no key")
		}
		plain, _, _ := strings.Cut(ciphertext, "#") // the rest is what makes it new each time
		return plain, nil
	}
	for name, test := range map[string]struct {
		before, after, salt string
		want                bool
	}{
		"the same text":       {`{"a": 1}`, `{"a": 1}`, "", true},
		"another order":       {`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, "", true},
		"another value":       {`{"a": 1}`, `{"a": 2}`, "s", false},
		"encrypted anew":      {`{"a": ` + secret("x#1") + `}`, `{"a": ` + secret("x#2") + `}`, "s", true},
		"another secret":      {`{"a": ` + secret("x#1") + `}`, `{"a": ` + secret("y#1") + `}`, "s", false},
		"deep inside":         {`{"a": [{"b": ` + secret("x#1") + `}]}`, `{"a": [{"b": ` + secret("y#1") + `}]}`, "s", false},
		"a secret and a text": {`{"a": ` + secret("x#1") + `, "b": 1}`, `{"a": ` + secret("x#2") + `, "b": 2}`, "s", false},
		"no secret any more":  {`{"a": ` + secret("x#1") + `}`, `{"a": "x"}`, "s", false},
		"no key":              {`{"a": ` + secret("x#1") + `}`, `{"a": ` + secret("x#2") + `}`, "", false},
		"no outputs before":   {``, `{"a": 1}`, "s", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, then := Standing{Outputs: test.after, Salt: test.salt}, Standing{Outputs: test.before, Salt: test.salt}
			if got := now.HasSameOutputs(then, open); got != test.want {
				t.Errorf("the same: %v", got)
			}
		})
	}
}

// TestChangedOutputs: an output has changed if its value has, encrypted or not.
func TestChangedOutputs(t *testing.T) {
	t.Parallel()
	secret := func(ciphertext string) string {
		return `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "` + ciphertext + `"}`
	}
	open := func(salt, ciphertext string) (string, error) {
		if salt == "" {
			return "", errors.New("there is no key")
		}
		plain, _, _ := strings.Cut(ciphertext, "#")
		return plain, nil
	}
	before := `{"same": ` + secret("x#1") + `, "token": ` + secret("y#1") + `, "plain": 1, "gone": 1}`
	after := `{"same": ` + secret("x#2") + `, "token": ` + secret("z#1") + `, "plain": 2, "new": 1}`
	for _, test := range []struct {
		before, after, salt string
		want                []string
	}{
		{before, after, "s", []string{"plain", "token"}},
		{before, after, "", nil},
		{before, before, "", nil},
		{"", after, "s", nil},
	} {
		got := Standing{Outputs: test.after, Salt: test.salt}.ChangedOutputs(Standing{Outputs: test.before, Salt: test.salt}, open)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.before, got, test.want)
		}
	}
}

// TestStanding: it tells of references to stacks of others.
func TestStanding(t *testing.T) {
	t.Parallel()
	e := newCopies(Options{Organization: "organization", Stack: "dev"})
	standing, err := e.standingOf([]byte(`{"manifest": {"time": "2026-11-20T12:00:00Z"}, "resources": [
		{"type": "pulumi:pulumi:Stack", "outputs": {"a": 1}},
		{"type": "pulumi:pulumi:StackReference", "id": "organization/network/dev"},
		{"type": "pulumi:pulumi:StackReference", "id": "organization/network/prod"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if standing.Outputs != `{"a": 1}` || standing.Resources != 3 || standing.Digest == "" ||
		len(standing.Foreign) != 1 || standing.Foreign[0] != "organization/network/prod" {
		t.Errorf("got %+v", standing)
	}
}

// TestStandingsAreReadOnce: a set that was opened with the standings does not read
// the states again.
func TestStandingsAreReadOnce(t *testing.T) {
	t.Parallel()
	o := Options{Organization: "organization", Stack: "dev", States: statefiles.Directory{Path: t.TempDir(), Stack: "dev"}}
	file := filepath.Join(o.States.Path, ".pulumi/stacks/network/dev.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"checkpoint": {"latest": {"resources": [{"type": "pulumi:pulumi:Stack", "outputs": {"a": 1}}]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.Standings, err = o.StandingsIn([]string{"network", "database"}); err != nil || len(o.Standings) != 1 {
		t.Fatalf("%v, %v", o.Standings, err)
	}
	e, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if standing, err := e.Standing(t.Context(), "network"); err != nil || standing.Outputs != `{"a": 1}` {
		t.Errorf("got %+v, %v", standing, err)
	}
	if standing, err := e.Standing(t.Context(), "database"); err != nil || standing.Digest != "" {
		t.Errorf("one that there is not: %+v, %v", standing, err)
	}
	if got := e.Summary("network"); !got.Exists || got.Resources != 1 || e.Summary("database").Exists {
		t.Errorf("got %+v", got)
	}
}

// TestLaggingStates: a state that lags behind a journal is read by the engine, which knows the journal, and counts as one
// that has resources and that nobody has left so.
func TestLaggingStates(t *testing.T) {
	t.Parallel()
	states := statefiles.Directory{Path: t.TempDir(), Stack: "dev"}
	file := filepath.Join(states.Path, ".pulumi/stacks/vpc/dev.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	lagging := `{"version":3,"checkpoint":{"latest":{"manifest":{"time":"2026-11-28T10:00:00Z","magic":"mara-journal abc","version":"3"}}}}`
	if err := os.WriteFile(file, []byte(lagging), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFake(t,
		call{args: "stack export", stdout: `{"deployment": {"pending_operations": [{"resource": {"urn": "urn:pulumi:dev::vpc::t::a"}, "type": "creating"}]}}`},
		call{args: "cancel --yes"},
	)
	e := openWith(t, f, func(o *Options) { o.Direct, o.States = []string{"vpc"}, states })
	standings, err := e.options.StandingsIn([]string{"vpc"})
	if got := standings["vpc"]; err != nil || got.Resources != 1 || got.Digest != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if pending, err := e.Pending(t.Context(), "vpc"); err != nil || len(pending) != 1 {
		t.Errorf("got %v, %v", pending, err)
	}
	if lags, err := e.Lags("vpc"); !lags || err != nil {
		t.Errorf("%t, %v", lags, err)
	}
	if err := e.TakeOver(t.Context(), "vpc", false); !errors.Is(err, errLags) {
		t.Errorf("an engine without journals: %v", err)
	}
}
