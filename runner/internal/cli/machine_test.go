package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// noJSON returns the commands without -o json, with the reason: those of the core, and those that the features name.
func noJSON() map[string]string {
	reasons := map[string]string{
		"completion":       "prints a script for a shell",
		"hook run":         "prints what the hooks print",
		"login":            "passes on what Pulumi prints",
		"pulumi":           "passes on what Pulumi prints; its own --json goes there",
		"config reference": "prints a page for people; config list and config schema have the same as data",
	}
	for _, feature := range wire.Features() {
		maps.Copy(reasons, feature.NoJSON)
	}
	return reasons
}

// TestEveryCommandHasJSON walks the tree of commands: a machine can read what
// each of them prints.
func TestEveryCommandHasJSON(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	reasons := noJSON()
	for _, leaf := range leaves("", commands(d)) {
		_, excused := reasons[leaf.path]
		delete(reasons, leaf.path)
		switch json := takesJSON(leaf.command); {
		case !json && !excused:
			t.Errorf("runner %s has no -o json", leaf.path)
		case json && excused:
			t.Errorf("runner %s has -o json, and a reason to have none", leaf.path)
		}
	}
	for path := range reasons {
		t.Errorf("there is no command %q", path)
	}
}

// leaf is a command that does something itself.
type leaf struct {
	path    string
	command *cli.Command
}

func leaves(path string, all []*cli.Command) []leaf {
	var found []leaf
	for _, command := range all {
		full := path + command.Name
		if len(command.Subcommands) == 0 || command.Action != nil {
			found = append(found, leaf{full, command})
		}
		found = append(found, leaves(full+" ", command.Subcommands)...)
	}
	return found
}

func takesJSON(command *cli.Command) bool {
	for _, flag := range command.Flags {
		if generic, ok := flag.(*cli.GenericFlag); ok && generic.Name == "output" {
			format, ok := generic.Value.(*cmd.Choice)
			return ok && slices.Contains(format.Allowed, "json")
		}
	}
	return false
}

// TestChangesAsJSON: what commands that change something tell to machines.
func TestChangesAsJSON(t *testing.T) {
	t.Parallel()
	const file = `"file":"config/pulumi/Pulumi.dev.yaml"`
	for args, want := range map[string]string{
		"set eks:k8s_version 1.37":          `{` + file + `,"key":"eks:k8s_version","value":"1.37","was":"1.36"}`,
		"set vpc:azs us-east-1a,us-east-1b": `{` + file + `,"key":"vpc:azs","value":["us-east-1a","us-east-1b"],"was":null}`,
		"unset eks:k8s_version":             `{` + file + `,"key":"eks:k8s_version","value":null,"was":"1.36"}`,
		"unset eks:min_size":                `{` + file + `,"key":"eks:min_size","value":null,"was":null}`,
		"unset myapp:token":                 `{` + file + `,"key":"myapp:token","value":null,"was":"[secret]"}`,
		"set kubernetes:infra_type aws":     `{` + file + `,"key":"kubernetes:infra_type","value":"aws","was":"aws"}`,
	} {
		_, stdout, stderr, code := runConfig(t, configFile, args+" -o json")
		if code != cmd.ExitDone || compact(t, stdout) != want || stderr != "" {
			t.Errorf("%s: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
}

func TestSecretsChangesAsJSON(t *testing.T) {
	t.Parallel()
	k := withOwnSecret(t)
	k.deps.Environ = append(k.deps.Environ, "NEW=another passphrase")
	const stack, file, password = `{"stack":"dev",`, `"file":"config/pulumi/secrets/Pulumi.dev.yaml",`, `"keys":["prometheus:admin_password"]}`
	plain := filepath.Join(k.root, "plain.yaml")
	for _, tt := range []struct{ args, want string }{
		{"set prometheus:admin_password -", stack + file + password},
		{"rotate prometheus:admin_password --yes", stack + file + password},
		{"export --to-file " + plain, stack + `"file":"` + plain + `",` + password},
		{"remove prometheus:admin_password --yes", stack + file + password},
		{"generate prometheus:admin_password", stack + file + password},
		{"change-provider passphrase --new-passphrase env:NEW --yes", stack + `"provider":"passphrase","projects":[],"files":["config/pulumi/Pulumi.dev.yaml","config/pulumi/secrets/Pulumi.dev.yaml"],` +
			`"notes":["from now on use the new passphrase: change PULUMI_CONFIG_PASSPHRASE in the process environment"]}`},
	} {
		stdout, stderr := k.run(cmd.ExitDone, "a long password", append(strings.Fields(tt.args), "-o", "json")...)
		if got := compact(t, stdout); got != tt.want || stderr != "" {
			t.Errorf("%s: got %s%s", tt.args, got, stderr)
		}
	}
	k.deps.Environ = append(k.deps.Environ, "PULUMI_CONFIG_PASSPHRASE=another passphrase")
	k.run(cmd.ExitDone, "", "generate")
	stdout, _ := k.run(cmd.ExitDone, "", "generate", "-o", "json")
	if got, want := compact(t, stdout), stack+file+`"keys":[]}`; got != want {
		t.Errorf("nothing is missing: got %s", got)
	}
}

// compact returns a document on one line. There is nothing besides it.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return b.String()
}
