package session

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/event"
)

// echo is an engine of which every command goes well.
type echo struct{ engine }

func (echo) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int, error) {
	return "", "", 0, nil
}

func (echo) Unlock(context.Context, string, string) error { return nil }

func TestDebug(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	now := func() time.Time { return time.Unix(0, 0) }
	log := newLog(Deps{Stderr: &said}, true, event.NewMasker(`swordfish "9"`))
	e := logged{echo{}, log, now}
	_, _, _, _ = e.Run(t.Context(), "/work/aws-vpc", nil, nil, nil, []string{"PULUMI_CONFIG_PASSPHRASE=tell-nobody"}, "stack", "output", `--of=swordfish "9"`)
	_ = e.Unlock(t.Context(), "tell-nobody", "v1:salt")
	want := `level=DEBUG msg="pulumi begins" args="stack output --of=[secret]" dir=/work/aws-vpc
level=DEBUG msg="pulumi ended" command="stack output" project=aws-vpc exit=0 took=0s
level=DEBUG msg="key derived" took=0s error=<nil>
`
	if got := regexp.MustCompile(`(?m)^time=\S+ `).ReplaceAllString(said.String(), ""); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestNoDebug(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	newLog(Deps{Stderr: &said}, false, event.NewMasker()).Debug("something")
	if said.Len() > 0 {
		t.Errorf("said %q", &said)
	}
}
