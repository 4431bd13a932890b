package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// vaultToken is what the stand-in for HashiCorp's Vault wants to see.
const vaultToken = "s.vault-token-of-the-test"

// vault stands in for the transit engine of HashiCorp's Vault: it keeps what it
// has encrypted, and gives it back for the ciphertext.
type vault struct {
	mu   sync.Mutex // guards kept
	kept map[string]string
}

// newVault starts a vault and tells an environment where it is.
func newVault(t *testing.T, e *environment) *vault {
	t.Helper()
	v := &vault{kept: map[string]string{}}
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	e.env = append(e.env, "VAULT_SERVER_URL="+server.URL, "VAULT_SERVER_TOKEN="+vaultToken)
	return v
}

// ServeHTTP implements http.Handler.
func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Vault-Token") != vaultToken {
		http.Error(w, `{"errors":["permission denied"]}`, http.StatusForbidden)
		return
	}
	var question struct{ Plaintext, Ciphertext string }
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		http.Error(w, `{"errors":["malformed"]}`, http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	answer := map[string]string{}
	switch action, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/transit/"), "/"); action {
	case "encrypt":
		answer["ciphertext"] = fmt.Sprintf("vault:v1:%s-%d", key, len(v.kept))
		v.kept[answer["ciphertext"]] = question.Plaintext
	case "decrypt":
		plaintext, ok := v.kept[question.Ciphertext]
		if !ok || !strings.HasPrefix(question.Ciphertext, "vault:v1:"+key+"-") {
			http.Error(w, `{"errors":["invalid ciphertext"]}`, http.StatusBadRequest)
			return
		}
		answer["plaintext"] = plaintext
	default:
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": answer})
}

// used says how often something was encrypted.
func (v *vault) used() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.kept)
}
