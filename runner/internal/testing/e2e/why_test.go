package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// TestWhy changes a file, a key and a variable of the example, and each is named for the projects that it concerns. Then
// it removes what mara.yaml says of references, and has the runner learn it from a preview.
func TestWhy(t *testing.T) {
	t.Parallel()
	long(t)
	e := example(t, "own")
	reasons := func(args ...string) string {
		t.Helper()
		r := e.run(append(args, "-s", "dev", "--why")...)
		if r.code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
		return regexp.MustCompile(`(?s)\nWhy\n.*?\n\n`).FindString(r.stdout)
	}
	has := func(got string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			if !strings.Contains(got, line) {
				t.Errorf("no %q in%s", line, got)
			}
		}
	}
	has(reasons("up", "--yes", "--generate-secrets"), "shop-network: no success is recorded here\n")
	has(reasons("up", "--yes"), "shop-network: skipped: unchanged since ", "shop: a hook that has to run\n")
	e.edit("shop/Pulumi.yaml", "size of the shop", "how large it is")
	if r := e.run("config", "set", "shop-network:domain", "other.example", "-s", "dev"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	has(reasons("preview"), "shop-network: the key shop-network:domain\n", "the file shop/Pulumi.yaml\n")
	has(reasons("up", "--yes"), "shop-database: the key shop-network:domain; the output domain of shop-network\n")
	e.env = append(e.env, "STAGE_OF_THE_DAY=late")
	has(reasons("preview"), "shop-database: the environment variable STAGE_OF_THE_DAY\n")
	e.edit("mara.yaml", "hooks:\n  - {name: notify", "fingerprint: {ignore: [STAGE_*]}\nhooks:\n  - {name: notify")
	has(reasons("up", "--yes"), "shop-network: skipped: unchanged since ")

	e.edit("mara.yaml", "    reads: [shop-network, shop-database]\n", "")
	if r := e.run("preview", "-s", "dev"); r.code != 0 || !strings.Contains(r.stdout, "run `runner plan --learn`") {
		t.Errorf("preview: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r := e.run("plan", "--learn")
	has(r.stdout, "shop reads shop-network: seen in the preview of dev, run ", "shop reads shop-database: seen in")
	if r := e.run("preview", "-s", "dev"); r.code != 0 || strings.Contains(r.stdout, "does not declare") {
		t.Errorf("preview of what was learned: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
