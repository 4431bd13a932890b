package statefiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMisread: a state that this Pulumi does not understand is named with its stack, whichever stack it is.
func TestMisread(t *testing.T) {
	t.Parallel()
	const resource = `"urn":"urn:pulumi:dev::net::pulumi:pulumi:Stack::net-dev","type":"pulumi:pulumi:Stack"`
	for name, test := range map[string]struct{ content, want string }{
		"a good one":        {`{"version":3,"checkpoint":{"latest":{"resources":[{` + resource + `}]}}}`, ""},
		"an old one":        {`{"version":1,"checkpoint":{}}`, ""},
		"cut off":           {`{"version":3,"check`, ""}, // another error says so
		"of a newer Pulumi": {`{"version":99,"checkpoint":{}}`, "the state of net in the stack prod: it has version 99"},
		"a text for a bool": {`{"version":3,"checkpoint":{"latest":{"resources":[{` + resource + `,"protect":"true"}]}}}`,
			`"latest.resources.protect" is a JSON string`},
		"a list for all": {`[]`, "is a JSON array"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states := Directory{Path: t.TempDir(), Stack: "dev"}
			path := filepath.Join(states.files().Stacks(), "net", "prod.json")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{path, path + ".bak"} {
				if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := states.Misread()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
