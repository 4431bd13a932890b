package stacks

import (
	"strings"
	"testing"

	"mara/runner/internal/core/pulumicli"
)

// inState returns an exported state with one resource, at a time and with an
// encrypted value.
func inState(time, secret string) string {
	return `{"version":3,"deployment":{"manifest":{"time":"` + time + `"},"resources":[{"large":9007199254740993,"plaintext":"` + secret + `"}]}}`
}

func TestCopier(t *testing.T) {
	t.Parallel()
	encrypted := call{args: "stack export --stack organization/vpc/dev", stdout: withSalt("one", `"secure":"x"`)}
	plain := func(time, secret string) call {
		return call{args: "stack export --show-secrets --stack organization/vpc/dev", stdout: inState(time, secret)}
	}
	imported, created := call{args: "stack import --stack organization/vpc/dev"}, call{args: "stack init --no-select"}
	failed := &pulumicli.ExitError{Code: 255}
	for name, test := range map[string]struct {
		from, to []call
		exists   bool // in the new backend, without resources
		err      string
	}{
		"a new stack":               {from: []call{encrypted, plain("1", "a")}, to: []call{created, imported, plain("2", "a")}},
		"cut off before the import": {from: []call{encrypted, plain("1", "a")}, to: []call{imported, plain("2", "a")}, exists: true},
		"not what was written":      {from: []call{encrypted, plain("1", "a")}, to: []call{created, imported, plain("2", "b")}, err: "differs from the original"},
		"not accepted":              {from: []call{encrypted}, to: []call{created, {args: "stack import", stderr: "error: no space\n", err: failed}}, err: "writing the state of vpc: no space"},
		"not readable":              {from: []call{encrypted, plain("1", "a")}, to: []call{created, imported, {args: "stack export", stdout: "Hello!"}}, err: "something else than JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := newFake(t, test.to...)
			from, to := openFake(t, newFake(t, test.from...), "vpc"), openFake(t, target)
			from.remember("vpc", func(s *Summary) { s.Resources = 1 })
			to.remember("vpc", func(s *Summary) { s.Exists = test.exists })
			err := Copier{From: from, To: to}.Copy(t.Context(), "vpc")
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v", err)
			}
			if err == nil && !strings.Contains(target.input, `"secure":"x"`) {
				t.Errorf("pulumi was given %s", target.input)
			}
		})
	}
}

func TestHasCopied(t *testing.T) {
	t.Parallel()
	for secret, want := range map[string]bool{"a": true, "b": false} {
		from := openFake(t, newFake(t, call{args: "stack export --show-secrets", stdout: inState("1", "a")}), "vpc")
		to := openFake(t, newFake(t, call{args: "stack export --show-secrets", stdout: inState("2", secret)}), "vpc")
		to.remember("vpc", func(s *Summary) { s.Resources = 1 })
		if has, err := (Copier{From: from, To: to}).HasCopied(t.Context(), "vpc"); has != want || (err == nil) != want {
			t.Errorf("%s: %t, %v", secret, has, err)
		}
	}
	from, to := openFake(t, newFake(t), "vpc"), openFake(t, newFake(t), "vpc")
	if has, err := (Copier{From: from, To: to}).HasCopied(t.Context(), "vpc"); has || err != nil {
		t.Errorf("a stack without resources: %t, %v", has, err)
	}
}
