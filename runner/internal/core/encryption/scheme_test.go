package encryption_test

import (
	"testing"

	"mara/runner/internal/core/encryption"
)

func TestNamesService(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]bool{
		"": false, "default": false, "passphrase": false,
		"awskms://alias/mara?region=eu-central-1": true, "hashivault://key": true,
	} {
		scheme := encryption.Scheme{Provider: provider}
		if got := scheme.NamesService(); got != want {
			t.Errorf("%q: %t", provider, got)
		}
		if scheme.NamesService() && (encryption.Options{}).UsesPassphrase(scheme) {
			t.Errorf("%q is a key service and a passphrase", provider)
		}
	}
}
