package stacks

import (
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

// Pulumi 3.250 prints these texts.
const (
	lockedText = `error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with ` + "`pulumi cancel`" + `.
  file:///x/.pulumi/locks/organization/vpc/dev/5e0b.json: created by jane@laptop (pid 4711) at 2026-11-20T10:00:00Z
`
	conflictText = "error: [409] Conflict: Another update is currently in progress.\nTo learn more about possible reasons and resolution, visit https://www.pulumi.com/docs/troubleshooting/#conflict\n"
)

// TestErrorsOfCommands: what a command wrote to stderr becomes one line that
// says what to do.
func TestErrorsOfCommands(t *testing.T) {
	t.Parallel()
	const newer = "the state was written by a newer Pulumi; use an installed one of that version with --pulumi PATH"
	for _, test := range []struct{ name, stderr, want string }{
		{"passphrase of the state", "error: getting secrets manager: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables\n",
			"no passphrase is set: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"},
		{"wrong passphrase", "error: incorrect passphrase\n", ErrPassphrase.Error()},
		{"wrong passphrase while decrypting", "warning: x\nerror: decrypting: failed to decrypt: incorrect passphrase, please set PULUMI_CONFIG_PASSPHRASE to the correct passphrase or set it\n", ErrPassphrase.Error()},
		{"locked", lockedText, "the stack is locked by another update: file:///x/.pulumi/locks/organization/vpc/dev/5e0b.json: created by jane@laptop (pid 4711) at 2026-11-20T10:00:00Z"},
		{"locked in the cloud", conflictText, "the stack is locked by another update: an update is in progress"},
		{"newer state", "error: the stack 'dev' is newer than what this version of the Pulumi CLI understands. Please update your version of the Pulumi CLI\n", newer},
		{"newer features", "error: the stack 'dev' uses features that are not supported by this version of the Pulumi CLI: views. Please update your version of the Pulumi CLI\n", newer},
		{"newer state, bare", "error: could not deserialize deployment: this stack's deployment version is too new\n", newer},
		{"missing plugin", "error: no resource plugin 'pulumi-resource-aws' found in the workspace at version v6.1.0 or on your $PATH\n",
			"the plugin pulumi-resource-aws is not installed and could not be downloaded"},
		{"plugin that cannot be downloaded", "error: Could not automatically download and install resource plugin 'pulumi-resource-aws' at version v6.1.0, install the plugin using `pulumi plugin install resource aws v6.1.0`: dial tcp: lookup get.pulumi.com: no such host\n",
			"the plugin pulumi-resource-aws is not installed and could not be downloaded"},
		{"after downloads that failed", "Will retry in 640ms [4/5]error downloading provider: no such host\nWill retry in 1.28s [5/5]error: installing packages: failed all 5 attempts\n",
			"installing packages: failed all 5 attempts"},
		{"several errors", "warning: a\nerror: first\n  details\nerror: second\n", "first; second"},
		{"no error line", "something happened\n", "pulumi ended with exit status 255 and no message"},
		{"secrets", "error: the token hunter2-hunter2 is wrong for https://user:pass@host\n", "the token [secret] is wrong for https://user:***@host"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCopies(Options{Masker: event.NewMasker("hunter2-hunter2")})
			if got := c.explain(failed(), test.stderr).Error(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			// The same text within an error of the Automation API.
			e := open(t, []string{"vpc"}, call{args: "up", stderr: test.stderr, stdout: "error: not this one\n", err: failed()})
			e.options.Masker.Add("hunter2-hunter2")
			_, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {})
			if err == nil || err.Error() != test.want {
				t.Errorf("of an operation: %v", err)
			}
		})
	}
}

// TestErrorTypes: the two that decide the exit code.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	e := copies{}
	var locked *LockedError
	for _, text := range []string{lockedText, conflictText} {
		if err := e.explain(failed(), text); !errors.As(err, &locked) {
			t.Errorf("got %v", err)
		}
	}
	if err := e.explain(failed(), "error: incorrect passphrase"); !errors.Is(err, ErrPassphrase) {
		t.Errorf("got %v", err)
	}
}

// TestErrorsOfOperations: the engine's diagnostics tell more than the output.
func TestErrorsOfOperations(t *testing.T) {
	t.Parallel()
	const urn = "urn:pulumi:dev::vpc::aws:s3/bucket:Bucket::"
	broken := func(name string) apitype.EngineEvent {
		return apitype.EngineEvent{ResOpFailedEvent: &apitype.ResOpFailedEvent{Metadata: metadata(apitype.OpCreate, "aws:s3/bucket:Bucket", name)}}
	}
	for _, test := range []struct {
		name   string
		events []apitype.EngineEvent
		want   string
	}{
		{"one resource", []apitype.EngineEvent{broken("a"), diagnostic("error", "error: \n  the name is taken\n  and more", urn+"a")},
			"aws:s3/bucket:Bucket a failed: the name is taken"},
		{"two resources", []apitype.EngineEvent{broken("a"), broken("b"), diagnostic("error", "quota", urn+"a"), diagnostic("error", "other", urn+"b")},
			"2 resources failed (aws:s3/bucket:Bucket a, aws:s3/bucket:Bucket b): quota"},
		{"a resource without a message", []apitype.EngineEvent{broken("a")}, "aws:s3/bucket:Bucket a failed: no message"},
		{"a program", []apitype.EngineEvent{diagnostic("error", "an unhandled error occurred: program failed:\n1 error occurred:\n\t* vpc exports no output subnets\n\n", ""),
			diagnostic("error", "update failed", "")}, "vpc exports no output subnets"},
		{"Helm's schema", []apitype.EngineEvent{broken("a"), diagnostic("error", "values don't meet the specifications of the schema(s) in the following chart(s):\nnginx:\n- at '/kind': wrong\n", urn+"a")},
			"aws:s3/bucket:Bucket a failed: values don't meet the specifications of the schema(s) in the following chart(s): nginx: - at '/kind': wrong"},
		{"a warning is no cause", []apitype.EngineEvent{diagnostic("warning", "deprecated", "")}, "from the output"},
		{"known in the diagnostics", []apitype.EngineEvent{broken("a"), diagnostic("error", "error: no resource plugin 'pulumi-resource-x' found in the workspace", "")},
			"the plugin pulumi-resource-x is not installed and could not be downloaded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, call{args: "up", events: append(test.events, summed(nil)), stderr: "error: from the output\n", err: failed()})
			_, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {})
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestOutputsThatProgramsRequire finds which output an error says is missing.
func TestOutputsThatProgramsRequire(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Running program '/shop' failed with an unhandled exception:\nError: Required output 'cidr' does not exist on stack 'organization/vpc/dev'.\n  at x": "vpc cidr",
		"Required output 'cidr' does not exist on stack 'acme/elsewhere/prod'.":                                                                              "",
		"1 error occurred:\n* stack \"dev\" of project \"vpc\" has no output \"cidr\": deploy that project first":                                            "vpc cidr",
		`1 error occurred: * stack reference output "cidr" does not exist on stack "organization/vpc/dev"`:                                                   "vpc cidr",
		"something else": "",
	} {
		diagnosed := diagnostic("error", text, "")
		e := open(t, []string{"vpc"}, call{args: "up", events: []apitype.EngineEvent{diagnosed, summed(nil)}, err: failed()})
		_, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {})
		got := ""
		if missing, ok := errors.AsType[*MissingOutputError](err); ok {
			got = missing.Owner + " " + missing.Output
		}
		if got != want || err == nil {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
}

// TestErrorsAreNeverTheRawText of the Automation API, which has all output.
func TestErrorsAreNeverTheRawText(t *testing.T) {
	t.Parallel()
	for _, op := range []operation.Operation{operation.Up, operation.Preview, operation.Refresh, operation.Destroy} {
		e := open(t, []string{"vpc"}, call{args: string(op), stdout: "lots of output", stderr: "nothing useful", err: failed()})
		_, err := e.Operate(t.Context(), Task{Operation: op, Step: step("vpc")}, func(event.Event) {})
		if err == nil || strings.Contains(err.Error(), "lots of output") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", op, err)
		}
	}
	e := open(t, nil, call{args: "stack init", stdout: "lots of output", stderr: lockedText, err: failed()})
	var locked *LockedError
	if _, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {}); !errors.As(err, &locked) {
		t.Errorf("creating a stack: %v", err)
	}
}
