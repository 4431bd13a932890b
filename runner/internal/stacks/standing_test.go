package stacks

import (
	"errors"
	"strings"
	"testing"
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

// TestStanding: it tells of references to stacks of others.
func TestStanding(t *testing.T) {
	t.Parallel()
	e := &Set{options: Options{Organization: "organization", Stack: "dev"}}
	standing, err := e.standingOf([]byte(`{"manifest": {"time": "2026-11-20T12:00:00Z"}, "resources": [
		{"type": "pulumi:pulumi:Stack", "outputs": {"a": 1}},
		{"type": "pulumi:pulumi:StackReference", "id": "organization/network/dev"},
		{"type": "pulumi:pulumi:StackReference", "id": "organization/network/prod"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if standing.Outputs != `{"a": 1}` || standing.Resources != 3 || standing.Digest == "" || standing.Updated.IsZero() ||
		len(standing.Foreign) != 1 || standing.Foreign[0] != "organization/network/prod" {
		t.Errorf("got %+v", standing)
	}
}
