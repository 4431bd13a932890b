package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/diy"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

var update = flag.Bool("update", false, "write testdata")

// relied are the functions of Pulumi that this package calls without their being exported, or does in its own way.
var relied = map[string][]string{
	"backend/diy/backend.go":               {"apply", "Update", "Import", "Refresh", "Destroy", "Preview", "ExportDeployment"},
	"backend/diy/state.go":                 {"newUpdate", "getTarget", "getSnapshot", "getSnapshotStackOutputs", "getCheckpoint", "saveCheckpoint", "saveStack", "addToHistory", "backupStack", "stackPath"},
	"backend/diy/lock.go":                  {"Lock", "Unlock"},
	"backend/journal.go":                   {"Add", "GenerateDeployment", "SerializeJournalEntry", "journalMutation"},
	"engine/journal_snapshot.go":           {"Write", "NewJournalSnapshotManagerWithVersion"},
	"resource/stack/snapshot/integrity.go": {"VerifyIntegrity"},
	"resource/deploy/snapshot.go":          {"VerifyIntegrity"},
}

// TestPulumi fails for a version of Pulumi in which something has changed that this package relies on. Compare what is
// named with what is done here, then run the test with -update.
func TestPulumi(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/pulumi/pulumi/pkg/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	var sums strings.Builder
	for _, file := range []string{
		"backend/diy/backend.go", "backend/diy/state.go", "backend/diy/lock.go", "backend/journal.go",
		"engine/journal_snapshot.go", "resource/stack/snapshot/integrity.go", "resource/deploy/snapshot.go",
	} {
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, filepath.Join(strings.TrimSpace(string(out)), file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]*bytes.Buffer{}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if texts[f.Name.Name] == nil {
					texts[f.Name.Name] = &bytes.Buffer{}
				}
				if err := printer.Fprint(texts[f.Name.Name], files, f); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, name := range relied[file] {
			if texts[name] == nil {
				t.Errorf("%s has no function %s", file, name)
				continue
			}
			sum := sha256.Sum256(texts[name].Bytes())
			fmt.Fprintf(&sums, "%s %s %s\n", file, name, hex.EncodeToString(sum[:8]))
		}
	}
	golden := filepath.Join("testdata", "pulumi.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(sums.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(sums.String()) {
		if !strings.Contains(string(want), line) {
			t.Errorf("changed: %s", line)
		}
	}
	if apitype.LatestJournalVersion != 2 {
		t.Errorf("entries of journals are of version %d", apitype.LatestJournalVersion)
	}
}

// TestOpen: the insides of Pulumi's backend are found, and those of no other.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PULUMI_HOME", t.TempDir())
	sink := diag.DefaultSink(os.Stdout, os.Stderr, diag.FormatOptions{Color: colors.Never})
	b, err := diy.New(t.Context(), sink, "file://"+dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	i, ok := open(b)
	if !ok || i.bucket == nil || !strings.HasPrefix(i.url, "file://"+dir) || i.project == nil {
		t.Fatalf("%+v, %t", i, ok)
	}
	wrapped := Wrap(b, Options{}).(*Backend)
	ref, err := wrapped.ParseStackReference("organization/p/dev")
	if err != nil {
		t.Fatal(err)
	}
	files, err := wrapped.of(ref)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := files.place.(*directory); !ok || d.path != filepath.Join(dir, ".pulumi", "mara-journal", "p", "dev") {
		t.Errorf("the journals are in %+v", files.place)
	}
	if path := stackPath(i.self, t.Context(), files.ref); path != ".pulumi/stacks/p/dev.json" {
		t.Errorf("the state is %s", path)
	}
	if again := Wrap(&backend.MockBackend{}, Options{}); again == nil {
		t.Error("another backend is lost")
	} else if _, ok := again.(*Backend); ok {
		t.Error("another backend is wrapped")
	}
}
