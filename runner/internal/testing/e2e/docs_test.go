package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/testing/docs"
)

// TestDocumentation runs the commands that the documentation shows: the blocks of a
// page that share a directory are one script, as a reader types them. What is asked on a
// terminal is answered by variables. The output that a block shows is compared with the real one.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	long(t)
	pages, err := docs.Pages(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for _, s := range sessions(page.Blocks()) {
			t.Run(s.blocks[0].At(), func(t *testing.T) {
				t.Parallel()
				s.run(t)
			})
		}
	}
}

// readerSession is what a reader types in one directory.
type readerSession struct {
	dir, manner string
	blocks      []docs.Block
}

// sessions returns the sessions of a page. A mark names the directory in which a session
// begins, and its options.
func sessions(blocks []docs.Block) []readerSession {
	var all []readerSession
	for _, b := range blocks {
		if begins, ok := strings.CutPrefix(b.Mark, "run in: "); ok {
			dir, manner, _ := strings.Cut(begins, ", ")
			all = append(all, readerSession{dir: dir, manner: manner})
		}
		if strings.HasPrefix(b.Mark, "run") {
			last := &all[len(all)-1]
			last.blocks = append(last.blocks, b)
		}
	}
	return all
}

// readersDirs has what is in the directories that sessions begin in, besides the examples.
var readersDirs = map[string]func(e *environment){
	"empty": func(*environment) {},
	"deployed": func(e *environment) {
		e.write("config/pulumi/environment", "PULUMI_STACK=dev\n")
		e.write("config/pulumi/Pulumi.dev.yaml", "config: {kubernetes:infra_type: kind}\n")
		e.simulate(0, "up", "-s", "dev", "--only", "+certmgr")
	},
	"pipeline": func(e *environment) { // own projects, as e.root has no others
		e.write("mara.yaml", "projects: [{path: shop}]\n")
		e.write("shop/Pulumi.yaml", "name: shop\nruntime: yaml\n")
		for _, name := range []string{"dev", "prod-eu", "prod-us"} {
			e.write("config/environments/"+name+".yaml", "values: {runner: {labels: {name: "+name+"}}}\n")
		}
		e.write("config/rollout.yaml", "waves:\n- {name: first, match: {name: dev}}\n- {name: rest, match: \"name!=dev\"}\n")
	},
	"fleet": func(e *environment) {
		e.write("config/layers/base.yaml", "values:\n  runner: {provider: aws}\n  pulumiConfig: {aws:region: eu-north-1, eks:max_size: 6}\n")
		e.write("config/layers/small.yaml", "imports: [base]\nvalues:\n  runner: {labels: {stage: prod, region: eu}, projects: {skip: [secrets, ingress-controller, logstore, logagent, certmgr, prometheus, observability, bank-of-anthos]}}\n")
		e.write("config/environments/prod-eu-1.yaml", "imports: [small]\nvalues: {pulumiConfig: {eks:max_size: 9}}\n")
		e.write("config/environments/prod-eu-2.yaml", "imports: [small]\n")
		e.write("config/environments/review-1.yaml", "imports: [small]\nvalues: {runner: {labels: {stage: test}, ttl: 8h}}\n")
		e.write("config/rollout.yaml", "waves:\n- {name: test, match: {stage: test}}\n- {name: prod, match: {stage: prod}}\n")
	},
}

// environment makes the directory of a session: one of the above, or a copy of an example.
func (s readerSession) environment(t *testing.T) *environment {
	t.Helper()
	e := emptyEnvironment(t).with("PULUMI_CONFIG_PASSPHRASE=correct horse")
	if fill, ok := readersDirs[s.dir]; ok {
		fill(e)
		return e
	}
	if err := os.CopyFS(e.root, os.DirFS(filepath.Join("..", "..", "..", "..", "examples", s.dir))); err != nil {
		t.Fatalf("%s: %v", s.blocks[0].At(), err)
	}
	switch s.dir {
	case "existing":
		e.env = append(e.env, "PULUMI_BACKEND_URL=file://state")
	case "mixed":
		if _, err := exec.LookPath("go"); err != nil {
			t.Skip("Go is not installed, which runs the project banner")
		}
		e.useGo()
	}
	return e
}

func (s readerSession) run(t *testing.T) {
	t.Helper()
	e := s.environment(t)
	e.env = append(e.env, "RUNNER_YES=true", "RUNNER_GENERATE_SECRETS=true", "PULUMI_SKIP_CONFIRMATIONS=true",
		"PATH="+filepath.Dir(program(t, "runner"))+string(os.PathListSeparator)+os.Getenv("PATH"))
	switch s.manner {
	case "simulated":
		e.env = append(e.env, "RUNNER_SIMULATE=true", "RUNNER_SIMULATE_SPEED=100000")
	case "shared":
		e.env = append(e.env, "PULUMI_BACKEND_URL=gs://acme-environments/state")
	case "":
	default:
		t.Fatalf("%s: a session is run simulated, shared or as it is, not %q", s.blocks[0].At(), s.manner)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", s.script())
	cmd.Dir = e.root
	cmd.Env = append([]string{"HOME=" + e.home, "TMPDIR=" + e.temp}, e.env...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v, after\n%s", err, lastLines(string(output)))
	}
	if found := ofYAMLHost.FindString(string(output)); found != "" {
		t.Errorf("%s: the program of the page is warned of: %s", s.blocks[0].At(), found)
	}
	for _, b := range s.blocks {
		if b.Language == "console" {
			checkShown(t, b, string(output))
		}
	}
}

// ofYAMLHost matches a warning of the YAML host, which names the place in the program.
var ofYAMLHost = regexp.MustCompile(`.*(Pulumi|Main)\.yaml:\d+:\d+: .*|.*does not exist on Object '.*`)

// script returns all commands of a session; before each block it prints the block's place.
func (s readerSession) script() string {
	var script strings.Builder
	for _, b := range s.blocks {
		fmt.Fprintf(&script, "echo '== %s'\n%s\n", b.At(), strings.Join(b.Typed(), "\n"))
	}
	return script.String()
}

// changing is what differs from run to run.
var changing = regexp.MustCompile(`\d+\.\d+s|\s+`)

// checkShown looks whether the output that a block shows came, line by line, in any
// order: projects end as they like.
func checkShown(t *testing.T, b docs.Block, output string) {
	t.Helper()
	same := func(line string) string {
		return changing.ReplaceAllStringFunc(strings.TrimSpace(line), func(found string) string {
			if strings.TrimSpace(found) == "" {
				return " "
			}
			return "TIME"
		})
	}
	var came []string
	for line := range strings.Lines(output) {
		came = append(came, same(line))
	}
	for _, line := range b.Lines {
		if !strings.HasPrefix(line, "$ ") && !slices.Contains(came, same(line)) {
			t.Errorf("%s shows %q, which never came:\n%s", b.At(), line, output)
		}
	}
}
