package stacks

import (
	"context"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/pulumicli"
)

// withSalt returns the state of a stack with a salt.
func withSalt(salt, secret string) string {
	return `{"version":3,"deployment":{"manifest":{"time":"2026-11-20T12:00:00Z"},"secrets_providers":{"type":"passphrase","state":{"salt":"` + salt + `"}},"resources":[{"large":9007199254740993,` + secret + `}]}}`
}

func openFake(t *testing.T, fake *fakePulumi, projects ...string) *Set {
	t.Helper()
	e, err := Open(t.Context(), Options{
		Command: fake, Stack: "dev", Organization: "organization", WorkDir: t.TempDir(), Empty: true,
		Masker: event.NewMasker(), Env: map[string]string{"PULUMI_CONFIG_PASSPHRASE": "old", "OTHER": "stays"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, project := range projects {
		e.remember(project, func(s *Summary) { s.Exists = true })
	}
	return e
}

func TestReencrypt(t *testing.T) {
	t.Parallel()
	imported := call{args: "stack import --stack organization/vpc/dev", check: func(_ string, env, args []string) {
		all := strings.Join(env, " ")
		if !strings.Contains(all, "PULUMI_CONFIG_PASSPHRASE=new") || !strings.Contains(all, "OTHER=stays") || strings.Contains(strings.Join(args, " "), "new") {
			t.Errorf("the import has the environment %v", env)
		}
	}}
	fake := newFake(t,
		call{args: "stack export --stack organization/vpc/dev", stdout: withSalt("old", `"secure":"x"`)},
		call{args: "stack export --show-secrets --stack organization/vpc/dev", stdout: withSalt("old", `"plaintext":"hunter2"`)},
		imported,
	)
	e := openFake(t, fake, "vpc")
	changed, err := e.Reencrypt(t.Context(), "vpc", Encryption{Salt: "new", Env: map[string]string{"PULUMI_CONFIG_PASSPHRASE": "new"}})
	if err != nil || !changed {
		t.Errorf("changed %v, %v", changed, err)
	}
	want := `"secrets_providers":{"type":"passphrase","state":{"salt":"new"}}`
	if got := fake.input; !strings.Contains(got, want) || !strings.Contains(got, `"large":9007199254740993,"plaintext":"hunter2"`) {
		t.Errorf("pulumi was given %s", got)
	}
}

// TestReencryptIsDoneOnce: doing it again, as after an interruption, asks only.
func TestReencryptIsDoneOnce(t *testing.T) {
	t.Parallel()
	const service = `{"version":3,"deployment":{"secrets_providers":{"type":"cloud","state":{"url":"awskms://x","encryptedkey":"QUJD"}}}}`
	for name, test := range map[string]struct {
		state string
		to    Encryption
	}{
		"the same passphrase":  {withSalt("new", `"a":1`), Encryption{Salt: "new"}},
		"the same key service": {service, Encryption{Provider: "awskms://x", DataKey: "QUJD"}},
		"nothing encrypted":    {`{"version":3,"deployment":{"manifest":{}}}`, Encryption{Salt: "new"}},
	} {
		e := openFake(t, newFake(t, call{args: "stack export --stack", stdout: test.state}), "vpc")
		if changed, err := e.Reencrypt(t.Context(), "vpc", test.to); err != nil || changed {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
	}
}

func TestReencryptFails(t *testing.T) {
	t.Parallel()
	failed := &pulumicli.ExitError{Code: 255}
	old := call{args: "stack export --stack", stdout: withSalt("old", `"a":1`)}
	for name, test := range map[string]struct {
		calls []call
		want  string
	}{
		"nonsense":             {[]call{{args: "stack export", stdout: "Hello!"}}, "reading the state of vpc: pulumi answered with something else than JSON"},
		"the wrong passphrase": {[]call{old, {args: "stack export --show-secrets", stderr: "error: incorrect passphrase\n", err: failed}}, "decrypting the state of vpc: the passphrase is wrong"},
		"a state that is gone": {[]call{old, {args: "stack export --show-secrets", stdout: `{"version":3}`}}, "without resources"},
		"not accepted": {[]call{old, {args: "stack export --show-secrets", stdout: withSalt("old", `"a":1`)}, {args: "stack import", stderr: "error: no space\n", err: failed}},
			"encrypting the state of vpc: no space"},
	} {
		e := openFake(t, newFake(t, test.calls...), "vpc")
		if changed, err := e.Reencrypt(context.Background(), "vpc", Encryption{Salt: "new"}); err == nil || changed || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
	}
}

func TestSalt(t *testing.T) {
	t.Parallel()
	e := openFake(t, newFake(t,
		call{args: "stack export --stack organization/a/dev", stdout: `{"version":3,"deployment":{}}`},
		call{args: "stack export --stack organization/b/dev", stdout: withSalt("v1:x:y", `"a":1`)},
	), "b", "a", "c")
	if salt, err := e.Salt(t.Context()); salt != "v1:x:y" || err != nil {
		t.Errorf("got %q, %v", salt, err)
	}
}
