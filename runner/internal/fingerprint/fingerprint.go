// Package fingerprint tells whether what the last success of a project depended
// on is still the same: its program, its configuration, the outputs that it
// reads, the programs that run it, and the state that it has left. Such a project
// need not be run again.
//
// What cannot be told apart cheaply and for certain has no fingerprint; such a
// project is always run.
package fingerprint

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"mara/runner/internal/journal"
)

// Basis is what all projects of an environment depend on. It is made once for a
// run.
type Basis struct {
	// Root is the folder of the configuration. Relative paths in it may start there,
	// or in one of Folders.
	Root    string
	Folders []string
	// Programs are those that run projects: the runner, the engine, hosts, plugins.
	Programs []string
	// PluginFolders are those in which Pulumi keeps what it has downloaded.
	PluginFolders []string
	// Environ is the environment of programs and plugins; the values that
	// IsSecret names are told apart in a way that is slow to guess.
	Environ  map[string]string
	IsSecret func(variable string) bool
	// Setting is whatever else has to be the same, such as the backend.
	Setting map[string]string
}

// Subject is one project.
type Subject struct {
	Source  *Source        // of its program; nil for one that is built in
	Config  map[string]any // its configuration, secrets encrypted
	Secrets [][]byte       // files with more secrets that it gets, encrypted
	Plan    any            // what the plan says of it
	Outputs map[string]string
}

// common are the parts that all projects share.
func (b Basis) common() (map[string][]byte, error) {
	programs, err := stats(b.Programs)
	if err != nil {
		return nil, err
	}
	environ, err := b.environ()
	if err != nil {
		return nil, err
	}
	setting, err := json.Marshal(b.Setting)
	return map[string][]byte{
		"programs": programs, "plugins": listings(b.PluginFolders),
		"environment variables": environ, "setting": setting,
	}, err
}

// Maker makes the fingerprints of an environment's projects.
type Maker struct {
	basis  Basis
	common map[string][]byte
}

// NewMaker looks at what the projects have in common.
func NewMaker(b Basis) (*Maker, error) {
	common, err := b.common()
	return &Maker{b, common}, err
}

// Of is the fingerprint of a project: a digest of each part.
func (m *Maker) Of(s Subject) (journal.Fingerprint, error) {
	parts := maps.Clone(m.common)
	config, err := json.Marshal(s.Config)
	if err != nil {
		return nil, err
	}
	plan, err := json.Marshal(s.Plan)
	if err != nil {
		return nil, err
	}
	parts["configuration"], parts["plan"], parts["secrets"] = config, plan, bytes.Join(s.Secrets, []byte{0})
	if parts["files"], err = m.basis.named(s.Config); err != nil {
		return nil, err
	}
	if s.Source != nil {
		if parts["program"], err = s.Source.sum(); err != nil {
			return nil, err
		}
	}
	for project, outputs := range s.Outputs {
		parts["outputs of "+project] = []byte(outputs)
	}
	return journal.NewFingerprint(parts), nil
}

// volatile are variables that differ from one terminal or command to the next
// and mean nothing to a program.
var volatile = []string{
	"_", "COLUMNS", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "LINES", "OLDPWD", "PS1", "PWD", "SHLVL", "SSH_AGENT_PID", "SSH_AUTH_SOCK",
	"SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "STY", "TERM_SESSION_ID", "TMUX", "TMUX_PANE", "WAYLAND_DISPLAY", "WINDOWID", "XDG_SESSION_ID",
}

// guessRounds makes guessing a secret from its digest slow; they cost some
// milliseconds once a run.
const guessRounds = 20_000

// environ are the variables as text, but for those that secrets are in: of them
// it has one digest for all.
func (b Basis) environ() ([]byte, error) {
	var plain, secret strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.Environ)) {
		switch value := b.Environ[name]; {
		case slices.Contains(volatile, name) || strings.HasPrefix(name, "PULUMI_CONFIG_PASSPHRASE"):
			// what the passphrase opens is checked when it is needed
		case b.IsSecret != nil && b.IsSecret(name):
			fmt.Fprintf(&secret, "%s=%q\n", name, value)
		default:
			fmt.Fprintf(&plain, "%s=%q\n", name, value)
		}
	}
	if secret.Len() == 0 {
		return []byte(plain.String()), nil
	}
	digest, err := pbkdf2.Key(sha256.New, secret.String(), []byte(b.Root), guessRounds, sha256.Size)
	return []byte(plain.String() + hex.EncodeToString(digest)), err
}

// listings are the names in folders; one that is missing has none.
func listings(folders []string) []byte {
	var text bytes.Buffer
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			fmt.Fprintf(&text, "%q\n", entry.Name())
		}
	}
	return text.Bytes()
}
