package event

import (
	"slices"
	"testing"
)

// TestSecretsOf: which variables are taken for secrets.
func TestSecretsOf(t *testing.T) {
	t.Parallel()
	got := SecretsOf(map[string]string{
		"LINODE_TOKEN": "1", "PULUMI_ACCESS_TOKEN": "2", "AWS_SECRET_ACCESS_KEY": "3", "AWS_SESSION_TOKEN": "4", "PULUMI_CONFIG_PASSPHRASE": "5",
		"DB_PASSWORD": "6", "SOME_API_KEY": "7", "db_password": "8", "STORAGE_KEY": "9", "SMTP_AUTH": "a", "PATH": "no", "AWS_ACCESS_KEY_ID": "no", "TOKENS": "no", "PULUMI_CONFIG_PASSPHRASE_FILE": "no",
	})
	slices.Sort(got)
	if want := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "a"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPossibleSecretsOf: what runs mask is masked in what is given to others, and more.
func TestPossibleSecretsOf(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"LINODE_TOKEN": "1", "SOME_APIKEY": "2", "AWS_ACCESS_KEY_ID": "3", "TOKENS": "4", "GOOGLE_CREDENTIALS": "5", "smtp_auth_text": "6",
		"PATH": "no", "PULUMI_CONFIG_PASSPHRASE_FILE": "no", "SSH_AUTH_SOCK": "no",
	}
	got := slices.Sorted(slices.Values(PossibleSecretsOf(env)))
	if want := []string{"1", "2", "3", "4", "5", "6"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, secret := range SecretsOf(env) {
		if !slices.Contains(got, secret) {
			t.Errorf("%q is masked in runs alone", secret)
		}
	}
}
