package discover_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/discover"
)

// TestAddReads keeps every line that people have written, in each form of reads.
func TestAddReads(t *testing.T) {
	t.Parallel()
	const file = `# ours
hooks: []
projects:
- path: net   # the network

- path: ./db
  reads: net # why
  title: Database
- path: api
  # net: removed by hand
  reads: ["shop-net"]
- path: web
  reads:
    - api
  after: [db]
- path: jobs
  reads: [
    api,
  ]
# the end
providers: {}
`
	const want = `# ours
hooks: []
projects:
- path: net   # the network

- path: ./db
  # jobs: seen
  reads: [net, jobs] # why
  title: Database
- path: api
  # net: removed by hand
  # db: seen
  reads: ["shop-net", db]
- path: web
  # jobs: seen
  reads:
    - api
    - jobs
  after: [db]
- path: jobs
  reads: [
    api,
  ]
# the end
providers: {}
`
	names := map[string]string{"net": "shop-net", "db": "db", "api": "api", "web": "web", "jobs": "jobs"}
	edges := func(projects ...string) (all []discover.Edge) {
		for _, p := range projects {
			all = append(all, discover.Edge{Project: p, Evidence: "seen"})
		}
		return all
	}
	seen := map[string][]discover.Edge{
		"net": nil, "db": edges("shop-net", "jobs"), "api": edges("net", "db", "shop-net"), "web": edges("db", "api", "jobs"),
		"jobs": edges("api"),
	}
	got, added, err := discover.AddReads([]byte(file), seen, names)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(added) != 3 || added[0].Path != "db" || added[2].Path != "web" {
		t.Errorf("added %+v", added)
	}
	again, added, err := discover.AddReads([]byte(got), seen, names)
	if err != nil || again != got || len(added) > 0 {
		t.Errorf("a second time adds %+v, %v", added, err)
	}
}

// TestUpdate adds a project, and leaves what it does not know.
func TestUpdate(t *testing.T) {
	t.Parallel()
	a := discover.Adoption{Projects: []discover.Project{
		{Name: "net", Path: "net"},
		{Name: "db", Path: "db", Reads: []discover.Edge{{Project: "net", Evidence: "db/main.go:3"}}},
	}}
	got, added, err := a.Update([]byte("projects:\n    - path: net\n      title: Net\n    - {path: gone}\n"), everything)
	if err == nil {
		t.Errorf("an entry in one line is edited: %s, %v", got, added)
	}
	got, added, err = a.Update([]byte("projects:\n    - path: net\n      title: Net\n    - path: gone\n"), nothing)
	if err != nil {
		t.Fatal(err)
	}
	want := `projects:
    - path: net
      title: Net
    - path: gone
    - path: db
      # db; no stack
      stackFile: own
      # net: db/main.go:3
      reads: [net]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(added) != 1 || !added[0].IsNew {
		t.Errorf("added %+v", added)
	}
	a.Backend, a.Environments = "s3://acme", []string{"dev", "prod"}
	got, added, err = a.Update([]byte("# ours\nenvironments: [dev]\nprojects:\n  - path: net\n  - path: db\n    reads: net\n"), everything)
	if want := "# ours\nenvironments: [dev]\nbackend: s3://acme\nprojects:\n  - path: net\n  - path: db\n    reads: net\n"; err != nil || got != want || len(added) != 1 {
		t.Errorf("got %s, %+v, %v", got, added, err)
	}
	if _, _, err := a.Update([]byte("projects: [{path: net}]\n"), everything); err == nil {
		t.Error("a list in one line is edited")
	}
}

func everything(string) bool { return true }

func nothing(string) bool { return false }

// TestUpdateMoves gives projects whose directories were moved their new paths, and guesses nothing.
func TestUpdateMoves(t *testing.T) {
	t.Parallel()
	a := discover.Adoption{Projects: []discover.Project{
		{Name: "queue", Path: "infra/queue"}, {Name: "db", Path: "data stores/db"}, {Name: "one", Path: "a/svc"}, {Name: "two", Path: "b/svc"},
		{Name: "net", Path: "net"},
	}}
	got, added, err := a.Update([]byte(`projects:
  - path: queue   # jobs
    title: Queue
  - path: "database"
    # db; stacks: dev
  - path: svc
  - path: net
  - path: net2
    git: https://example.com/net
    ref: v1
`), func(path string) bool { return path == "net" })
	if err != nil {
		t.Fatal(err)
	}
	want := `projects:
  - path: infra/queue   # jobs
    title: Queue
  - path: data stores/db
    # db; stacks: dev
  - path: svc
  - path: net
  - path: net2
    git: https://example.com/net
    ref: v1
  - path: a/svc
    # one; no stack
    stackFile: own
  - path: b/svc
    # two; no stack
    stackFile: own
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(added) != 4 || added[0].MovedFrom != "queue" || added[1].MovedFrom != "database" || added[1].Path != "data stores/db" {
		t.Errorf("added %+v", added)
	}
}
