package e2e

import (
	"bytes"
	"errors"
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
func (b *bucket) backend(dir string) string {
	return "s3://" + bucketName + "/" + dir + "?endpoint=" + b.server.URL + "&s3ForcePathStyle=true&region=us-east-1"
}

// multiply copies a state to other names in its directory.
func (b *bucket) multiply(dir, name string, names []string) {
	found, err := b.objects.GetObject(bucketName, dir+name+".json", nil)
	if err != nil {
		b.t.Error(err)
		return
	}
	content, err := io.ReadAll(found.Contents)
	for _, name := range names {
		_, put := b.objects.PutObject(bucketName, dir+name+".json", nil, bytes.NewReader(content), int64(len(content)), nil)
		err = errors.Join(err, put)
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
	long(t)
	bucket := newBucket(t)
	life{place: inBucket(bucket, "some/directory"), again: bucket.backend("again"), needle: keyOfTheBucket}.test(t)
	if left := bucket.left("some/directory/.mara/locks"); len(left) > 0 {
		t.Errorf("locks are left: %q", left)
	}
	recordBackend(t, "make test", s3Versions(t), append(lifeParts(12), "requests that are refused with 503 and 429")...)
}
