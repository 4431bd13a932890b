package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/wire"
)

// conforms holds a text against a schema that the runner prints.
func conforms(t *testing.T, name string, text []byte) {
	t.Helper()
	content, err := schema.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
}

func TestStatusConforms(t *testing.T) {
	t.Parallel()
	root, i := lookedAt(t)
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
	if code := wire.Run(context.Background(), d, []string{"status", "-o", "json"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	conforms(t, "status", stdout.Bytes())
}

func TestHistoryConforms(t *testing.T) {
	t.Parallel()
	root, j := recorded(t, journal.Meta{User: "jane", Host: "laptop"}, eventtest.Failure())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, []string{"history", "-o", "json"}); code != cmd.ExitDone || !strings.Contains(stdout.String(), "jane@laptop") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	conforms(t, "history", stdout.Bytes())
}
