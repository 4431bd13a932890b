package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// twoBackends is a repository whose projects live in two backends: net in that of the root, deployed by plain Pulumi,
// and db, which waits for it, in one of its own.
func twoBackends(t *testing.T) (e *environment, home, other string) {
	t.Helper()
	e = emptyEnvironment(t)
	home, other = filepath.Join(e.root, "states", "home"), filepath.Join(e.root, "states", "other")
	for _, dir := range []string{home, other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e.write("mara.yaml", "backend: file://states/home\nprojects:\n- {path: net, stackFile: own}\n"+
		"- path: db\n  stackFile: own\n  backend: file://states/other\n  after: [net]\n")
	for _, project := range []string{"net", "db"} {
		e.write(project+"/Pulumi.yaml", "name: "+project+"\nruntime: yaml\nconfig:\n  size: {type: string, default: small}\n"+
			"outputs:\n  size: ${size}\n")
	}
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	e.plain(home, "net", "stack", "init", "dev")
	e.plain(home, "net", "up", "--yes", "--skip-preview")
	return e, home, other
}

func isStateOf(directory, project string) bool {
	_, err := os.Stat(filepath.Join(directory, ".pulumi", "stacks", project, "dev.json"))
	return err == nil
}

// TestTwoBackends: projects of one environment live in two backends, in one order; each state is where its project has
// it, and a run locks the environment in both.
func TestTwoBackends(t *testing.T) {
	t.Parallel()
	long(t)
	e, home, other := twoBackends(t)
	e.expect(0, "up -s dev --yes", "db")
	if !isStateOf(other, "db") || isStateOf(home, "db") || isStateOf(other, "net") {
		t.Error("a state is in the wrong backend")
	}
	e.expect(0, "preview -s dev --exit-code")
	e.expect(0, "status -s dev", "state in file://", "in file://", "2 projects deployed")
	e.expect(0, "doctor -s dev", "states/home", "mara.yaml:1) answers; 1 of 1 project is deployed", "states/other",
		"mara.yaml:6) answers; 1 of 1 project is deployed")
	e.expect(3, "export ci github --image registry.example/runner:1 -s dev", "states/home", "mara.yaml:1", "states/other", "mara.yaml:6")
	e.plain(other, "db", "preview", "--expect-no-changes")

	lock := filepath.Join(other, ".mara", "locks", "dev", "20200101-000000-abc.json")
	e.write("states/other/.mara/locks/dev/20200101-000000-abc.json",
		`{"user":"ann","host":"elsewhere","boot":"1","pid":1,"operation":"up","run":"20200101-000000-abc"}`)
	e.expect(4, "up -s dev --yes --force", "ann")
	e.expect(0, "up -s dev --yes --force --only net")
	e.expect(0, "unlock -s dev --yes --force", "unlocked the environment")
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is still there")
	}

	mara := e.read("mara.yaml")
	e.write("mara.yaml", strings.Replace(mara, "after:", "reads:", 1))
	e.expect(3, "check", "mara.yaml:4", "db reads net", "mara.yaml:6", "mara.yaml:1")
	e.expect(3, "preview -s dev", "mara.yaml:4", "do not cross backends")

	e.write("mara.yaml", strings.Replace(mara, "states/other", "states/third", 1))
	e.expect(3, "up -s dev --yes", `db of "dev" was deployed to file://states/other`, "state move -s dev", "--new-backend")
	e.expect(0, "state move -s dev --yes", "db", "file://states/third")
	third := filepath.Join(e.root, "states", "third")
	if !isStateOf(third, "db") || isStateOf(third, "net") {
		t.Error("another state than that of db was moved")
	}
	e.expect(0, "preview -s dev --exit-code")
	e.expect(0, "destroy -s dev --yes")
	e.expect(0, "status -s dev", "0 of 2 projects deployed")
}

// TestOneBackendIsAway: a backend that does not answer is the error of its projects, and names the line that it is in.
func TestOneBackendIsAway(t *testing.T) {
	t.Parallel()
	long(t)
	e, _, _ := twoBackends(t)
	e.write("mara.yaml", strings.Replace(e.read("mara.yaml"), "file://states/other", "s3://nobody?endpoint=127.0.0.1:1&region=x&disableSSL=true", 1))
	e.env = append(e.env, "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_MAX_ATTEMPTS=1")
	e.expect(1, "status -s dev", "net", "deployed", "db", "unknown", "mara.yaml:6")
	e.expect(3, "up -s dev --yes", "mara.yaml:6")
	e.expect(0, "up -s dev --yes --only net")
}

// TestOrphanInTheOtherBackend: a project that was renamed or removed is missed in whichever backend it has its state.
func TestOrphanInTheOtherBackend(t *testing.T) {
	t.Parallel()
	long(t)
	e, home, other := twoBackends(t)
	e.write("db/Pulumi.dev.yaml", "config:\n  db:size: big\n")
	e.expect(0, "up -s dev --yes")
	if err := os.Rename(filepath.Join(e.root, "db"), filepath.Join(e.root, "database")); err != nil {
		t.Fatal(err)
	}
	e.write("database/Pulumi.yaml", strings.ReplaceAll(e.read("database/Pulumi.yaml"), "name: db", "name: database"))
	mara := e.read("mara.yaml")
	e.write("mara.yaml", strings.Replace(mara, "path: db", "path: database", 1))
	e.expect(0, "status -s dev", "db (1 resource in file://", "states/other", "no project claims it")
	e.expect(3, "up -s dev --yes", "database is new: a rename?", "adopt --rename db database")
	e.expect(0, "adopt --rename db database -s dev --yes")
	e.expect(0, "preview -s dev --exit-code")
	if !isStateOf(other, "database") || isStateOf(other, "db") || isStateOf(home, "database") {
		t.Error("the state was not renamed where it is")
	}

	e.write("mara.yaml", mara) // database is gone, and db in its backend is new
	e.write("db/Pulumi.yaml", strings.ReplaceAll(e.read("database/Pulumi.yaml"), "name: database", "name: db"))
	e.expect(0, "up -s dev --yes", "database (1 resource in file://")
	e.expect(0, "destroy --orphans -s dev --yes", "database")
	if isStateOf(other, "database") || !isStateOf(other, "db") {
		t.Error("another stack than the orphan was destroyed")
	}
	e.expect(0, "preview -s dev --exit-code")
}

// TestAdoptTwoBackends: projects whose Pulumi.yaml name several backends are adopted together, each with the stacks in its
// own. A reference does not cross backends, and is no edge; a variable overrides them all, as it does for Pulumi.
func TestAdoptTwoBackends(t *testing.T) {
	t.Parallel()
	long(t)
	e, home, other := twoBackends(t)
	if err := os.Remove(filepath.Join(e.root, "mara.yaml")); err != nil {
		t.Fatal(err)
	}
	e.write("app/Pulumi.yaml", strings.ReplaceAll(e.read("net/Pulumi.yaml"), "name: net", "name: app"))
	for project, backend := range map[string]string{"net": home, "app": home, "db": other} {
		e.write(project+"/Pulumi.yaml", e.read(project+"/Pulumi.yaml")+"backend: {url: \"file://"+backend+"\"}\n")
	}
	e.plain(other, "db", "stack", "init", "dev")
	e.plain(other, "db", "up", "--yes", "--skip-preview")
	db := e.read("db/Pulumi.yaml")
	e.write("db/Pulumi.yaml", db+"resources:\n  net: {type: \"pulumi:pulumi:StackReference\", properties: {name: organization/net/dev}}\n")
	e.expect(0, "adopt", "3 projects", "db reads net (db/Pulumi.yaml:", "Pulumi's references do not reach there")
	if mara := e.read("mara.yaml"); strings.Contains(mara, "reads") || !strings.Contains(mara, "db; stacks: dev") ||
		!strings.Contains(mara, "backend: file://states/home") {
		t.Error(mara)
	}
	e.write("db/Pulumi.yaml", db)
	e.expect(0, "status -s dev", "2 of 3 projects deployed")
	e.expect(0, "preview -s dev --skip app --exit-code")

	e.write("mara.yaml", strings.Replace(e.read("mara.yaml"), "states/home", "states/other", 1))
	e.write("late/Pulumi.yaml", "name: late\nruntime: yaml\nresources:\n"+
		"  db: {type: \"pulumi:pulumi:StackReference\", properties: {name: organization/db/dev}}\n")
	e.expect(0, "adopt --update", "late, which reads db") // it is where mara.yaml says, as db is

	e.env = append(e.env, "PULUMI_BACKEND_URL=file://"+other)
	e.expect(0, "adopt --print", "net; no stack", "db; stacks: dev")
}
