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

// put writes a file, and the folders above it.
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
	folder := layout.Of(t.TempDir(), false)
	if got, err := (Request{}).RememberedProvider(folder, "dev", named("kind")); got.Text != "kind" || err != nil {
		t.Errorf("before an up: %v, %v", got, err)
	}
	if got, err := (Request{}).RememberedProvider(folder, "dev", config.Value{}); got.IsSet() || err != nil {
		t.Errorf("before an up, nothing named: %v, %v", got, err)
	}
	for range 2 {
		if err := RememberProvider(folder, "dev", "aws"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := (Request{}).RememberedProvider(folder, "dev", config.Value{}); got.Text != "aws" || got.Origin.File != folder.Provider("dev") || err != nil {
		t.Errorf("nothing named: %+v, %v", got, err)
	}
	if got, err := (Request{}).RememberedProvider(folder, "dev", named("aws")); got.Text != "aws" || err != nil {
		t.Errorf("the same named: %v, %v", got, err)
	}
	_, err := (Request{}).RememberedProvider(folder, "dev", named("kind"))
	var wrong *failure.Environment
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), `the stack "dev" was deployed with the provider aws, but --provider asks for kind`) ||
		!strings.Contains(wrong.NextStep(), "-p aws") {
		t.Errorf("another named: %v", err)
	}
	info, err := os.Stat(folder.Provider("dev"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record: %v, %v", info, err)
	}
}

// TestProviderRecordThatIsBroken says nothing; one that cannot be read, or
// written, does.
func TestProviderRecordThatIsBroken(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "# nothing\n", "provider: [", "other: x\n"} {
		folder := layout.Of(t.TempDir(), false)
		put(t, folder.Provider("dev"), content)
		if got, err := (Request{}).RememberedProvider(folder, "dev", named("kind")); got.Text != "kind" || err != nil {
			t.Errorf("%q: %v, %v", content, got, err)
		}
	}
	folder := layout.Of(t.TempDir(), false)
	put(t, filepath.Dir(folder.Provider("dev")), "a file")
	for what, err := range map[string]error{"reading": second((Request{}).RememberedProvider(folder, "dev", named("kind"))), "writing": RememberProvider(folder, "dev", "aws")} {
		if !errors.As(err, new(*failure.Environment)) || !strings.Contains(err.Error(), "the folder .runner cannot be used") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
