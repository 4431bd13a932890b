package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"mara/runner/internal/core/layers"
)

// doubling returns values that each have the one before twice. The format gets the name
// of the one before twice.
func doubling(name string, n int, format string) string {
	var b strings.Builder
	for i := range n {
		before := fmt.Sprintf("${%s%d}", name, i)
		fmt.Fprintf(&b, "  %s%d: "+format+"\n", name, i+1, before, before)
	}
	return b.String()
}

// TestSize: values that would grow beyond all memory are refused before they are
// evaluated, in whatever form and file; many references that are harmless are not.
func TestSize(t *testing.T) {
	t.Parallel()
	const grows = "grows beyond 1 MiB"
	var harmless strings.Builder
	for i := range 60 {
		fmt.Fprintf(&harmless, "    \"a:k%d\": ${base.name}-${base[\"zone\"]}\n", i)
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"of a layer", map[string]string{
			"environments/dev": "imports: [base]\nvalues: {}\n",
			"layers/base":      "values:\n  l0: xxxxxxxxxx\n" + doubling("l", 40, `"%s%s"`),
		}, "config/layers/base.yaml:18: l16 " + grows},
		{"of the environment", map[string]string{
			"environments/dev": "values:\n  l0: xxxxxxxxxx\n" + doubling("l", 40, `"%s%s"`),
		}, grows},
		{"over two files", map[string]string{
			"environments/dev": "imports: [base]\nvalues:\n  m0: ${l15}\n" + doubling("m", 25, `"%s%s"`),
			"layers/base":      "values:\n  l0: xxxxxxxxxx\n" + doubling("l", 15, `"%s%s"`),
		}, grows},
		{"of maps", map[string]string{
			"environments/dev": "values:\n  l0: {a: xxxxxxxxxx}\n" + doubling("l", 40, `{a: "%s", b: "%s"}`),
		}, grows},
		{"of functions", map[string]string{
			"environments/dev": "values:\n  l0: xxxxxxxxxx\n" + doubling("l", 40, `{"fn::join": [",", ["%s", "%s"]]}`),
		}, grows},
		{"many harmless ones", map[string]string{
			"environments/dev": "imports: [base]\nvalues:\n  pulumiConfig:\n" + harmless.String(),
			"layers/base":      "values:\n  base: {name: x, zone: y}\n",
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := layers.Read(write(t, test.files), "dev")
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
