package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/operation"
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
	for _, op := range []operation.Operation{operation.Preview, operation.Refresh, operation.Destroy} {
		if err := s.RememberProvider(op); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.rememberedProvider(named("kind")); got.Text != "kind" || err != nil {
		t.Errorf("before an up: %v, %v", got, err)
	}
	if got, err := s.rememberedProvider(config.Value{}); got.IsSet() || err != nil {
		t.Errorf("before an up, nothing named: %v, %v", got, err)
	}
	for range 2 {
		if err := s.RememberProvider(operation.Up); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.rememberedProvider(config.Value{}); got.Text != "aws" || got.Origin.File != s.providerFile() || err != nil {
		t.Errorf("nothing named: %+v, %v", got, err)
	}
	if got, err := s.rememberedProvider(named("aws")); got.Text != "aws" || err != nil {
		t.Errorf("the same named: %v, %v", got, err)
	}
	_, err := s.rememberedProvider(named("kind"))
	var wrong *failure.Environment
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), `the stack "dev" was deployed with the provider aws, but --provider asks for kind`) ||
		!strings.Contains(wrong.NextStep(), "-p aws") {
		t.Errorf("another named: %v", err)
	}
	info, err := os.Stat(s.providerFile())
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
		put(t, s.providerFile(), content)
		if got, err := s.rememberedProvider(named("kind")); got.Text != "kind" || err != nil {
			t.Errorf("%q: %v, %v", content, got, err)
		}
	}
	s := recordSession(t, "aws")
	put(t, filepath.Dir(s.providerFile()), "a file")
	for what, err := range map[string]error{"reading": second(s.rememberedProvider(named("kind"))), "writing": s.RememberProvider(operation.Up)} {
		if !IsAboutSurroundings(err) || !strings.Contains(err.Error(), "the folder .runner cannot be used") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
