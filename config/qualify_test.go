package config

import "testing"

// TestQualified: a key without a namespace is the project's, as in Pulumi.
func TestQualified(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content, want string }{
		{"none", "", ""},
		{"keys", "config:\n  size: 1 # one\n  db:zone: a\n  \"name\": b\n  'other': c\nencryptionsalt: x\n",
			"config:\n  db:size: 1 # one\n  db:zone: a\n  \"db:name\": b\n  'db:other': c\nencryptionsalt: x\n"},
		{"braces, and other characters", "config: {ä: \"ü\", size: {inner: 1}}\n", "config: {db:ä: \"ü\", db:size: {inner: 1}}\n"},
		{"a secret", "config:\n  password:\n    secure: v1:x\n", "config:\n  db:password:\n    secure: v1:x\n"},
		{"a number is no key", "config:\n  1: x\n", "config:\n  1: x\n"},
		{"no YAML", "config: [\n", "config: [\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := string(Qualified([]byte(test.content), "db")); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
