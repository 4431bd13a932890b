package session

import (
	"slices"
	"testing"
)

// TestSecretsOf: which variables are taken for secrets.
func TestSecretsOf(t *testing.T) {
	t.Parallel()
	got := SecretsOf(map[string]string{
		"LINODE_TOKEN": "1", "PULUMI_ACCESS_TOKEN": "2", "AWS_SECRET_ACCESS_KEY": "3", "AWS_SESSION_TOKEN": "4", "PULUMI_CONFIG_PASSPHRASE": "5",
		"DB_PASSWORD": "6", "SOME_API_KEY": "7", "PATH": "no", "AWS_ACCESS_KEY_ID": "no", "TOKENS": "no", "PULUMI_CONFIG_PASSPHRASE_FILE": "no",
	})
	slices.Sort(got)
	if want := []string{"1", "2", "3", "4", "5", "6", "7"}; !slices.Equal(slices.Compact(got), want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
