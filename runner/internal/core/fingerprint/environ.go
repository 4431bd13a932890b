package fingerprint

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Variables are deny-listed, not allow-listed: a program or a plugin may read any
// variable, and a project that is skipped although one has changed is worse than
// one that runs in vain. The lists below hold what differs from one terminal, job
// or hour to the next. A program that names one of them in its source gets it
// counted nevertheless (see tree.describe).
var (
	volatileNames = []string{
		"_", "BASHPID", "BUILDKITE", "BUILD_DISPLAY_NAME", "BUILD_ID", "BUILD_NUMBER", "BUILD_TAG", "BUILD_TIMESTAMP",
		"BUILD_URL", "CI", "COLORTERM", "COLUMNS", "COMP_WORDBREAKS", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION",
		"DISPLAY", "EDITOR", "EXECUTOR_NUMBER", "GIT_ASKPASS", "GPG_AGENT_INFO", "GPG_TTY", "HISTCONTROL", "HISTFILE",
		"HISTSIZE", "HISTTIMEFORMAT", "HOSTNAME", "HUDSON_COOKIE", "INSIDE_EMACS", "INVOCATION_ID", "IN_NIX_SHELL",
		"JENKINS_NODE_COOKIE", "JENKINS_SERVER_COOKIE", "JOURNAL_STREAM", "KONSOLE_VERSION", "LANG", "LANGUAGE", "LESS",
		"LESSCLOSE", "LESSOPEN", "LINES", "LOGNAME", "LS_COLORS", "MAIL", "MAKEFLAGS", "MAKELEVEL", "MAKE_TERMERR",
		"MAKE_TERMOUT", "MANAGERPID", "MFLAGS", "MOTD_SHOWN", "NODE_NAME", "NOTIFY_SOCKET", "NO_COLOR", "NVIM", "OLDPWD",
		"PAGER", "PPID", "PROMPT", "PROMPT_COMMAND", "PS1", "PS2", "PWD", "QUEUE_ITEM_ID", "RANDOM", "RUN_DISPLAY_URL",
		"SECURITYSESSIONID", "SESSION_MANAGER", "SHLVL", "STAGE_NAME", "STY", "SYSTEMD_EXEC_PID", "TEMP", "TERM", "TMP",
		"TMPDIR", "TMUX", "TMUX_PANE", "USER", "VIM", "VIMRUNTIME", "VISUAL", "VTE_VERSION", "WAYLAND_DISPLAY", "WINDOWID",
		"WINDOWPATH", "WORKSPACE_TMP", "WT_PROFILE_ID", "WT_SESSION", "XAUTHORITY",
		"ALACRITTY_*", "BUILDKITE_*", "CI_*", "CIRCLE_*", "CURSOR_*", "DRONE_*", "GHOSTTY_*", "GITHUB_*", "GITLAB_*",
		"GNOME_*", "GTK_*", "HYPRLAND_*", "ITERM_*", "JETBRAINS_*", "KDE_*", "KITTY_*", "KONSOLE_*", "LC_*",
		"RUNNER_*", "SEMAPHORE_*", "SSH_*", "STARSHIP_*", "SYSTEM_*", "TEAMCITY_*", "TERMINATOR_*", "TERMINAL_*",
		"TERMINFO*", "TERM_*", "TRAVIS_*", "VSCODE_*", "WARP_*", "WEZTERM_*", "WOODPECKER_*", "XDG_SESSION_*",
		"ZELLIJ*", "AGENT_*", "ACTIONS_*", "BITBUCKET_*",
	}
	// credentialNames prove who asks and expire within hours. They do not say what is
	// deployed: the profile, the role, the region and the account do, and count.
	credentialNames = []string{
		"ARM_ACCESS_TOKEN", "ARM_OIDC_REQUEST_TOKEN", "ARM_OIDC_REQUEST_URL", "ARM_OIDC_TOKEN", "ARM_OIDC_TOKEN_FILE_PATH",
		"AWS_CREDENTIAL_EXPIRATION", "AWS_SECURITY_TOKEN", "AWS_SESSION_EXPIRATION", "AWS_SESSION_TOKEN",
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_FEDERATED_TOKEN_FILE", "CLOUDSDK_AUTH_ACCESS_TOKEN",
		"CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "GOOGLE_GHA_CREDS_PATH", "GOOGLE_OAUTH_ACCESS_TOKEN",
		"PULUMI_ACCESS_TOKEN", "VAULT_TOKEN",
	}
	// providerNames begin like variables of CI systems and configure a provider.
	providerNames = []string{"BUILDKITE_ORGANIZATION_SLUG", "GITHUB_BASE_URL", "GITHUB_ORGANIZATION", "GITHUB_OWNER",
		"GITLAB_BASE_URL"}
	// awsKeys are temporary, too, where a session token comes with them.
	awsKeys = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
)

// isVolatile reports whether a variable of the process differs from one terminal,
// job or hour to the next and means nothing to a program that does not name it.
func (b Basis) isVolatile(name string) bool {
	switch {
	case matches(b.Ignored, name):
		return true
	case slices.Contains(b.Declared, name):
		return false
	case len(b.Only) > 0:
		return !matches(b.Only, name)
	case slices.Contains(providerNames, name):
		return false
	case slices.Contains(awsKeys, name):
		return b.Environ["AWS_SESSION_TOKEN"] != "" && !slices.Contains(b.Declared, "AWS_SESSION_TOKEN")
	}
	return matches(volatileNames, name) || slices.Contains(credentialNames, name) ||
		strings.HasPrefix(name, "GOOGLE_APPLICATION_CREDENTIALS") && b.Environ["GOOGLE_GHA_CREDS_PATH"] != ""
}

// matches reports whether a list has a variable, or its beginning and *.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		beginning, isPrefix := strings.CutSuffix(pattern, "*")
		return name == pattern || isPrefix && strings.HasPrefix(name, beginning)
	})
}

// shortestName is the length of the shortest volatile variable that is looked for in
// sources: CI and _ are found everywhere.
const shortestName = 4

// volatile returns the volatile variables that are set.
func (b Basis) volatile() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(b.Environ)) {
		if b.isVolatile(name) && !matches(b.Ignored, name) && len(name) >= shortestName {
			names = append(names, name)
		}
	}
	return names
}

// isOpened reports whether what the variable opens is checked when it is needed.
func isOpened(name string) bool { return strings.HasPrefix(name, "PULUMI_CONFIG_PASSPHRASE") }

// guessRounds makes guessing a secret from its digest slow; they cost some
// milliseconds once a run.
const guessRounds = 20_000

// environ returns the variables that count as text. Of the secret ones it has one
// digest, which is slow to guess.
func (b Basis) environ() ([]byte, error) {
	return b.digestOf(func(name string) bool { return !b.isVolatile(name) && !isOpened(name) })
}

func (b Basis) digestOf(counts func(name string) bool) ([]byte, error) {
	var plain, secret strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.Environ)) {
		switch {
		case !counts(name):
		case b.isSecret(name):
			fmt.Fprintf(&secret, "%s=%q\n", name, b.Environ[name])
		default:
			fmt.Fprintf(&plain, "%s=%q\n", name, b.Environ[name])
		}
	}
	if secret.Len() == 0 {
		return []byte(plain.String()), nil
	}
	digest, err := SlowDigest(secret.String(), b.Root)
	return []byte(plain.String() + digest), err
}

// SlowDigest returns a digest of secrets that is slow to guess.
func SlowDigest(secrets, salt string) (string, error) {
	digest, err := pbkdf2.Key(sha256.New, secrets, []byte(salt), guessRounds, sha256.Size)
	return hex.EncodeToString(digest), err
}

func (b Basis) isSecret(name string) bool { return b.IsSecret != nil && b.IsSecret(name) }

// hintLength is how many hexadecimal digits of a variable's digest are stored: too
// few to confirm a guess of its value, enough to name a variable that has changed.
const hintLength = 3

func hint(parts ...string) string { return Digest([]byte(strings.Join(parts, "\x00")))[:hintLength] }

// Hints maps the variables that count to a few digits of their digests; "" for
// secret ones.
func (m *Maker) Hints() map[string]string {
	hints := map[string]string{}
	for name, value := range m.basis.Environ {
		switch {
		case m.basis.isVolatile(name) || isOpened(name):
		case m.basis.isSecret(name):
			hints[name] = ""
		default:
			hints[name] = hint(m.basis.Root, name, value)
		}
	}
	return hints
}

// ChangedVariables names the variables that have changed since the hints were
// stored. Where the hints are all the same it was a secret one.
func (m *Maker) ChangedVariables(before map[string]string) []string {
	return Fingerprint(before).Changes(m.Hints())
}
