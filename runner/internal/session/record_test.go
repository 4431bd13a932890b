package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
)

// recordSession is a session in a folder of its own.
func recordSession(t *testing.T, provider string) *Session {
	t.Helper()
	found, err := providers.ByName(provider)
	if err != nil {
		t.Fatal(err)
	}
	return &Session{Folder: layout.Of(t.TempDir(), false), Provider: found, Settings: config.Settings{Stack: config.Value{Text: "dev"}}}
}

func named(text string) config.Value {
	return config.Value{Text: text, Origin: config.Origin{Source: config.FromFlag, Name: "--provider"}}
}

// TestProviderRecord: the first up settles the provider of a stack.
func TestProviderRecord(t *testing.T) {
	t.Parallel()
	s := recordSession(t, "aws")
	if got, err := s.Options.RememberedProvider(s.Folder, "dev", named("kind")); got.Text != "kind" || err != nil {
		t.Errorf("before an up: %v, %v", got, err)
	}
	if got, err := s.Options.RememberedProvider(s.Folder, "dev", config.Value{}); got.IsSet() || err != nil {
		t.Errorf("before an up, nothing named: %v, %v", got, err)
	}
	for range 2 {
		if err := RememberProvider(s.Folder, "dev", "aws"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Options.RememberedProvider(s.Folder, "dev", config.Value{}); got.Text != "aws" || got.Origin.File != s.Folder.Provider("dev") || err != nil {
		t.Errorf("nothing named: %+v, %v", got, err)
	}
	if got, err := s.Options.RememberedProvider(s.Folder, "dev", named("aws")); got.Text != "aws" || err != nil {
		t.Errorf("the same named: %v, %v", got, err)
	}
	_, err := s.Options.RememberedProvider(s.Folder, "dev", named("kind"))
	var wrong *failure.Environment
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), `the stack "dev" was deployed with the provider aws, but --provider asks for kind`) ||
		!strings.Contains(wrong.NextStep(), "-p aws") {
		t.Errorf("another named: %v", err)
	}
	info, err := os.Stat(s.Folder.Provider("dev"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record: %v, %v", info, err)
	}
}

// TestProviderRecordThatIsBroken says nothing; one that cannot be read, or
// written, does.
func TestProviderRecordThatIsBroken(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "# nothing\n", "provider: [", "other: x\n"} {
		s := recordSession(t, "aws")
		put(t, s.Folder.Provider("dev"), content)
		if got, err := s.Options.RememberedProvider(s.Folder, "dev", named("kind")); got.Text != "kind" || err != nil {
			t.Errorf("%q: %v, %v", content, got, err)
		}
	}
	s := recordSession(t, "aws")
	put(t, filepath.Dir(s.Folder.Provider("dev")), "a file")
	for what, err := range map[string]error{"reading": second(s.Options.RememberedProvider(s.Folder, "dev", named("kind"))), "writing": RememberProvider(s.Folder, "dev", "aws")} {
		if !errors.As(err, new(*failure.Environment)) || !strings.Contains(err.Error(), "the folder .runner cannot be used") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
