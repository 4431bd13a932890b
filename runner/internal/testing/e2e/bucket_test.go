package e2e

import (
	"crypto/md5"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/run/event"
)

// s3 answers as S3 does for one bucket: what Pulumi and mara-engine ask of it.
type s3 struct {
	mu      sync.Mutex // guards objects
	objects map[string][]byte
}

func (b *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	content, ok := b.objects[key]
	switch {
	case key == "" && r.Method == http.MethodGet:
		b.list(w, r.URL.Query())
	case r.Method == http.MethodDelete:
		delete(b.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		b.put(w, r, key)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
	default:
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		_, _ = w.Write(content)
	}
}

// put keeps an object, or a copy of another.
func (b *s3) put(w http.ResponseWriter, r *http.Request, key string) {
	source, err := url.PathUnescape(r.Header.Get("X-Amz-Copy-Source"))
	content, readErr := io.ReadAll(r.Body)
	if err != nil || readErr != nil || strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	if source != "" {
		_, from, _ := strings.Cut(strings.TrimPrefix(source, "/"), "/")
		content = b.objects[from]
		fmt.Fprintf(w, `<CopyObjectResult><ETag>"%x"</ETag></CopyObjectResult>`, md5.Sum(content))
	}
	b.objects[key] = content
}

// list writes the objects with a prefix, and the directories, if it is asked for them.
func (b *s3) list(w http.ResponseWriter, query url.Values) {
	type object struct {
		Key          string
		Size         int
		LastModified time.Time
		ETag         string
	}
	type dir struct{ Prefix string }
	var result struct {
		XMLName        xml.Name `xml:"ListBucketResult"`
		Contents       []object
		CommonPrefixes []dir
		KeyCount       int
	}
	prefix, delimiter := query.Get("prefix"), query.Get("delimiter")
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if name, _, below := strings.Cut(rest, delimiter); below && delimiter != "" {
			if next := (dir{prefix + name + delimiter}); !slices.Contains(result.CommonPrefixes, next) {
				result.CommonPrefixes = append(result.CommonPrefixes, next)
			}
			continue
		}
		result.Contents = append(result.Contents, object{key, len(b.objects[key]), time.Now().UTC(), fmt.Sprintf(`"%x"`, md5.Sum(b.objects[key]))})
	}
	result.KeyCount = len(result.Contents) + len(result.CommonPrefixes)
	_ = xml.NewEncoder(w).Encode(result)
}

// keep keeps an object; nil removes it.
func (b *s3) keep(key string, content []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.objects[key] = content; content == nil {
		delete(b.objects, key)
	}
}

// left returns the keys below a directory.
func (b *s3) left(dir string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b.objects)), func(key string) bool { return !strings.HasPrefix(key, dir) })
}

// TestBucket: where states are in a bucket, so are the locks of runs and Pulumi's, and
// both are waited for.
func TestBucket(t *testing.T) {
	t.Parallel()
	bucket := &s3{objects: map[string][]byte{}}
	server := httptest.NewServer(bucket)
	t.Cleanup(server.Close)
	backend := "s3://states/some/directory?endpoint=" + server.URL + "&s3ForcePathStyle=true&region=us-east-1"
	one, two := sharing(t, backend), sharing(t, backend)
	for _, e := range []*environment{one, two} {
		e.env = append(e.env, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	}
	two.write("a/go", "")
	running := one.begin()
	if r := two.run("up", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "the environment is locked by") {
		t.Errorf("beside another directory's run: exit code %d\n%s", r.code, r.stderr)
	}

	// A user runs Pulumi itself, as soon as the run has looked for that.
	const locks = "some/directory/.pulumi/locks/organization/"
	pulumi := func(host string) []byte {
		content, err := json.Marshal(map[string]any{"pid": 1 << 30, "username": "ann", "hostname": host, "timestamp": "2026-01-02T03:04:05Z"})
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	bucket.keep(locks+"a/dev/theirs.json", pulumi("elsewhere"))
	bucket.keep(locks+"a/prod/another.json", pulumi("elsewhere"))
	one.write("a/go", "")
	if err := running.Wait(); err == nil {
		t.Error("a run works on a stack that is locked")
	}

	const holder = "a is locked by ann@elsewhere (pid 1073741824)"
	if r := two.run("up", "--yes"); r.code != 4 || !strings.Contains(r.stderr, holder) || !strings.Contains(r.stderr, "--lock-timeout") {
		t.Errorf("a stack is locked: exit code %d\n%s", r.code, r.stderr)
	}
	if r := two.run("status"); r.code != 0 || !strings.Contains(r.stdout, "ann@elsewhere") {
		t.Errorf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := two.run("unlock", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "runner unlock -s dev --force") {
		t.Errorf("unlock: exit code %d\n%s", r.code, r.stderr)
	}
	time.AfterFunc(10*time.Second, func() { bucket.keep(locks+"a/dev/theirs.json", nil) })
	r := two.run("up", "--yes", "--lock-timeout", "2m", "-o", "json")
	if r.code != 0 || results(decode(t, r.stdout)) != (event.Results{Succeeded: 1}) || !strings.Contains(r.stderr, "waiting up to 2m0s: "+holder) {
		t.Errorf("with --lock-timeout: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}

	// A run that was locked out when it came to the project waits, too.
	if err := os.Remove(one.root + "/a/begun"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(one.root + "/a/go"); err != nil {
		t.Fatal(err)
	}
	running = one.begin("--force", "--lock-timeout", "2m")
	bucket.keep(locks+"a/dev/theirs.json", pulumi("elsewhere"))
	time.AfterFunc(10*time.Second, func() { bucket.keep(locks+"a/dev/theirs.json", nil) })
	one.write("a/go", "")
	if err := running.Wait(); err != nil {
		t.Errorf("locked out on the way: %v", err)
	}

	bucket.keep(locks+"a/dev/theirs.json", pulumi("elsewhere"))
	if r := two.run("unlock", "--yes", "--force"); r.code != 0 || !strings.Contains(r.stdout, "unlocked a") {
		t.Errorf("unlock --force: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if left := append(bucket.left(locks), bucket.left("some/directory/.mara/locks")...); !slices.Equal(left, []string{locks + "a/prod/another.json"}) {
		t.Errorf("left %q", left)
	}
}
