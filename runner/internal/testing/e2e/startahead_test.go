package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newScripts makes an environment of projects whose programs are scripts. deps are the projects that each reads; first
// is listed first.
func newScripts(t *testing.T, scripts map[string]string, list string) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	tools := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(tools, scriptHostName))
	}
	if err != nil {
		t.Fatal(err)
	}
	e.env = append(e.env, "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "PULUMI_CONFIG_PASSPHRASE=secret", "SCRIPTS="+e.scripts())
	for name, script := range scripts {
		e.write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: script\nconfig:\n  value: {type: string, default: '!'}\n")
		e.write(name+"/script", strings.ReplaceAll(script, "; ", "\n")+"\n")
	}
	e.write("mara.yaml", "projects:\n"+list)
	return e
}

// scripts is the directory of what scripts write. It is not in the repository, where it would belong to all programs.
func (e *environment) scripts() string {
	dir := e.root + "-scripts"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		e.t.Fatal(err)
	}
	return dir
}

// log returns what the scripts have done, without the numbers of processes.
func (e *environment) log() (lines []string) {
	content, _ := os.ReadFile(filepath.Join(e.scripts(), "log")) // there is none before the first script
	for line := range strings.Lines(string(content)) {
		words := strings.Fields(line)
		lines = append(lines, strings.Join(words[:min(2, len(words))], " "))
	}
	return lines
}

// checkGone waits for the end of all scripts that have started.
func (e *environment) checkGone() {
	e.t.Helper()
	content, err := os.ReadFile(filepath.Join(e.scripts(), "log"))
	if err != nil {
		e.t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		var project string
		var pid int
		if n, _ := fmt.Sscanf(line, "started %s %d", &project, &pid); n < 2 {
			continue
		}
		for tries := 0; syscall.Kill(pid, 0) == nil; tries++ {
			state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if strings.Contains(string(state), ") Z ") {
				break // it has ended, and nobody has asked how
			}
			if tries > 600 {
				e.t.Fatalf("the program of %s still runs", project)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// The scripts of an owner that does not end before its reader waits, and of the reader.
const (
	owner  = "root; wait waits; register thing; export value; outputs"
	reader = "print a word; root; log another word; touch waits; read owner; pass value; register thing; outputs"

	both = "- {path: owner}\n- {path: reader, reads: owner}\n"
)

func TestStartAhead(t *testing.T) {
	t.Parallel()
	e := newScripts(t, map[string]string{"owner": owner, "reader": reader}, both)
	for _, operation := range []string{"preview", "up"} {
		_ = os.Remove(filepath.Join(e.scripts(), "log"))
		_ = os.Remove(filepath.Join(e.scripts(), "waits"))
		r := e.run(append([]string{operation, "--debug"}, map[string][]string{"up": {"--yes"}}[operation]...)...)
		if r.code != 0 {
			t.Fatalf("%s: exit code %d\n%s\n%s", operation, r.code, r.stdout, r.stderr)
		}
		journal := e.journal()
		begun := strings.Index(journal, `"type":"step.started","project":"reader"`)
		for _, word := range []string{"a word", "another word"} {
			if at := strings.Index(journal, `"`+word+`"`); begun < 0 || at < begun || strings.Count(journal, `"`+word+`"`) != 1 {
				t.Errorf("%s: %q is told at %d, and reader begins at %d\n%s", operation, word, at, begun, journal)
			}
		}
		if operation == "preview" {
			continue
		}
		log := e.log()
		if slices.Index(log, "registered reader") < slices.Index(log, "registered owner") || strings.Count(strings.Join(log, ","), "started reader") != 1 {
			t.Errorf("%q\n%s", log, r.stderr)
		}
		if got := e.run("outputs", "reader"); !strings.Contains(got.stdout, "owner!!") {
			t.Errorf("outputs: %s%s", got.stdout, got.stderr)
		}
	}
	e.checkGone()
}

// TestStartAheadInVain: a program that waits for an owner which fails, or which is interrupted, ends and leaves no trace.
func TestStartAheadInVain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, owner, reader string
		signals             []os.Signal
		code                int
		reason              string // of the reader
	}{
		{"fails", "root; wait waits; fail it has failed", reader, nil, 1, "owner failed"},
		{"a program that asks nothing", "root; wait waits; fail it has failed", "touch waits; forever", nil, 1, "owner failed"},
		{"a program that has printed", "root; wait waits; fail it has failed", "print a word; touch waits; root; read owner", nil, 1, "owner failed"},
		{"Ctrl-C", "root; touch begun; wait waits; wait go; register thing; outputs", reader, []os.Signal{os.Interrupt}, 130, "interrupted"},
		{"Ctrl-C twice", "root; touch begun; wait waits; forever", reader, []os.Signal{os.Interrupt, os.Interrupt}, 130, "interrupted"},
		{"kill", "root; touch begun; wait waits; forever", reader, []os.Signal{syscall.SIGKILL}, -1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newScripts(t, map[string]string{"owner": test.owner, "reader": test.reader}, both)
			cmd := e.command("up", "--yes", "-o", "json")
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if len(test.signals) > 0 {
				waitFor(t, filepath.Join(e.scripts(), "waits"))
				waitFor(t, filepath.Join(e.scripts(), "begun"))
			}
			for i, signal := range test.signals {
				if i > 0 {
					waitUntil(t, func() bool { return strings.Contains(e.journal(), `"run.stopping"`) })
				}
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
			}
			if test.signals != nil && test.signals[0] == os.Interrupt {
				waitUntil(t, func() bool { return strings.Contains(e.journal(), `"run.stopping"`) })
				if err := os.WriteFile(filepath.Join(e.scripts(), "go"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait() // its exit code is compared
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d\n%s%s", code, stdout.String(), stderr.String())
			}
			e.checkGone()
			if log := strings.Join(e.log(), ","); !strings.Contains(log, "started reader") || strings.Contains(log, "registered reader") {
				t.Errorf("the scripts: %s", log)
			}
			for line := range strings.Lines(e.journal()) {
				if strings.Contains(line, `"project":"reader"`) && !strings.Contains(line, `"step.finished"`) {
					t.Errorf("an event: %s", line)
				}
			}
			if test.reason != "" && !strings.Contains(e.journal(), test.reason) {
				t.Errorf("no %q in\n%s", test.reason, e.journal())
			}
			if found, _ := filepath.Glob(filepath.Join(e.root, ".runner/state/.pulumi/stacks/reader/*")); len(found) > 0 {
				t.Errorf("there is a state: %q", found)
			}
		})
	}
}

// journal returns the events of the last run.
func (e *environment) journal() string {
	files, _ := filepath.Glob(filepath.Join(e.root, ".runner/runs/*/events.ndjson")) // the pattern is correct
	if len(files) == 0 {
		return ""
	}
	content, err := os.ReadFile(slices.Max(files))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(content)
}

// waitUntil waits for a condition.
func waitUntil(t *testing.T, is func() bool) {
	t.Helper()
	for range 1200 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("it does not come to that")
}

// TestStartAheadAnew: a program that cannot go on is started anew at its turn, and nobody sees that.
func TestStartAheadAnew(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, owner, reader string }{
		{"it ends before its turn", owner, "once touch waits; once end; " + reader},
		{"it crashes before its turn", owner, "once touch waits; once crash; " + reader},
		{"it fails before its turn", owner, "once touch waits; once fail too early; " + reader},
		{"its files change", "root; wait waits; write ../reader/more text; register thing; export value; outputs", reader},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newScripts(t, map[string]string{"owner": test.owner, "reader": strings.ReplaceAll(test.reader, "once touch waits; once ", "touch waits; once ")}, both)
			r := e.run("up", "--yes")
			journal := e.journal()
			if r.code != 0 || strings.Contains(journal, "too early") || strings.Count(journal, `"a word"`) != 1 {
				t.Fatalf("exit code %d\n%s%s%s", r.code, r.stdout, r.stderr, journal)
			}
			log := strings.Join(e.log(), ",")
			if strings.Count(log, "started reader") != 2 || strings.Count(log, "registered reader") != 1 {
				t.Errorf("the scripts: %s", log)
			}
			e.checkGone()
		})
	}
}

// TestStartAheadLate: some programs start at their turn alone.
func TestStartAheadLate(t *testing.T) {
	t.Parallel()
	quick := "root; register thing; export value; outputs"
	for _, test := range []struct{ name, list, flag string }{
		{"in a rollout", both, "fleet"},
		{"a hook comes before", "- {path: owner}\n- {path: reader, reads: owner, hooks: [{name: h, run: [touch, ../h], on: before}]}\n", ""},
		{"a hook comes between", "- {path: owner, hooks: [{name: h, run: [touch, ../h]}]}\n- {path: reader, reads: owner}\n", ""},
		{"switched off", both, "--start-ahead=0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newScripts(t, map[string]string{"owner": quick, "reader": reader}, test.list)
			args := []string{"up", "--yes"}
			switch {
			case test.flag == "fleet":
				e.write("config/environments/dev.yaml", "values: {}\n")
				args = []string{"fleet", "up", "dev", "--yes"}
			case test.flag != "":
				args = append(args, test.flag)
			}
			if r := e.run(args...); r.code != 0 {
				t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			want := []string{"started owner", "registered owner", "started reader", "read reader", "registered reader"}
			if log := e.log(); !slices.Equal(log, want) {
				t.Errorf("%q", log)
			}
		})
	}
}

// TestStartAheadInOrder: two readers of one owner wait at the same time, and follow the listed order one by one.
func TestStartAheadInOrder(t *testing.T) {
	t.Parallel()
	e := newScripts(t, map[string]string{
		"owner": "root; wait one; wait two; register thing; export value; outputs",
		"a":     "root; touch one; read owner; register thing; outputs",
		"b":     "root; touch two; read owner; register thing; outputs",
	}, "- {path: owner}\n- {path: b, reads: owner}\n- {path: a, reads: owner}\n")
	if r := e.run("up", "--yes", "--parallel", "1", "--start-ahead", "2"); r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	log := slices.DeleteFunc(e.log(), func(line string) bool { return strings.HasPrefix(line, "started ") })
	if want := []string{"registered owner", "read b", "registered b", "read a", "registered a"}; !slices.Equal(log, want) {
		t.Errorf("%q", log)
	}
}

// TestStartAheadOfSkipped: programs whose owner is skipped leave no trace either.
func TestStartAheadOfSkipped(t *testing.T) {
	t.Parallel()
	e := newScripts(t, map[string]string{
		"owner":  "root; wait reader; wait last; fail it has failed",
		"reader": "touch reader; root; read owner; pass value; register thing; outputs",
		"last":   "touch last; print a word; root; read reader; register thing; outputs",
	}, both+"- {path: last, reads: reader}\n")
	if r := e.run("up", "--yes"); r.code != 1 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.checkGone()
	log, journal := strings.Join(e.log(), ","), e.journal()
	for _, project := range []string{"reader", "last"} {
		if strings.Count(log, "started "+project) != 1 || strings.Contains(log, "registered "+project) {
			t.Errorf("the scripts: %s", log)
		}
		if found, _ := filepath.Glob(filepath.Join(e.root, ".runner/state/.pulumi/stacks", project, "*")); len(found) > 0 {
			t.Errorf("there is a state: %q", found)
		}
	}
	if strings.Contains(journal, "a word") {
		t.Errorf("what a program has printed that did not run is told:\n%s", journal)
	}
}

// TestStartAheadOfNothing: a program that never asks its engine for anything runs at its turn, once more.
func TestStartAheadOfNothing(t *testing.T) {
	t.Parallel()
	e := newScripts(t, map[string]string{
		"owner":  "root; wait waits; register thing; export value; outputs; touch go",
		"reader": "touch waits; wait go",
	}, both)
	r := e.run("up", "--yes")
	if log := strings.Join(e.log(), ","); r.code != 0 || strings.Count(log, "started reader") != 2 {
		t.Errorf("exit code %d, the scripts: %s\n%s%s", r.code, log, r.stdout, r.stderr)
	}
	e.checkGone()
}
