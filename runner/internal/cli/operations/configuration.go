package operations

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/runner/internal/journal"
	"mara/runner/internal/session"
)

// configurationOf is the fingerprint of the configuration: the stack files, in which secrets
// are encrypted, and the names of what the environment file sets. Its values
// may be secrets, which could be guessed from a digest.
func configurationOf(s *session.Session) journal.Fingerprint {
	names := slice.Map(s.Options.Sources.File.Variables(), func(variable config.Variable) string { return variable.Name })
	slices.Sort(names)
	return journal.NewFingerprint(map[string][]byte{
		s.Settings.Config.File:                  bytes.TrimSpace(s.Settings.Config.Content),
		s.Settings.Secrets.File:                 bytes.TrimSpace(s.Settings.Secrets.Content),
		config.EnvironmentFile + " (its names)": []byte(strings.Join(names, "\n")),
	})
}
