package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	_ "github.com/lib/pq" // the driver "postgres"

	"mara/runner/internal/core/pulumicli/wire"
)

// postgresVariable names a database for the states, postgres://USER:PASSWORD@HOST/NAME, to measure that as well.
const postgresVariable = "BENCH_POSTGRES"

// latency is what a request to the bucket takes.
const latency = 20 * time.Millisecond

// The ways in which an up records what its steps have done.
const (
	stock       = "stock pulumi"
	whole       = "without journal"
	journaled   = "with journal"
	unprotected = "without checkpoints"
)

var recordings = []struct {
	name, program string
	env           []string
}{
	{stock, "pulumi", nil},
	{whole, "mara-engine", []string{wire.NoJournalVariable + "=true"}},
	{journaled, "mara-engine", nil},
	{unprotected, "mara-engine", []string{"PULUMI_SKIP_CHECKPOINTS=true"}},
}

// place is where the states of a measurement are.
type place struct {
	name, where string
	backend     func(dir string) string
	most        int // resources with which whole states are measured: more take minutes
	// watch begins to count what is written below a directory, and returns what is to be called at the end.
	watch func(dir string) (writes func() (written, error), err error)
}

// written is what an up has written.
type written struct {
	states, writes int // whole states, and all; 0 is not known
	bytes          int64
}

// statePlaces are the names of the places of states that can be measured.
var statePlaces = []string{"files", "S3", "PostgreSQL"}

// measureResources compares the first up of a project with many resources, by the way in which the state is written.
// The resources exist in the state only, so that nothing else takes time.
func measureResources(ctx context.Context, o options, w io.Writer) error {
	bucket := newSlowBucket()
	defer bucket.close()
	for _, p := range []place{
		{"files", "files", func(dir string) string { return "file://" + dir }, 500, watchStates},
		{"S3", "S3, 20 ms a request", bucket.backend, 500, bucket.watch},
		{"PostgreSQL", "PostgreSQL", inPostgres, 500, watchPostgres},
	} {
		if !slices.Contains(o.states, p.name) {
			continue
		}
		if p.name == "PostgreSQL" && os.Getenv(postgresVariable) == "" {
			fmt.Fprintf(w, "\n%s is not measured: %s names no database\n", p.name, postgresVariable)
			continue
		}
		if err := p.measure(ctx, o, w); err != nil {
			return err
		}
	}
	return nil
}

// measure does ups with states in one place, and compares them.
func (p place) measure(ctx context.Context, o options, w io.Writer) error {
	fmt.Fprintf(w, "\nFirst up of one project, with states in %s\n", p.where)
	const row = "  %9v  %-19s  %9v  %9v  %6v  %6v  %8v\n"
	fmt.Fprintf(w, row, "RESOURCES", "", "TIME", "PROCESSOR", "STATES", "WRITES", "MB")
	all := map[string]measured{}
	for _, size := range o.resources {
		for _, way := range recordings {
			if size > max(p.most, o.wholeStates) && (way.name == stock || way.name == whole) {
				continue
			}
			m, wrote, err := p.upOf(ctx, o, size, way.program, way.env)
			if err != nil {
				return err
			}
			all[fmt.Sprint(way.name, size)] = m
			fmt.Fprintf(w, row, size, way.name, seconds(m.wall), seconds(m.cpu), known(wrote.states), known(wrote.writes),
				fmt.Sprintf("%.1f", float64(wrote.bytes)/1e6))
		}
	}
	for _, c := range []struct {
		above, below, goal string
	}{
		{journaled + "1000", journaled + "250", "at most 5"},
		{journaled + "1000", unprotected + "1000", "in files at most 1.6"},
		{stock + "500", journaled + "500", "in S3 at least 10"},
	} {
		above, hasAbove := all[c.above]
		below, hasBelow := all[c.below]
		if hasAbove && hasBelow {
			fmt.Fprintf(w, "  %s by %s: time %.1f, processor time %.1f (goal: %s)\n", c.above, c.below,
				above.wall.Seconds()/below.wall.Seconds(), above.cpu.Seconds()/below.cpu.Seconds(), c.goal)
		}
	}
	return nil
}

// known returns a number, or nothing for one that is not known.
func known(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// upOf does the first up of a project with many resources.
func (p place) upOf(ctx context.Context, o options, size int, program string, env []string) (m measured, wrote written, err error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return m, wrote, err
	}
	defer os.RemoveAll(dir)
	if err := writeFile(filepath.Join(dir, "program", "Pulumi.yaml"), manyResources(size)); err != nil {
		return m, wrote, err
	}
	states := filepath.Join(dir, "states")
	if err := os.Mkdir(states, 0o700); err != nil {
		return m, wrote, err
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, filepath.Join(o.bin, program), append(args, "--non-interactive")...)
		c.Dir = filepath.Join(dir, "program")
		c.Env = append([]string{
			"HOME=" + dir, "PATH=" + o.bin + ":" + os.Getenv("PATH"), "PULUMI_BACKEND_URL=" + p.backend(states),
			"PULUMI_CONFIG_PASSPHRASE=x", "PULUMI_SKIP_UPDATE_CHECK=true", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x",
		}, env...)
		return c
	}
	if _, err := timed(command("stack", "init", "organization/many/dev")); err != nil {
		return m, wrote, err
	}
	writes, err := p.watch(states)
	if err != nil {
		return m, wrote, err
	}
	up := command("up", "--yes", "--skip-preview", "--suppress-progress", "--stack", "organization/many/dev")
	m, upErr := timed(up)
	wrote, err = writes()
	if wrote.bytes == 0 {
		wrote.bytes = writtenBy(up.ProcessState)
	}
	return m, wrote, errors.Join(upErr, err)
}

// watchStates counts the states in files.
func watchStates(dir string) (func() (written, error), error) {
	moved, err := watchMoves(filepath.Join(dir, ".pulumi", "stacks", "many"), "dev.json")
	if err != nil {
		return nil, err
	}
	return func() (written, error) { return written{states: moved()}, nil }, nil
}

// inPostgres returns the backend of a measurement in PostgreSQL: a table of its own.
func inPostgres(dir string) string {
	separator := "?"
	if strings.Contains(os.Getenv(postgresVariable), "?") {
		separator = "&"
	}
	return os.Getenv(postgresVariable) + separator + "table=" + tableOf(dir)
}

func tableOf(dir string) string {
	return strings.ReplaceAll(filepath.Base(filepath.Dir(dir)), "-", "_")
}

// watchPostgres counts rows that are written, and what the server writes to its log of changes.
func watchPostgres(dir string) (func() (written, error), error) {
	count := func() (n written, err error) {
		db, err := sql.Open("postgres", os.Getenv(postgresVariable))
		if err != nil {
			return n, err
		}
		defer db.Close()
		row := db.QueryRow(`SELECT (SELECT n_tup_ins + n_tup_upd FROM pg_stat_user_tables WHERE relname = $1),
			pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`, tableOf(dir))
		return n, row.Scan(&n.writes, &n.bytes)
	}
	before, err := count()
	return func() (written, error) {
		after, err := count()
		return written{writes: after.writes - before.writes, bytes: after.bytes - before.bytes}, err
	}, err
}

// manyResources returns a program with resources that are kept in the state alone.
func manyResources(size int) string {
	var text strings.Builder
	text.WriteString("name: many\nruntime: yaml\nresources:\n")
	for i := range size {
		fmt.Fprintf(&text, "  r%d: {type: 'pulumi:index:Stash', properties: {input: %q}}\n", i, strings.Repeat("x", 800))
	}
	return text.String()
}

// slowBucket is a bucket whose requests take a while. It counts what is written.
type slowBucket struct {
	server *httptest.Server

	mu    sync.Mutex // guards wrote
	wrote written
}

func newSlowBucket() *slowBucket {
	b := &slowBucket{}
	objects := s3mem.New()
	_ = objects.CreateBucket("states") // it is new
	answers := gofakes3.New(objects).Server()
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(latency)
		if r.Method == http.MethodPut {
			b.mu.Lock()
			b.wrote.writes++
			b.wrote.bytes += max(r.ContentLength, 0)
			if strings.HasSuffix(r.URL.Path, "/many/dev.json") {
				b.wrote.states++
			}
			b.mu.Unlock()
		}
		answers.ServeHTTP(w, r)
	}))
	return b
}

func (b *slowBucket) close() { b.server.Close() }

func (b *slowBucket) backend(dir string) string {
	return "s3://states/" + filepath.Base(filepath.Dir(dir)) + "?endpoint=" + b.server.URL + "&s3ForcePathStyle=true&region=us-east-1"
}

// watch counts objects that are written, and their bytes. A copy that the bucket makes counts as one without any.
func (b *slowBucket) watch(string) (func() (written, error), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrote = written{}
	return func() (written, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.wrote, nil
	}, nil
}
