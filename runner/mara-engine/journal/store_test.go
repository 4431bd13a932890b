package journal

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/pkg/v3/backend/diy/postgres"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"mara/runner/internal/testing/postgrestest"
)

func places(t *testing.T) (d *directory, o objects, bucket *blob.Bucket) {
	t.Helper()
	bucket = memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	return &directory{path: filepath.Join(t.TempDir(), "p", "dev")}, objects{bucket: bucket, prefix: "p/dev/"}, bucket
}

// TestPlaces: what is written to a journal is read again, in files and in buckets, and is gone when it is dropped.
func TestPlaces(t *testing.T) {
	t.Parallel()
	d, o, bucket := places(t)
	ctx := t.Context()
	database, err := url.Parse(postgrestest.Start(t, 0, 10).Backend)
	if err != nil {
		t.Fatal(err)
	}
	table, err := postgres.NewPostgresBucket(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	for name, p := range map[string]place{
		"directory": d, "objects": o, "PostgreSQL": objects{bucket: table.Bucket(), prefix: "p/dev/"},
	} {
		if journals, err := p.list(ctx); err != nil || len(journals) > 0 {
			t.Fatalf("%s: %v, %v", name, journals, err)
		}
		write := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		write(p.put(ctx, "e", baseName, []byte("base")))
		write(p.append(ctx, "e", 1, []byte("one\n")))
		write(p.append(ctx, "e", 2, []byte("two\n")))
		write(p.put(ctx, "f", recoveryName, []byte("recovery")))
		journals, err := p.list(ctx)
		write(err)
		if name == "directory" { // what follows the last line
			journals[0].records = journals[0].records[:2]
		}
		want := []stored{
			{"e", [][]byte{[]byte("one\n"), []byte("two\n")}, map[string][]byte{baseName: []byte("base")}},
			{"f", nil, map[string][]byte{recoveryName: []byte("recovery")}},
		}
		if diff := cmp.Diff(want, journals, cmp.AllowUnexported(stored{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		write(p.drop(ctx, "e"))
		write(p.drop(ctx, "e"))
		write(p.drop(ctx, "f"))
		if journals, err := p.list(ctx); err != nil || len(journals) > 0 {
			t.Errorf("%s: %v, %v", name, journals, err)
		}
	}
	if _, err := os.Stat(d.path); !os.IsNotExist(err) {
		t.Errorf("the directory: %v", err)
	}
	if object, err := bucket.List(nil).Next(t.Context()); err == nil {
		t.Errorf("the bucket has %s", object.Key)
	}
}

// TestAppendAgain: a line that could not be written wholly is not in front of the next attempt.
func TestAppendAgain(t *testing.T) {
	t.Parallel()
	d, _, _ := places(t)
	ctx := t.Context()
	if err := d.put(ctx, "e", baseName, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.append(ctx, "e", 1, []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.file.WriteAt([]byte("tw"), d.end); err != nil {
		t.Fatal(err)
	}
	if err := d.append(ctx, "e", 2, []byte("2\n")); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(d.path, "e", recordsName))
	if err != nil || string(content) != "one\n2\n" {
		t.Errorf("%q, %v", content, err)
	}
}

// TestOtherStacks: in the layout without projects, a directory of a stack may be that of a project.
func TestOtherStacks(t *testing.T) {
	t.Parallel()
	_, o, bucket := places(t)
	if err := bucket.WriteAll(t.Context(), "p/dev/prod/e/"+recordObject(1), nil, nil); err != nil {
		t.Fatal(err)
	}
	if journals, err := o.list(t.Context()); err != nil || len(journals) > 0 {
		t.Errorf("%v, %v", journals, err)
	}
}

// TestKeepFile: the copy of a state is the one before, also where another copy was cut off, and is not changed with the state.
func TestKeepFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dev.json")
	for file, content := range map[string]string{path: "two", path + ".bak": "one", path + ".bak.attrs": "{}", path + ".bak.new": "cut off"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := keepFile(path); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, []byte("three")); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path + ".bak")
	if left, _ := filepath.Glob(path + "*"); err != nil || string(before) != "two" || len(left) != 2 {
		t.Errorf("%q, %v, %q", before, err, left)
	}
}

// TestReplaceFile: a state that cannot be written leaves the one before, and nothing else.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dev.json")
	for _, file := range []string{path, path + sidecar} {
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(path+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, []byte("new")); err == nil {
		t.Error("no error")
	}
	if content, _ := os.ReadFile(path); string(content) != "old" {
		t.Errorf("the state is %q", content)
	}
	if err := replaceFile(path, []byte("new")); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("files: %q", left)
	}
	if content, _ := os.ReadFile(path); string(content) != "new" {
		t.Errorf("the state is %q", content)
	}
}
