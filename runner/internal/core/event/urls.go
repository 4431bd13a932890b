package event

import (
	"net/url"
	"slices"
	"strings"
)

// hidden stands in a URL where a credential was.
const hidden = "***"

// minUser is the length from which the user of a URL is taken for a token, if
// it looks like one.
const minUser = 20

// MaskURLs returns text with the credentials in every URL replaced: passwords,
// tokens in the place of a user, and parameters such as ?token=.
func MaskURLs(text string) string { return replace(text, urlSecrets(text), hidden) }

// AddURLs makes the credentials in the URLs of texts known, as they stand there
// and decoded. A password that is also the name of its user is not: it is a
// default that everybody knows, such as postgres, and an ordinary word.
func (m *Masker) AddURLs(texts ...string) {
	for _, text := range texts {
		for _, s := range urlSecrets(text) {
			secret := text[s.from:s.to]
			if strings.HasSuffix(text[:s.from], "/"+secret+":") {
				continue
			}
			m.Add(secret)
			if plain, err := url.PathUnescape(secret); err == nil {
				m.Add(plain)
			}
		}
	}
}

// urlSecrets finds the credentials in the URLs of a text, in order. It does not
// rely on the URLs being valid: one with a bad character in its password has
// one, too.
func urlSecrets(text string) []piece {
	const mark = "://"
	var found []piece
	start := 0
	for next := strings.Index(text, mark); next >= 0; next = strings.Index(text[start:], mark) {
		start += next + len(mark)
		end := len(text)
		if i := strings.IndexAny(text[start:], " \t\r\n\"<>`\\"); i >= 0 {
			end = start + i
		}
		found = append(found, userSecrets(text, start, end)...)
		found = append(found, parameterSecrets(text, start, end)...)
	}
	slices.SortStableFunc(found, func(a, b piece) int { return a.from - b.from })
	return found
}

// userSecrets finds what stands before the host of a URL.
func userSecrets(text string, start, end int) []piece {
	authority := text[start:end]
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	at := strings.LastIndex(authority, "@")
	if at < 0 {
		// A password with a slash in it looks like a port that is no number.
		_, port, ok := strings.Cut(authority, ":")
		if !ok || strings.Trim(port, "0123456789") == "" || authority[0] == '[' {
			return nil
		}
		if at = strings.LastIndex(text[start:end], "@"); at < 0 {
			return nil
		}
	}
	var found []piece
	user, password, _ := strings.Cut(text[start:start+at], ":")
	if len(user) >= minUser && isToken(user) && strings.ContainsAny(user, "0123456789") {
		found = append(found, piece{start, start + len(user)})
	}
	if password != "" {
		found = append(found, piece{start + at - len(password), start + at})
	}
	return found
}

// parameterSecrets finds the parameters of a URL whose names say that they are
// secret.
func parameterSecrets(text string, start, end int) []piece {
	_, query, _ := strings.Cut(text[start:end], "?")
	var found []piece
	from := end - len(query)
	for _, parameter := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' || r == '#' }) {
		from = strings.Index(text[from:], parameter) + from
		name, value, _ := strings.Cut(parameter, "=")
		value = strings.TrimRight(value, ",'])}") // what stands behind the URL
		if value != "" && isSecretParameter(name) {
			at := from + len(name) + 1
			found = append(found, piece{at, at + len(value)})
		}
		from += len(parameter)
	}
	return found
}

func isSecretParameter(name string) bool {
	name = strings.NewReplacer("-", "", "_", "", "%5F", "", "%2D", "").Replace(strings.ToLower(name))
	return slices.ContainsFunc([]string{
		"password", "passwd", "passphrase", "pwd", "pass", "secret", "token", "sig", "signature", "credential", "apikey",
		"accesskey", "secretkey", "privatekey",
	}, func(ending string) bool { return strings.HasSuffix(name, ending) })
}
