package main

import (
	"context"
	"fmt"
	"io"
	"math"
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

	"mara/runner/internal/core/pulumicli/wire"
)

// postgresVariable names a database for the states, postgres://USER:PASSWORD@HOST/NAME, to measure that as well.
const postgresVariable = "BENCH_POSTGRES"

// latency is what a request to the bucket takes.
const latency = 20 * time.Millisecond

// recordings are the ways in which an up records what its steps have done.
var recordings = []struct {
	name, program string
	env           []string
}{
	{"stock pulumi", "pulumi", nil},
	{"without journal", "mara-engine", []string{wire.NoJournalVariable + "=true"}},
	{"with journal", "mara-engine", nil},
	{"without checkpoints", "mara-engine", []string{"PULUMI_SKIP_CHECKPOINTS=true"}},
}

// measureResources compares the first up of a project with many resources, by the way in which the state is written.
// The resources exist in the state only, so that nothing else takes time.
func measureResources(ctx context.Context, o options, w io.Writer) error {
	bucket := newSlowBucket()
	defer bucket.close()
	places := []struct {
		name, where string
		backend     func(dir string) string
		largest     int // number of resources: in a bucket, stock Pulumi takes minutes for more
	}{
		{"files", "files", func(dir string) string { return "file://" + dir }, math.MaxInt},
		{"S3", "S3, 20 ms a request", bucket.backend, 500},
		{"PostgreSQL", "PostgreSQL", func(dir string) string { // a table for each
			table := "table=" + strings.ReplaceAll(filepath.Base(filepath.Dir(dir)), "-", "_")
			if strings.Contains(os.Getenv(postgresVariable), "?") {
				return os.Getenv(postgresVariable) + "&" + table
			}
			return os.Getenv(postgresVariable) + "?" + table
		}, 1000},
	}
	for _, place := range places {
		if !slices.Contains(o.states, place.name) {
			continue
		}
		if place.name == "PostgreSQL" && os.Getenv(postgresVariable) == "" {
			fmt.Fprintf(w, "\n%s is not measured: %s names no database\n", place.name, postgresVariable)
			continue
		}
		fmt.Fprintf(w, "\nFirst up of one project, with states in %s\n", place.where)
		const row = "  %9v  %-19s  %9v  %9v  %6v  %8v\n"
		fmt.Fprintf(w, row, "RESOURCES", "", "TIME", "PROCESSOR", "WRITES", "MB")
		for _, size := range o.resources {
			if size > place.largest {
				continue
			}
			for _, way := range recordings {
				bucket.reset()
				m, written, err := upOf(ctx, o, size, way.program, way.env, place.backend)
				if err != nil {
					return err
				}
				writes, bytes := "", float64(written)
				if n, sum := bucket.written(); n > 0 {
					writes, bytes = fmt.Sprint(n), float64(sum)
				}
				fmt.Fprintf(w, row, size, way.name, seconds(m.wall), seconds(m.cpu), writes, fmt.Sprintf("%.1f", bytes/1e6))
			}
		}
	}
	return nil
}

// upOf does the first up of a project with many resources, and returns how many bytes the program has written to disks.
func upOf(ctx context.Context, o options, size int, program string, env []string,
	backend func(dir string) string) (m measured, written int64, err error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return m, 0, err
	}
	defer os.RemoveAll(dir)
	if err := writeFile(filepath.Join(dir, "program", "Pulumi.yaml"), manyResources(size)); err != nil {
		return m, 0, err
	}
	states := filepath.Join(dir, "states")
	if err := os.Mkdir(states, 0o700); err != nil {
		return m, 0, err
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, filepath.Join(o.bin, program), append(args, "--non-interactive")...)
		c.Dir = filepath.Join(dir, "program")
		c.Env = append([]string{
			"HOME=" + dir, "PATH=" + o.bin + ":" + os.Getenv("PATH"), "PULUMI_BACKEND_URL=" + backend(states),
			"PULUMI_CONFIG_PASSPHRASE=x", "PULUMI_SKIP_UPDATE_CHECK=true", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x",
		}, env...)
		return c
	}
	if _, err := timed(command("stack", "init", "organization/many/dev")); err != nil {
		return m, 0, err
	}
	up := command("up", "--yes", "--skip-preview", "--suppress-progress", "--stack", "organization/many/dev")
	m, err = timed(up)
	return m, writtenBy(up.ProcessState), err
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

	mu    sync.Mutex // guards what follows
	count int
	bytes int64
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
			b.count++
			b.bytes += max(r.ContentLength, 0)
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

func (b *slowBucket) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count, b.bytes = 0, 0
}

// written returns how many objects were written, and their bytes. A copy that the bucket makes counts as one without any.
func (b *slowBucket) written() (count int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count, b.bytes
}
