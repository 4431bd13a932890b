// Package helmdrifttest makes what Helm keeps of its releases, for tests.
package helmdrifttest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"testing"
)

// Record is what Helm puts into the Secret of a release: JSON, packed, in base64.
// The API encodes it once more.
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
