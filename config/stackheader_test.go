package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func stackOf(t *testing.T, content string) StackFile {
	t.Helper()
	file, err := ParseStack("f.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEditHeader(t *testing.T) {
	t.Parallel()
	salt := Header{EncryptionSalt: "v1:abc=:v1:def:ghi+/="}
	service := Header{SecretsProvider: "awskms://alias/x?region=eu-west-1", EncryptedKey: "QUJD=="}
	for _, test := range []struct {
		name, content string
		header        Header
		want          string
	}{
		{"nothing yet", "", salt, "encryptionsalt: v1:abc=:v1:def:ghi+/=\n"},
		{"comments only", "# mine\n# too", salt, "# mine\n# too\nencryptionsalt: v1:abc=:v1:def:ghi+/=\n"},
		{"before the first key", "# mine\n\nconfig: # all\n  a:b: \"1\" # one\n", salt, "# mine\n\nencryptionsalt: v1:abc=:v1:def:ghi+/=\nconfig: # all\n  a:b: \"1\" # one\n"},
		{"another salt", "config:\n  a:b: 1\nencryptionsalt: v1:x:y # do not touch\n", salt, "config:\n  a:b: 1\nencryptionsalt: v1:abc=:v1:def:ghi+/= # do not touch\n"},
		{"quoted", "encryptionsalt: \"v1:x:y\"\nconfig: {}\n", salt, "encryptionsalt: v1:abc=:v1:def:ghi+/=\nconfig: {}\n"},
		{"from a salt to a service", "encryptionsalt: v1:x:y\n# c\nconfig:\n  a:b: 1", service,
			"secretsprovider: awskms://alias/x?region=eu-west-1\nencryptedkey: QUJD==\n# c\nconfig:\n  a:b: 1"},
		{"from a service to a salt", "secretsprovider: awskms://x\nencryptedkey: Zm9v\nconfig:\n  a:b: 1\n", salt,
			"encryptionsalt: v1:abc=:v1:def:ghi+/=\nconfig:\n  a:b: 1\n"},
		{"to nothing", "encryptionsalt: v1:x:y\nconfig:\n  a:b: 1\n", Header{}, "config:\n  a:b: 1\n"},
		{"line ends of Windows", "# mine\r\nconfig:\r\n  a:b: 1\r\n", salt, "# mine\r\nencryptionsalt: v1:abc=:v1:def:ghi+/=\r\nconfig:\r\n  a:b: 1\r\n"},
		{"the same", "encryptionsalt: v1:abc=:v1:def:ghi+/=\n", salt, "encryptionsalt: v1:abc=:v1:def:ghi+/=\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := stackOf(t, test.content).EditHeader(test.header)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEditHeaderRefuses forms that it would damage.
func TestEditHeaderRefuses(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"encryptionsalt: >-\n  v1:x\n  y\nconfig: {}\n", "{encryptionsalt: v1:x:y, config: {a:b: 1}}\n"} {
		if got, err := stackOf(t, content).EditHeader(Header{EncryptionSalt: "v1:a:b"}); err == nil {
			t.Errorf("%q became %q", content, got)
		}
	}
}

func TestReseal(t *testing.T) {
	t.Parallel()
	const content = "# mine\nencryptionsalt: v1:x:y\nconfig:\n  a:b:\n    secure: v1:one # why\n  a:c: [{secure: \"v1:two\"}, plain]\n  a:d: {deep: {secure: v1:one}}\n"
	const want = "# mine\nencryptionsalt: v1:s:t\nconfig:\n  a:b:\n    secure: v1:1 # why\n  a:c: [{secure: \"v1:2\"}, plain]\n  a:d: {deep: {secure: v1:1}}\n"
	file := stackOf(t, content)
	if diff := cmp.Diff([]string{"v1:one", "v1:two"}, file.Ciphertexts()); diff != "" {
		t.Error(diff)
	}
	got, err := file.Reseal(map[string]string{"v1:one": "v1:1", "v1:two": "v1:2"}, Header{EncryptionSalt: "v1:s:t"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if got, err := file.Reseal(map[string]string{"v1:one": "v1:1"}, Header{}); err == nil {
		t.Errorf("a ciphertext without a successor: %s", got)
	}
}

// TestEditCiphertext sets encrypted values as Pulumi writes them.
func TestEditCiphertext(t *testing.T) {
	t.Parallel()
	file := stackOf(t, "config:\n  a:b: 1 # one\n  # two\n  a:c:\n    secure: v1:old\n")
	got, err := file.Edit(Change{Key: "a:c", Value: Ciphertext("v1:new")}, Change{Key: "x:y", Value: Ciphertext("v1:z")})
	if err != nil {
		t.Fatal(err)
	}
	const want = "config:\n  a:b: 1 # one\n  # two\n  a:c:\n    secure: v1:new\n  x:y:\n    secure: v1:z\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
