package event

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"

	"mara/config/lists"
)

// Masked stands in a text where a secret was. It is the word that Pulumi uses.
const Masked = "[secret]"

const (
	// minSecret is the length below which a value is not masked: a password "dev" or "true"
	// looks like an ordinary word, and masking it would shred every text without hiding it.
	minSecret = 6
	// minMiddle is the length below which the part of a base64 text that only
	// the secret decides is not masked on its own.
	minMiddle = 8
	// minToken is the length from which a word within a secret is masked on
	// its own, if it looks like key material.
	minToken = 32
)

// Masker replaces secrets in texts. It is the last line of defence: secrets
// are kept out of events where events are made.
//
// Besides the value itself it knows its base64 forms (at any offset, as in the
// "user:password" of a registry), its hexadecimal digits, its JSON and URL forms, and the long words in
// a value of several lines that look like key material: the lines of a private
// key, the token in a kubeconfig, but not its address or its field names.
// Values shorter than six bytes are not masked. All methods are safe for concurrent use, and a nil
// Masker masks nothing.
type Masker struct {
	// HidesValues keeps the values that differ out of events, secret or not. Their paths stay.
	HidesValues bool

	mu     sync.RWMutex
	forms  map[string]struct{} // guarded by mu
	finder *finder             // guarded by mu; built from forms when first needed
}

// NewMasker returns a Masker that knows the given secrets.
func NewMasker(secrets ...string) *Masker {
	m := &Masker{}
	m.Add(secrets...)
	return m
}

// Add makes more secrets known. Texts that were masked before stay as they
// are.
func (m *Masker) Add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.forms == nil {
		m.forms = map[string]struct{}{}
	}
	for _, s := range secrets {
		for _, form := range forms(s) {
			m.forms[form] = struct{}{}
		}
	}
	m.finder = nil
}

// Mask returns text with every known secret replaced.
func (m *Masker) Mask(text string) string {
	if m == nil || text == "" {
		return text
	}
	return m.current().hide(MaskURLs(text))
}

// Event returns e with its free text masked.
func (m *Masker) Event(e Event) Event {
	if m != nil && m.HidesValues {
		e.Values = nil // Properties has the paths
		e.Outputs = lists.Map(e.Outputs, OutputChange.withoutValues)
	}
	return e.withTexts(m.Mask)
}

// withTexts returns e with its free text changed. Names from the catalogue and
// words of closed sets stay: masking them would break the stream, and they
// are not secret.
func (e Event) withTexts(change func(string) string) Event {
	e.Message = change(e.Message)
	e.By = change(e.By)
	e.Commit = change(e.Commit)
	e.Reason = change(e.Reason)
	e.Unchanged = change(e.Unchanged)
	e.Link = change(e.Link)
	e.Error = change(e.Error)
	e.Costs = e.Costs.withTexts(change)
	e.Finding = e.Finding.withTexts(change)
	e.Plan = e.Plan.withTexts(change)
	e.Hint = change(e.Hint)
	e.Resource.Type = change(e.Resource.Type)
	e.Resource.Name = change(e.Resource.Name)
	e.Why = lists.Map(e.Why, change)
	e.Properties = lists.Map(e.Properties, change) // paths have the keys of maps in them
	e.Values = valuesWithTexts(e.Values, change)
	e.Outputs = lists.Map(e.Outputs, func(c OutputChange) OutputChange { return c.withTexts(change) })
	return e
}

// current returns what is known now, ready for use.
func (m *Masker) current() *finder {
	m.mu.RLock()
	f := m.finder
	m.mu.RUnlock()
	if f != nil {
		return f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.finder == nil {
		m.finder = newFinder(m.forms)
	}
	return m.finder
}

// forms returns the texts in which a secret may show up.
func forms(secret string) []string {
	whole := strings.TrimSpace(secret)
	if len(whole) < minSecret {
		return nil
	}
	out := slices.Concat([]string{whole, url.QueryEscape(whole), url.PathEscape(whole)}, quoted(whole), encoded(secret),
		encoded(whole))
	for _, word := range strings.Fields(whole) {
		if len(word) >= minToken && isToken(word) {
			out = append(out, word)
		}
	}
	return out
}

// isToken reports whether a word is made of the characters of keys and tokens
// only. Addresses and ARNs have colons; masking them would hide from the user
// what an error is about.
func isToken(word string) bool {
	const others = "+/=_.-"
	return !strings.ContainsFunc(word, func(c rune) bool {
		alnum := '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		return !alnum && !strings.ContainsRune(others, c)
	})
}

// quoted returns the secret as it looks inside a JSON text, with and without
// the escapes that make JSON safe within HTML.
func quoted(secret string) []string {
	b, err := json.Marshal(secret)
	if err != nil { // cannot happen: strings always marshal
		return nil
	}
	safe := string(b[1 : len(b)-1])
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(safe)
	return []string{safe, plain}
}

// encoded returns the hexadecimal digits of the secret, and what base64 texts that contain it have in common:
// the secret in full, and the middle part that does not depend on what stands
// before and after it, for each of the three offsets.
func encoded(secret string) []string {
	var out []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		full := enc.EncodeToString([]byte(secret))
		out = append(out, full, strings.TrimRight(full, "="))
		for offset := range 3 {
			if part := middle(enc, secret, offset); len(part) >= minMiddle {
				out = append(out, part)
			}
		}
	}
	digits := hex.EncodeToString([]byte(secret))
	return append(out, digits, strings.ToUpper(digits))
}

// middle encodes the secret as if offset bytes stood before it and cuts the
// characters at both ends that other bytes have a share in.
func middle(enc *base64.Encoding, secret string, offset int) string {
	padded := append(make([]byte, offset), secret...)
	text := enc.WithPadding(base64.NoPadding).EncodeToString(padded)
	first := (offset*8 + 5) / 6
	last := len(padded) * 8 / 6
	return text[first:last]
}

// SecretsOf returns the values of variables whose names end in a word for a secret.
func SecretsOf(env map[string]string) []string { return secretsOf(env, strings.HasSuffix) }

// PossibleSecretsOf returns also the values of variables that have such a word anywhere in their names, to mask output
// for others. The path of a file or a socket is no secret.
func PossibleSecretsOf(env map[string]string) []string {
	return secretsOf(env, func(name, word string) bool {
		return strings.Contains(name, word) && !strings.HasSuffix(name, "_FILE") && !strings.HasSuffix(name, "_SOCK")
	})
}

func secretsOf(env map[string]string, isNamedBy func(name, word string) bool) []string {
	words := []string{"SECRET", "TOKEN", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "_KEY", "APIKEY", "AUTH"}
	var secrets []string
	for name, value := range env {
		name = strings.ToUpper(name)
		if slices.ContainsFunc(words, func(word string) bool { return isNamedBy(name, word) }) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}
