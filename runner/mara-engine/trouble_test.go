package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mara/runner/internal/testing/postgrestest"
)

// inTrouble does an operation whose backend takes nothing from a call of the cloud on, and returns what came of it.
func (a *arena) inTrouble(operation string, call int, begin, end func()) result {
	a.t.Helper()
	w := startWorkerAs(a.t, withoutOverride)
	defer w.requests.Close()
	a.sky.tell(func(n int, done bool) {
		if n == call && done {
			begin()
		}
	})
	r := w.do(a.request(a.operation(operation)))
	a.sky.tell(func(int, bool) {})
	end()
	return r
}

// TestReadOnly: a backend that takes nothing any more in the middle of an operation loses nothing, and the operation says
// why it failed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	type trouble struct {
		backend     string
		count, call int // of all calls, it begins with this one
		begin, end  func()
		want        string
	}
	inFiles := func(count, call int) func(t *testing.T) trouble {
		return func(t *testing.T) trouble {
			dir := t.TempDir()
			return trouble{"file://" + dir, count, call, func() { allow(t, dir, 0o500) }, func() { allow(t, dir, 0o700) }, "permission denied"}
		}
	}
	for name, prepare := range map[string]func(t *testing.T) trouble{
		"files":               inFiles(12, 4),
		"files, with journal": inFiles(40, 35), // its file stays open, and takes what happens up to the end
		"S3": func(t *testing.T) trouble {
			var readOnly atomic.Bool
			backend := serveAnswers(t, func(w http.ResponseWriter, r *http.Request) bool {
				if !readOnly.Load() || r.Method == http.MethodGet || r.Method == http.MethodHead {
					return false
				}
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
				return true
			})
			return trouble{backend, 12, 4, func() { readOnly.Store(true) }, func() { readOnly.Store(false) }, "Access Denied"}
		},
		"PostgreSQL": func(t *testing.T) trouble {
			server := postgrestest.Start(t, 0, 100)
			// A trigger holds from the next statement on. Settings reach the connections that are there at some time.
			server.Execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE EXCEPTION 'cannot execute % in a read-only transaction', TG_OP USING ERRCODE = 'read_only_sql_transaction';
				END $$`)
			return trouble{
				server.Backend, 12, 4,
				func() {
					server.Execute("CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON pulumi_state EXECUTE FUNCTION refuse()")
				},
				func() { server.Execute("DROP TRIGGER refuse ON pulumi_state") },
				"read-only transaction",
			}
		},
	} {
		for _, operation := range []string{"up", "destroy"} {
			t.Run(name+", "+operation, func(t *testing.T) {
				t.Parallel()
				this := prepare(t)
				a := newArena(t, this.backend, this.count)
				if operation != "up" {
					a.must(a.operation("up")...)
				}
				r := a.inTrouble(operation, this.call, this.begin, this.end)
				_, causes, _ := strings.Cut(r.stdout, "Diagnostics:")
				if r.code == 0 || strings.Count(causes, this.want) > 1 || !strings.Contains(r.stderr, "writing snapshot: ") ||
					!strings.Contains(r.stderr, this.want) {
					t.Errorf("%+v", r)
				}
				a.check("a backend that takes nothing")
				a.finish("afterwards", "the engine")
			})
		}
	}
}

// allow changes what may be done in all directories below one.
func allow(t *testing.T, dir string, mode fs.FileMode) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
