package lock

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestIsGone: a process is gone for certain only if a run of this very machine had the
// environment when it locked something.
func TestIsGone(t *testing.T) {
	t.Parallel()
	began := time.Now().UTC().Truncate(time.Second)
	self := Self("up", "run-1", began)
	if self.Boot == "" {
		t.Skip("the system does not name the run of its kernel")
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	during := began.Add(time.Minute)
	for _, test := range []struct {
		name   string
		change func(*term)
		host   string
		pid    int
		when   time.Time
		want   bool
	}{
		{"a process of a killed run", func(*term) {}, self.Host, dead.Process.Pid, during, true},
		{"a process that runs", func(*term) {}, self.Host, os.Getpid(), during, false},
		{"another host", func(*term) {}, "elsewhere", dead.Process.Pid, during, false},
		{"before any run", func(*term) {}, self.Host, dead.Process.Pid, began.Add(-time.Minute), false},
		{"after the end of the run", func(t *term) { t.Until = began.Add(time.Second) }, self.Host, dead.Process.Pid, during, false},
		{"a container of the same name", func(t *term) { t.Owner.Space = "pid:[1]" }, self.Host, dead.Process.Pid, during, false},
		{"another machine of the same name", func(t *term) { t.Owner.Boot = "other"; t.Machine = "other" }, self.Host, dead.Process.Pid, during, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			one := term{Owner: self, Machine: machineID()}
			test.change(&one)
			file := filepath.Join(t.TempDir(), "terms.json")
			content, err := json.Marshal([]term{one})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Terms(file).IsGone(test.host, test.pid, test.when); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	terms := Terms(filepath.Join(t.TempDir(), "locks", "terms.json"))
	now := time.Now().UTC().Truncate(time.Second)
	if terms.IsOver(now) {
		t.Error("without a record something is known")
	}
	first := Self("up", "first", now.Add(-time.Hour))
	first.PID, first.Started = 1<<30, "1"
	second := Self("up", "second", now.Add(-time.Minute))
	for _, owner := range []Owner{first, second} { // the first was killed
		if err := terms.Begin(owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := terms.End(second, now); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		when time.Time
		want bool
	}{
		"before":            {now.Add(-2 * time.Hour), false},
		"of the killed run": {now.Add(-30 * time.Minute), first.Boot != "" || second.Boot == ""},
		"of this process":   {now.Add(-time.Second), true},
		"after":             {now.Add(time.Minute), false},
	} {
		if got := terms.IsOver(test.when); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	for range maxTerms {
		if err := terms.Begin(second); err != nil {
			t.Fatal(err)
		}
	}
	if all := terms.read(); len(all) != maxTerms {
		t.Errorf("%d terms are recorded", len(all))
	}
}
