package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRefresh reads the lists of a stand-in for Linode's API into a copy of the files.
func TestRefresh(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"pages": 1, "data": [{"id": "us-b", "capabilities": ["Kubernetes"]}, {"id": "us-a", "capabilities": ["Linodes"]},
			{"id": "us-c", "capabilities": ["Kubernetes"]}, {"id": "us-d", "capabilities": ["Kubernetes"]}, {"id": "us-e", "capabilities": ["Kubernetes"]},
			{"id": "us-f", "capabilities": ["Kubernetes"]}]}`
		if strings.HasPrefix(r.URL.Path, "/linode/types") {
			answer = `{"pages": 2, "data": []}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer api.Close()
	dir := t.TempDir()
	content, err := os.ReadFile("../../projects/offers/linode.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "linode.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for _, l := range lists() {
		if l.path == "" {
			continue
		}
		err := refresh(dir, l, api.URL, day)
		if failed := err != nil; failed != (l.path == "/linode/types") {
			t.Errorf("%s: %v", l.path, err)
		}
	}
	changed, err := os.ReadFile(file) //nolint:gosec // made above
	if err != nil {
		t.Fatal(err)
	}
	want := "regions:\n  day: 2026-11-28\n  source: https://api.linode.com/v4/regions, those with the capability Kubernetes\n" +
		"  names: [us-b, us-c, us-d, us-e, us-f]\nnodeTypes:\n  day: "
	if !strings.Contains(string(changed), want) {
		t.Errorf("got\n%s", changed)
	}
}

// TestModules: the lists that the SDKs of go.mod give are those in the files.
func TestModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, l := range lists() {
		if l.path != "" {
			continue
		}
		content, err := os.ReadFile(filepath.Join("../../projects/offers", l.file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, l.file), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := refresh(dir, l, "", time.Now()); err != nil {
			t.Errorf("%s %s: %v", l.file, l.section, err)
		}
		if changed, _ := os.ReadFile(filepath.Join(dir, l.file)); strings.Join(strings.Fields(string(changed)), " ") !=
			strings.Join(strings.Fields(string(content)), " ") {
			t.Errorf("%s: %s is not what the SDK lists; go run ./scripts/offers", l.file, l.section)
		}
	}
}
