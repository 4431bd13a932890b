// Package helmdrifttest makes Helm's release records for tests.
package helmdrifttest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"testing"
)

// Record returns the data of a release's Secret as Helm encodes it: gzipped JSON in
// base64. The API encodes it once more.
func Record(t *testing.T, name, manifest string) string {
	t.Helper()
	content, err := json.Marshal(map[string]any{"name": name, "manifest": manifest})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}
