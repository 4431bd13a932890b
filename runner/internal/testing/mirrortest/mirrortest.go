// Package mirrortest makes charts for tests, and registries that ask for a login.
package mirrortest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
)

// Pack makes the archive of a chart from its files.
func Pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	writer := tar.NewWriter(zipped)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		err := writer.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(files[file]))})
		if _, writeErr := io.WriteString(writer, files[file]); errors.Join(err, writeErr) != nil {
			t.Fatal(errors.Join(err, writeErr))
		}
	}
	if err := errors.Join(writer.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Private returns a handler that requires a login.
func Private(inner http.Handler, user, password string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gotUser, gotPassword, ok := r.BasicAuth(); !ok || gotUser != user || gotPassword != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="mirror"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}
