package encryption_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/encryption"
)

// TestVerify finds what Prepare finds, and says what the passphrase opens.
func TestVerify(t *testing.T) {
	t.Parallel()
	salt, other := rightKey(t).Salt(), ""
	key, err := encryption.NewKey("another passphrase")
	if err != nil {
		t.Fatal(err)
	}
	other = key.Salt()
	salted := func(salt string) string { return "encryptionsalt: " + salt + "\n" }
	const service = "secretsprovider: awskms://alias/mara\nencryptedkey: abc\n"
	const stackPath, secretsPath = "config/pulumi/Pulumi.dev.yaml", "config/pulumi/secrets/Pulumi.dev.yaml"
	for _, test := range []struct {
		name                string
		stack, secrets, own string
		noPassphrase        bool
		managed             bool
		want                encryption.Verified // of Opened, SALT stands for the environment's own file
		err                 string              // part of it
	}{
		{name: "nothing encrypted yet", want: encryption.Verified{Needed: true}},
		{name: "both files", stack: salted(salt), secrets: salted(salt),
			want: encryption.Verified{Needed: true, Opened: []string{stackPath, secretsPath}}},
		{name: "secrets only", secrets: salted(salt), want: encryption.Verified{Needed: true, Opened: []string{secretsPath}}},
		{name: "own salt", own: salted(salt), want: encryption.Verified{Needed: true, Opened: []string{"SALT"}}},
		{name: "own salt is of no use", stack: salted(salt), own: salted(other),
			want: encryption.Verified{Needed: true, Opened: []string{stackPath}}},
		{name: "wrong for the stack file", stack: salted(other), err: "the passphrase is wrong: " + stackPath},
		{name: "wrong for the secrets", stack: salted(salt), secrets: salted(other), err: "the passphrase is wrong: " +
			secretsPath},
		{name: "wrong for its own salt", own: salted(other), err: "was encrypted with another one"},
		{name: "none", noPassphrase: true, err: encryption.ErrNoPassphrase.Error()},
		{name: "a key service", stack: service, noPassphrase: true},
		{name: "a key service, but not for secrets", stack: service, secrets: salted(salt), noPassphrase: true,
			err: encryption.ErrNoPassphrase.Error()},
		{name: "a backend that encrypts", managed: true, noPassphrase: true},
		{name: "malformed salt", stack: salted("salt"), err: "is not a salt that Pulumi wrote"},
		{name: "malformed file", stack: "a: [", err: "reading " + stackPath},
		{name: "malformed secrets", secrets: "- a", err: "reading " + secretsPath},
		{name: "malformed own salt", own: "a: [", err: "reading "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := places(t)
			o.Stack.Content, o.Secrets.Content, o.Managed = []byte(test.stack), []byte(test.secrets), test.managed
			if test.own != "" {
				write(t, o.SaltFile, []byte(test.own))
			}
			if test.noPassphrase {
				o.Env = nil
			}
			got, err := encryption.Verify(o)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			for i, path := range test.want.Opened {
				if path == "SALT" {
					test.want.Opened[i] = o.SaltFile
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			if _, err := os.Stat(filepath.Dir(o.SaltFile)); test.own == "" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
}
