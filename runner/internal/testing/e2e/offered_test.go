package e2e

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// offered finds commands to copy: in pages and reports, and in what commands print.
var offered = regexp.MustCompile(`data-copy="(runner [^"]+)"|<code[^>]*>(runner [^<]+)</code>|(?m:^  (runner [a-z].*)$)|` + "`(runner [^`]+)`")

// TestOfferedCommandsWork runs every command that pages, reports and the ends of runs offer, as it stands, where it is offered: in a fleet
// with an environment that has failed, one that has changed and one that never ran. A command that cannot be used is worse than none.
func TestOfferedCommandsWork(t *testing.T) {
	t.Parallel()
	long(t)
	e := newOwnFleet(t, inDirectory(t))
	e.env = append(e.env, "RUNNER_YES=true")
	e.said(0, "3 succeeded", "fleet", "up", "--all")
	e.said(0, "", "destroy", "-s", "prod-eu", "--remove-stacks")
	e.version("two")
	e.write("broken", "")
	text := ""
	for _, args := range [][]string{{"up", "-s", "test-eu"}, {"preview", "-s", "test-us"}, {"status", "-s", "test-eu"}, {"fleet", "status", "--why"}, {"fleet", "plan"}, {"history"}, {}} {
		r := e.run(args...)
		text += r.stdout + r.stderr + "\n"
	}
	e.succeed("web", "--export", "site")
	for _, directory := range []string{"site", ".runner/runs"} {
		err := filepath.WalkDir(filepath.Join(e.root, directory), func(path string, entry os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".html" {
				return err
			}
			content, err := os.ReadFile(path)
			text += string(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var commands []string
	for _, found := range offered.FindAllStringSubmatch(text, -1) {
		line, _, _ := strings.Cut(html.UnescapeString(strings.Join(found[1:], "")), "  #")
		line = strings.TrimSpace(line)
		if line == "runner web --export" { // the name of what wrote the page, at its foot
			continue
		}
		if !slices.Contains(commands, line) && !strings.ContainsAny(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") { // NAME has to be replaced
			commands = append(commands, line)
		}
	}
	if len(commands) < 8 {
		t.Errorf("only %q are offered: the test does not find them", commands)
	}
	e.write("policies/policies.yaml", "use: [open-ranges]\n") // the page of rules is about these
	for _, line := range commands {
		words := strings.Fields(line)[1:]
		if words[0] == "web" { // serves until it is stopped
			words = append(words, "--help")
		}
		if r := e.run(words...); r.code != 0 && r.code != 1 && r.code != 5 {
			t.Errorf("%s: exit code %d\n%s%s", line, r.code, r.stdout, r.stderr)
		}
	}
}
