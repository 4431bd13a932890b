package backup_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/feature/backup"
	"mara/runner/internal/kube/kubeapi"
)

const namespaced = "/apis/velero.io/v1/namespaces/velero/"

// fake is an API server with Velero: what is created ends in a phase after a few looks.
type fake struct {
	t      *testing.T
	lists  map[string][]string // objects by path
	phases []string            // of an object that is created, one a look
	extra  string              // of its status

	mu      sync.Mutex
	created []map[string]any
	deleted []string // paths
}

// ServeHTTP implements http.Handler. It fails the test for unexpected requests.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if items, ok := f.lists[r.URL.Path]; ok && r.Method == http.MethodGet {
		fmt.Fprintf(w, `{"apiVersion":"v1","kind":"List","items":[%s]}`, strings.Join(items, ","))
		return
	}
	isWork := strings.HasPrefix(r.URL.Path, namespaced+"backups") || strings.HasPrefix(r.URL.Path, namespaced+"restores")
	switch {
	case isWork && r.Method == http.MethodPost:
		var object map[string]any
		if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
			f.t.Error(err)
		}
		f.created = append(f.created, object)
		_ = json.NewEncoder(w).Encode(object)
	case isWork && r.Method == http.MethodGet && len(f.created) > 0 && len(f.phases) > 0:
		fmt.Fprintf(w, `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"b"},"status":{"phase":%q%s}}`, f.phases[0], f.extra)
		f.phases = f.phases[1:]
	case isWork && r.Method == http.MethodDelete:
		f.deleted = append(f.deleted, r.URL.Path)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
	default:
		f.t.Errorf("unexpected %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
	}
}

// serve returns Velero of a fake.
func serve(t *testing.T, f *fake) backup.Server {
	t.Helper()
	f.t = t
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	cluster, err := kubeapi.Connect([]byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",`+
		`"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`,
		server.URL)), nil, backup.Changes()...)
	if err != nil {
		t.Fatal(err)
	}
	return backup.Server{Cluster: cluster, Namespace: "velero", Interval: time.Millisecond}
}

// TestList sorts backups by their start, and says what is wrong with them.
func TestList(t *testing.T) {
	t.Parallel()
	got, err := serve(t, &fake{lists: map[string][]string{namespaced + "backups": {
		`{"metadata":{"name":"old","labels":{"velero.io/schedule-name":"velero-daily"}},"spec":{"includedNamespaces":["*"]},"status":{"phase":"Completed","startTimestamp":"2026-11-20T03:00:00Z","expiration":"2026-12-20T03:00:00Z"}}`,
		`{"metadata":{"name":"new"},"spec":{"includedNamespaces":["shop"]},"status":{"phase":"PartiallyFailed","startTimestamp":"2026-11-21T03:00:00Z","errors":2}}`,
		`{"metadata":{"name":"wrong"},"spec":{},"status":{"phase":"FailedValidation","validationErrors":["no such location"]}}`,
	}}}).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	day := func(day int, month time.Month) time.Time { return time.Date(2026, month, day, 3, 0, 0, 0, time.UTC) }
	for i := range got {
		got[i].Started, got[i].Expires = got[i].Started.UTC(), got[i].Expires.UTC()
	}
	want := []backup.Backup{
		{Name: "new", Phase: "PartiallyFailed", Started: day(21, time.November), Namespaces: []string{"shop"}, Problem: "2 errors in its log"},
		{Name: "old", Phase: "Completed", Started: day(20, time.November), Expires: day(20, time.December), Schedule: "velero-daily"},
		{Name: "wrong", Phase: "FailedValidation", Problem: "no such location"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBack waits for the end, and fails for a backup that is not complete.
func TestBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		phases  []string
		extra   string
		problem string
	}{
		{"complete", []string{"InProgress", "Finalizing", "Completed"}, "", ""},
		{"partial", []string{"WaitingForPluginOperationsPartiallyFailed", "PartiallyFailed"}, `,"errors":1`, "the backup b is PartiallyFailed: 1 errors in its log"},
		{"failed", []string{"Failed"}, `,"failureReason":"no bucket"`, "the backup b is Failed: no bucket"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{phases: test.phases, extra: test.extra}
			_, err := serve(t, f).Back(t.Context(), "b", []string{"shop"})
			if text := fmt.Sprint(err); test.problem == "" && err != nil || test.problem != "" && text != test.problem {
				t.Errorf("%v, want %q", err, test.problem)
			}
			want := map[string]any{"storageLocation": "default", "defaultVolumesToFsBackup": true, "includedNamespaces": []any{"shop"}}
			if diff := cmp.Diff(want, f.created[0]["spec"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRestore changes nothing that is there, and removes what is done: only a running Velero can.
func TestRestore(t *testing.T) {
	t.Parallel()
	f := &fake{phases: []string{"InProgress", "Completed"}}
	if err := serve(t, f).Restore(t.Context(), "b-again", "b", nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"backupName": "b", "existingResourcePolicy": "none"}, f.created[0]["spec"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{namespaced + "restores/b-again"}, f.deleted); diff != "" {
		t.Error(diff)
	}
	f = &fake{phases: []string{"PartiallyFailed"}}
	if err := serve(t, f).Restore(t.Context(), "b-again", "b", nil); err == nil || len(f.deleted) > 0 {
		t.Errorf("a restore that is not complete: %v, deleted: %v", err, f.deleted)
	}
}

// TestVolumes finds volumes that Velero skips, and volumes that are not in a backup.
func TestVolumes(t *testing.T) {
	t.Parallel()
	volume := func(name, source, namespace string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{%s"claimRef":{"namespace":%q,"name":%q}}}`, name, source, namespace, name)
	}
	s := serve(t, &fake{lists: map[string][]string{
		"/api/v1/persistentvolumes": {
			volume("a", `"hostPath":{"path":"/x"},`, "shop"), volume("b", `"local":{"path":"/x"},`, "shop"),
			volume("c", `"hostPath":{"path":"/x"},`, "other"),
		},
		namespaced + "podvolumebackups": {
			`{"spec":{"pod":{"namespace":"shop","name":"p"},"volume":"data"},"status":{"phase":"Completed"}}`,
			`{"spec":{"pod":{"namespace":"shop","name":"q"},"volume":"data"},"status":{"phase":"Failed","message":"no space"}}`,
		},
	}})
	all, err := s.Skipped(t.Context(), nil)
	if err != nil || !slices.Equal(all, []string{"other/c", "shop/a"}) {
		t.Errorf("%v, %v", all, err)
	}
	some, err := s.Skipped(t.Context(), []string{"shop"})
	if err != nil || !slices.Equal(some, []string{"shop/a"}) {
		t.Errorf("%v, %v", some, err)
	}
	lost, err := s.Lost(t.Context(), "b")
	if err != nil || !slices.Equal(lost, []string{"shop/q data: Failed no space"}) {
		t.Errorf("%v, %v", lost, err)
	}
}
