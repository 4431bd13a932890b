package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// bucketName is the bucket of the tests.
const bucketName = "states"

// bucket is a bucket of a server that speaks S3's protocol. It keeps versions of its objects.
type bucket struct {
	t       *testing.T
	objects *s3mem.Backend
	server  *httptest.Server
	// trouble is how many of the next requests come in bad times: every third of them is refused, with 503 SlowDown and
	// 429 by turns, unless the same one was refused before.
	trouble atomic.Int32
	refused sync.Map // requests
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{t: t, objects: s3mem.New()}
	if err := b.objects.CreateBucket(bucketName); err != nil {
		t.Fatal(err)
	}
	if err := b.objects.SetVersioningConfiguration(bucketName, gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled}); err != nil {
		t.Fatal(err)
	}
	answers := gofakes3.New(b.objects).Server()
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left := b.trouble.Add(-1)
		_, again := b.refused.Load(r.Method + r.URL.String())
		if left < 0 || left%3 != 0 || again {
			answers.ServeHTTP(w, r)
			return
		}
		b.refused.Store(r.Method+r.URL.String(), true)
		w.WriteHeader([]int{http.StatusServiceUnavailable, http.StatusTooManyRequests}[left%2])
		_, _ = io.WriteString(w, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
	}))
	t.Cleanup(b.server.Close)
	return b
}

// backend returns the address of a directory in the bucket.
func (b *bucket) backend() string {
	return "s3://" + bucketName + "/some/directory?endpoint=" + b.server.URL + "&s3ForcePathStyle=true&region=us-east-1"
}

// keep keeps an object; nil removes it.
func (b *bucket) keep(key string, content []byte) {
	var err error
	if content == nil {
		_, err = b.objects.DeleteObject(bucketName, key)
	} else {
		_, err = b.objects.PutObject(bucketName, key, nil, bytes.NewReader(content), int64(len(content)), nil)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// left returns the keys below a directory.
func (b *bucket) left(dir string) []string {
	b.t.Helper()
	prefix := gofakes3.NewPrefix(&dir, nil)
	found, err := b.objects.ListBucket(bucketName, &prefix, gofakes3.ListBucketPage{})
	if err != nil {
		b.t.Fatal(err)
	}
	var keys []string
	for _, object := range found.Contents {
		keys = append(keys, object.Key)
	}
	return keys
}

// TestStatesInS3 takes a fleet with its states in S3 through its life, while the server refuses requests now and then.
func TestStatesInS3(t *testing.T) {
	t.Parallel()
	bucket := newBucket(t)
	again := "s3://" + bucketName + "/again?endpoint=" + bucket.server.URL + "&s3ForcePathStyle=true&region=us-east-1"
	life{backend: bucket.backend(), again: again, env: []string{"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=needle-of-the-bucket"},
		needle: "needle-of-the-bucket", trouble: func() { bucket.trouble.Store(60) }}.test(t)
	if left := bucket.left("some/directory/.mara/locks"); len(left) > 0 {
		t.Errorf("locks are left: %q", left)
	}
	recordBackend(t, "make test", s3Versions(t), append(lifeParts(), "requests that are refused with 503 and 429")...)
}
