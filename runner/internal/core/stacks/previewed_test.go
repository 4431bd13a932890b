package stacks

import "testing"

func TestDigestOfResources(t *testing.T) {
	t.Parallel()
	const first = `{"resources": [{"urn": "u", "inputs": {"a": 1}, "protect": true, "modified": "2026-01-01"}]}`
	want, err := digestOfResources([]byte(first))
	if err != nil || want == "" {
		t.Fatal(want, err)
	}
	for _, test := range []struct {
		name, state string
		same        bool
	}{
		{"the same, at another time", `{"resources":[{"inputs":{"a":1},"protect":true,"urn":"u","modified":"2026-02-02","created":"2026-02-02"}],"manifest":{}}`, true},
		{"no longer protected", `{"resources": [{"urn": "u", "inputs": {"a": 1}}]}`, false},
		{"another input", `{"resources": [{"urn": "u", "inputs": {"a": 2}, "protect": true}]}`, false},
		{"nothing", `{"resources": []}`, false},
	} {
		if got, err := digestOfResources([]byte(test.state)); err != nil || (got == want) != test.same {
			t.Errorf("%s: %s, %v", test.name, got, err)
		}
	}
	if got, err := digestOfResources([]byte(`{}`)); got != "" || err != nil {
		t.Errorf("an empty state: %q, %v", got, err)
	}
}
