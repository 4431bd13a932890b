package request

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// put writes a file, and the directories above it.
func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func named(text string) config.Value {
	return config.Value{Text: text, Origin: config.Origin{Source: config.FromFlag, Name: "--provider"}}
}

// TestProviderRecord: the first up settles the provider of a stack.
func TestProviderRecord(t *testing.T) {
	t.Parallel()
	dir := layout.Of(t.TempDir(), false)
	if got, err := (Request{}).RememberedProvider(dir, "dev", named("kind")); got.Text != "kind" || err != nil {
		t.Errorf("before an up: %v, %v", got, err)
	}
	if got, err := (Request{}).RememberedProvider(dir, "dev", config.Value{}); got.IsSet() || err != nil {
		t.Errorf("before an up, nothing named: %v, %v", got, err)
	}
	for range 2 {
		if err := RememberProvider(dir, "dev", "aws"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := (Request{}).RememberedProvider(dir, "dev", config.Value{}); got.Text != "aws" || got.Origin.File != dir.Provider("dev") || err != nil {
		t.Errorf("nothing named: %+v, %v", got, err)
	}
	if got, err := (Request{}).RememberedProvider(dir, "dev", named("aws")); got.Text != "aws" || err != nil {
		t.Errorf("the same named: %v, %v", got, err)
	}
	_, err := (Request{}).RememberedProvider(dir, "dev", named("kind"))
	var wrong *failure.Environment
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), `the stack "dev" was deployed with the provider aws, but --provider asks for kind`) ||
		!strings.Contains(wrong.NextStep(), "-p aws") {
		t.Errorf("another named: %v", err)
	}
	info, err := os.Stat(dir.Provider("dev"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record: %v, %v", info, err)
	}
}

// TestProviderRecordThatIsBroken says nothing; one that cannot be read, or
// written, does.
func TestProviderRecordThatIsBroken(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "# nothing\n", "provider: [", "other: x\n"} {
		dir := layout.Of(t.TempDir(), false)
		put(t, dir.Provider("dev"), content)
		if got, err := (Request{}).RememberedProvider(dir, "dev", named("kind")); got.Text != "kind" || err != nil {
			t.Errorf("%q: %v, %v", content, got, err)
		}
	}
	dir := layout.Of(t.TempDir(), false)
	put(t, filepath.Dir(dir.Provider("dev")), "a file")
	for what, err := range map[string]error{"reading": second((Request{}).RememberedProvider(dir, "dev", named("kind"))), "writing": RememberProvider(dir, "dev", "aws")} {
		if !errors.As(err, new(*failure.Environment)) || !strings.Contains(err.Error(), "the directory .runner cannot be used") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
