package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/eventtest"
)

func TestMeta(t *testing.T) {
	t.Parallel()
	want := journal.Meta{
		Operation: "up", Environment: journal.Environment{Provider: "kind", Stack: "dev"}, Simulated: true,
		Selection: []string{"--skip", "logstore+"}, Resumes: "20261119-120000-000abc",
		Fingerprint: fingerprint.New(map[string][]byte{"config/pulumi/Pulumi.dev.yaml": []byte("config: {}\n")}),
		User:        "ann", Host: "build", PID: 4711, Runner: "1.2.3",
	}
	r := writeWith(t, t.TempDir(), start, want, eventtest.Simulated())
	got, err := r.Meta()
	want.Format = journal.MetaFormat
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	expectPrivate(t, r.Dir)
}

func TestMetaIsThereBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	id := journal.NewID(start)
	j, err := journal.Create(journal.Options{Dir: t.TempDir(), ID: id, Meta: journal.Meta{User: "ann"}})
	if err != nil || j.ID() != id || filepath.Base(j.Dir()) != id {
		t.Fatalf("got %v, want id %s", err, id)
	}
	if m, err := (journal.Run{ID: id, Dir: j.Dir()}).Meta(); err != nil || m.User != "ann" {
		t.Errorf("got %+v, %v", m, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestCreateRefusesAnIDThatIsTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := write(t, dir, start, eventtest.NoOp())
	if _, err := journal.Create(journal.Options{Dir: dir, ID: r.ID}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
}

func TestMetaErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want string
	}{
		"rubbish": {text: "{", want: "meta.json: unexpected end"},
		"newer":   {text: `{"format": 99}`, want: "meta.json: format 99 is newer than 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := write(t, t.TempDir(), start, eventtest.NoOp())
			if err := os.WriteFile(filepath.Join(r.Dir, "meta.json"), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Meta(); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), r.ID) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if m, err := (journal.Run{Dir: t.TempDir()}).Meta(); err != nil || m.Format != 0 {
		t.Errorf("of a run that was killed at once: %+v, %v", m, err)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	parts := func(pairs ...string) fingerprint.Fingerprint {
		m := map[string][]byte{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = []byte(pairs[i+1])
		}
		return fingerprint.New(m)
	}
	tests := map[string]struct {
		before, now fingerprint.Fingerprint
		want        string
	}{
		"same":      {before: parts("a", "1", "b", "2"), now: parts("b", "2", "a", "1")},
		"none":      {},
		"other":     {before: parts("a", "1", "b", "2"), now: parts("a", "1", "b", "3"), want: "b"},
		"new":       {before: parts("a", "1"), now: parts("a", "1", "b", ""), want: "b"},
		"gone":      {before: parts("a", "", "b", "2"), now: parts("b", "2"), want: "a"},
		"sorted":    {before: parts("c", "1", "a", "1"), now: parts("b", "1"), want: "a b c"},
		"first one": {now: parts("a", "1"), want: "a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(tt.before.Changes(tt.now), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if digest := parts("a", "secret")["a"]; len(digest) != 32 || strings.Contains(digest, "secret") {
		t.Errorf("digest %q", digest)
	}
}
