package firstrun

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/prompttest"
)

// initIn runs `runner init` in a directory. With replies there is a user on a terminal.
func initIn(t *testing.T, dir string, args []string, replies ...reply) (printed, screen string, err error) {
	t.Helper()
	d, stdout, _ := cmdtest.Deps(t)
	d.Dir, d.CloudClients, d.Environ = dir, fakeClients, []string{"PATH=" + t.TempDir()}
	d.Releases, d.Version = "https://example.com/releases", "1.2.3"
	person, side := prompttest.Open(t)
	if len(replies) > 0 {
		d.Stdin, d.Stderr, d.StdinIsTerminal, d.StderrIsTerminal = side, side, true, true
	}
	app := &cli.App{
		Name: "runner", HideHelp: true, Commands: []*cli.Command{Init(d)}, Writer: &bytes.Buffer{}, ErrWriter: &bytes.Buffer{},
		ExitErrHandler: func(*cli.Context, error) {}, DisableSliceFlagSeparator: true,
	}
	done := make(chan error, 1)
	go func() { done <- app.RunContext(t.Context(), append([]string{"runner", "init"}, args...)) }()
	seen := 0 // of the screen, before the last answer: a question may come again
	for _, r := range replies {
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(person.Screen()[seen:], r.question); {
			if time.Now().After(deadline) {
				t.Fatalf("%q never came; on the screen is %s", r.question, person.Screen()[seen:])
			}
			time.Sleep(time.Millisecond)
		}
		seen = len(person.Screen())
		if r.pressed {
			person.Press(r.keys)
			continue
		}
		person.Type(r.keys)
	}
	err = <-done
	return stdout.String(), person.Screen(), err
}

const head = "# Configuration of the stack dev. Every key is in Pulumi.stackname.yaml.example.\nconfig:\n"

// TestInit asks for everything, optional projects included, and writes a root in which other commands work.
func TestInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	printed, screen, err := initIn(t, dir, nil,
		typed("Name of the stack", ""), chosen("Provider of the cluster", "kind\r"), chosen("Optional projects", " \r"),
		typed("Number of worker", "2"), typed("for HTTP ", ""), typed("for HTTPS", ""), typed("for the registry", ""),
		typed("Write this and finish?", ""),
	)
	if err != nil {
		t.Fatal(err)
	}
	stack := head + "  kubernetes:infra_type: kind\n  kind:workers: 2\n  kind:http_port: 80\n  kind:https_port: 443\n  " +
		"kind:registry_port: 5001\n"
	if diff := cmp.Diff(stack, content(t, dir)); diff != "" {
		t.Error(diff)
	}
	mara, err := os.ReadFile(filepath.Join(dir, config.MaraFile))
	if err != nil || !strings.HasPrefix(string(mara), "# yaml-language-server: $schema=https://example.com/releases/") {
		t.Errorf("%v: %s", err, mara)
	}
	known, err := catalogue.Load(providers.Catalogue(), dir, "")
	if err != nil || len(known.Providers) != len(catalogue.Of(providers.Catalogue()).Providers) || known.Default() != "" {
		t.Errorf("the catalogue: %v, %v", known.Names(), err)
	}
	if p, err := known.ByName("kind"); err != nil || !strings.Contains(strings.Join(p.Names(), " "), "guardrails") {
		t.Errorf("%v: %v", err, p.Names())
	}
	if !strings.Contains(printed, "runner up --simulate") || !strings.Contains(screen, "with: [guardrails]") {
		t.Errorf("printed %s, on the screen %s", printed, screen)
	}
}

// TestInitGoesBack returns from the confirmation to the provider, takes another one, and keeps no answer about the first.
func TestInitGoesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := initIn(t, dir, nil,
		typed("Name of the stack", ""), chosen("Provider of the cluster", "kind\r"), chosen("Optional projects", " \r"),
		typed("Number of worker", "2"), typed("for HTTP ", ""), typed("for HTTPS", ""), typed("for the registry", ""),
		typed("Write this", "<"), typed("for the registry", "<"), typed("for HTTPS", "<"), typed("for HTTP ", "<"),
		typed("Number of worker", "<"), chosen("Optional projects", "<  \r"),
		chosen("Provider of the cluster", "linode\r"), chosen("Optional projects", "<  \r"),
		chosen("Provider of the cluster", "< \r"), typed("Name of the stack", "dev"),
		chosen("Provider of the cluster", "kind\r"), chosen("Optional projects", "\r"),
		typed("Number of worker", "3"), typed("for HTTP ", ""), typed("for HTTPS", ""), typed("for the registry", ""),
		typed("Write this", "n"),
	)
	if err == nil || err.Error() != "not confirmed; nothing was written" {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

// TestInitWithFlags asks nothing.
func TestInitWithFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, args string
		files      map[string]string // before
		want       string            // content of the stack file, or the error
	}{
		{"everything", "-s dev -p kind", nil, head + "  kubernetes:infra_type: kind\n"},
		{"values", "-s dev -p aws --config aws:region=eu-north-1 --config eks:min_size=2", nil,
			head + "  kubernetes:infra_type: aws\n  aws:region: eu-north-1\n  eks:min_size: 2\n"},
		{"a value is missing", "-s dev -p aws", nil, "aws:region is missing"},
		{"a wrong value", "-s dev -p aws --config aws:region=eu-north-1 --config eks:min_size=x", nil, "must be a whole number"},
		{"no provider", "-s dev", nil, "missing: --provider NAME (aws, "},
		{"nothing but a value", "--config kind:workers=1", nil, "missing: --stack NAME and --provider NAME"},
		{"a value without a key", "-s dev -p kind --config =x", nil, `"=x" is not KEY=VALUE`},
		{"a secret", "-s dev -p kind --config prometheus:admin_password=x", nil, "is a secret"},
		{"an optional project", "-s dev -p kind --with metrics-server", nil, head + "  kubernetes:infra_type: kind\n"},
		{"an optional project that needs a value", "-s dev -p kind --with backup", nil, "backup:bucket is missing"},
		{"an unknown project", "-s dev -p kind --with metrics", nil, "no optional project \"metrics\""},
		{"a refused project", "-s dev -p kind --with external-dns", nil, "is not there for kind"},
		{"it exists", "-s dev -p kind", map[string]string{"config/pulumi/Pulumi.dev.yaml": "config: {}\n"}, "exists already"},
		{"a further one", "-s dev -p kind", map[string]string{"config/pulumi/Pulumi.prod.yaml": "config: {}\n"},
			head + "  kubernetes:infra_type: kind\n"},
		{"beside Pulumi projects", "-s dev", map[string]string{"a/Pulumi.yaml": "name: a\nruntime: yaml\n"}, "1 Pulumi project"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range test.files {
				cmdtest.WriteFile(t, filepath.Join(dir, name), text)
			}
			_, _, err := initIn(t, dir, strings.Fields(test.args))
			if strings.HasPrefix(test.want, "# ") {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, content(t, dir)); diff != "" {
					t.Error(diff)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if _, statErr := os.Stat(filepath.Join(dir, "mara.yaml")); statErr == nil {
				t.Error("something was written")
			}
		})
	}
}

// TestInitAsksForWhatIsMissing and nothing else, if stack and provider are named.
func TestInitAsksForWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := initIn(t, dir, []string{"-s", "dev", "-p", "aws"}, chosen("AWS region", "eu\r"), typed("Write this", ""))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(head+"  kubernetes:infra_type: aws\n  aws:region: eu-north-1\n", content(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestInitExamples writes the examples where it cannot ask.
func TestInitExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2 {
		printed, _, err := initIn(t, dir, nil)
		switch wrong, ok := errors.AsType[*config.Error](err); {
		case i == 0 && (err != nil || !strings.Contains(printed, "runner up -p kind -s dev --simulate --yes")):
			t.Errorf("%v: %s", err, printed)
		case i == 1 && (!ok || len(wrong.Problems) != 3 || cmd.ExitCode(err) != cmd.ExitConfig):
			t.Errorf("again: %v", err)
		}
	}
}
