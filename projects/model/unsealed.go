package model

import (
	"fmt"
	"slices"

	"mara/config"
)

// Unsealed takes what may not be in the shared stack file out of it: secrets of
// projects, which have a file of their own, and credentials in plain text. Own
// projects may have theirs in it, encrypted. The problems say what to do instead;
// no value is shown. credential returns the environment variable for a key that holds a credential, or "".
func Unsealed(
	file config.StackFile, secrets []Secret, credential func(key string) string,
) (rest config.StackFile, problems []config.Problem) {
	var kept []config.Entry
	for _, entry := range file.Entries {
		_, encrypted := entry.Value.(config.Ciphertext)
		variable := credential(entry.Key)
		i := slices.IndexFunc(secrets, func(s Secret) bool { return s.Key == entry.Key })
		if i >= 0 && secrets[i].Own && encrypted {
			continue
		}
		if i >= 0 {
			problems = append(problems, file.Problem(entry.Key, fmt.Sprintf(
				"is a secret, and is not read from here; delete it, and store it encrypted with `runner secrets set %s`",
				entry.Key)))
			continue
		}
		if variable != "" && !encrypted && entry.Value != nil {
			problems = append(problems, file.Problem(entry.Key, fmt.Sprintf(
				"is a credential in plain text; delete it, and set %s in %s or in the process environment",
				variable, config.EnvironmentFile)))
			continue
		}
		kept = append(kept, entry)
	}
	file.Entries = kept
	return file, problems
}
