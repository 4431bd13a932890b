package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestStartIsLean: every worker pays for what the packages it links do before
// main. What they allocate tells it without a clock: 21 MB, and 37 MB more with
// the lists of words that package zxcvbn is without.
func TestStartIsLean(t *testing.T) {
	t.Parallel()
	const most = 32 << 20
	process := exec.Command(self(t), workerFlag)
	process.Env = []string{"GODEBUG=inittrace=1"}
	trace, _ := process.CombinedOutput() // without pipes it ends at once
	sum, large := 0, []string{}
	for line := range strings.Lines(string(trace)) {
		// init PACKAGE @1.2 ms, 0.3 ms clock, 4567 bytes, 89 allocs
		words := strings.Fields(line)
		if len(words) != 11 || words[0] != "init" {
			continue
		}
		bytes, err := strconv.Atoi(words[7])
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		sum += bytes
		if bytes > 1<<20 {
			large = append(large, fmt.Sprintf("%s: %d bytes", words[1], bytes))
		}
	}
	if len(large) == 0 || sum > most {
		t.Errorf("packages allocate %d bytes before main, at most %d are wanted; the largest:\n%s", sum, most, strings.Join(large, "\n"))
	}
}

// TestSecretInTheOpen: Pulumi refuses to write down plainly what looks like a
// secret; this is what it asks package zxcvbn for.
func TestSecretInTheOpen(t *testing.T) {
	t.Parallel()
	w := startWorker(t)
	p := newProject(t, w)
	for _, test := range []struct {
		name, key, value string
		flags            []string
		refused          bool
	}{
		{"a password", "password", "Tr0ub4dor&3-Xk9", nil, true},
		{"a token of digits and letters", "apiToken", "8f3b1c9d7e2a4f60", nil, true},
		{"words, which Pulumi's own would let pass", "password", "passwordpassword", nil, true},
		{"a short value", "passwordLength", "16", nil, false},
		{"nothing", "password", "", nil, false},
		{"a key that is no secret's", "region", "Tr0ub4dor&3-Xk9", nil, false},
		{"said to be none", "password", "Tr0ub4dor&3-Xk9", []string{"--plaintext"}, false},
	} {
		args := append([]string{"config", "set", "--stack", "dev"}, test.flags...)
		got := w.do(p.request(append(args, "--", test.key, test.value)...))
		refused := got.code != 0 && strings.Contains(got.stderr, "looks like a secret")
		if refused != test.refused || !refused && got.code != 0 {
			t.Errorf("%s: got %+v, want refused: %t", test.name, got, test.refused)
		}
	}
}
