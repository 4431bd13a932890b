package projects

import (
	"fmt"

	"mara/config"
)

// FindSecret finds the secret that a key names.
func FindSecret(key string) (Secret, bool) {
	for _, project := range All() {
		for _, secret := range project.Secrets {
			if secret.Key == key {
				return secret, true
			}
		}
	}
	return Secret{}, false
}

// Unsealed takes what may not be in the shared stack file out of it: secrets of
// projects, which have a file of their own, and credentials in plain text. The
// problems say what to do instead; no value is shown.
func Unsealed(file config.StackFile) (rest config.StackFile, problems []config.Problem) {
	var kept []config.Entry
	for _, entry := range file.Entries {
		_, encrypted := entry.Value.(config.Ciphertext)
		variable := CredentialVariable(entry.Key)
		if _, isSecret := FindSecret(entry.Key); isSecret {
			problems = append(problems, file.Problem(entry.Key, fmt.Sprintf(
				"is a secret, and is not read from here; take it away, and keep it encrypted with `runner secrets set %s`", entry.Key)))
			continue
		}
		if variable != "" && !encrypted && entry.Value != nil {
			problems = append(problems, file.Problem(entry.Key, fmt.Sprintf(
				"is a credential in plain text; take it away, and set %s in %s or in the process environment", variable, config.EnvironmentFile)))
			continue
		}
		kept = append(kept, entry)
	}
	file.Entries = kept
	return file, problems
}
