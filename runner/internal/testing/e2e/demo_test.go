package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestDemo runs the demo for a user whose environment points at real places. It is quick, and leaves nothing behind.
func TestDemo(t *testing.T) {
	t.Parallel()
	long(t)
	work := demo(t, nil, []string{
		`shop.* FAILED`, `prices\.txt`, `\$ echo 'a book costs 12' > shop/prices\.txt`, `\n  runner up -s dev --resume `,
		`up succeeded in .*: 1 succeeded`, `url +https://www\.books\.example/`, `destroy succeeded in .*3 succeeded`,
		`Done in .*The files of the demo were removed`, `\n  runner adopt `,
	})
	if work > 20*time.Second {
		t.Errorf("it took %s of processor time", work)
	}
}

// TestDemoKubernetes shows an environment of the built-in projects in the same way.
func TestDemoKubernetes(t *testing.T) {
	t.Parallel()
	long(t)
	work := demo(t, []string{"kubernetes"}, []string{
		`KIC Image Push \(kic-image-push\): FAILED`, `the registry answers 503`, `ingress-controller +skipped +- +- +- +kic-image-push failed`,
		`up succeeded in .*\[SIMULATED\]`, `destroy succeeded in .*14 succeeded`, `\nhttps?://`, `The files of the demo were removed`,
	})
	// On a busy machine waiting says nothing; the simulated clouds take 15 s.
	if work > 45*time.Second {
		t.Errorf("it took %s of processor time", work)
	}
}

// demo runs the demo, and returns its processor time.
func demo(t *testing.T, flags, wants []string) time.Duration {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_BACKEND_URL=s3://no-such-bucket", "RUNNER_PROVIDER=aws")
	command := e.command(append([]string{"demo"}, flags...)...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, lastLines(stdout.String()), stderr.String())
	}
	for _, want := range wants {
		if !regexp.MustCompile(want).MatchString(stdout.String()) {
			t.Errorf("it does not say %q:\n%s", want, stdout.String())
		}
	}
	if strings.Contains(stderr.String(), "error:") {
		t.Errorf("stderr: %s", stderr.String())
	}
	if strings.Contains(stdout.String(), e.temp) {
		t.Errorf("it names files that it has removed:\n%s", stdout.String())
	}
	for _, dir := range []string{e.temp, e.home} {
		if left := filesIn(t, dir); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}
