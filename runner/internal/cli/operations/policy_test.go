package operations

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/plan"
)

func TestParseTimeout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]timeout{
		"30m":        {Limit: 30 * time.Minute},
		"eks=1h":     {Term: "eks", Limit: time.Hour},
		"+eks=90s":   {Term: "+eks", Limit: 90 * time.Second},
		"a b=1500ms": {Term: "a b", Limit: 1500 * time.Millisecond},
	} {
		if got, err := parseTimeout(text); got != want || err != nil {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "soon", "0s", "-1s", "=1m", "eks=", "eks=0s", "30"} {
		if got, err := parseTimeout(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	kind, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	o := policyOptions{Timeouts: []timeout{{"", time.Minute}, {"log*", time.Hour}, {"logagent", 2 * time.Hour}}}
	all, single, err := o.timeouts(p)
	want := map[string]time.Duration{"logstore": time.Hour, "logagent": 2 * time.Hour}
	if diff := cmp.Diff(want, single); diff != "" || all != time.Minute || err != nil {
		t.Errorf("%s, %v\n%s", all, err, diff)
	}
}

func TestRetryUnderSimulation(t *testing.T) {
	t.Parallel()
	o := policyOptions{Retry: 3}
	if got := o.retry(request.Simulation{}, 0); got.Max != 3 || got.Backoff != firstWait || got.Transient == nil {
		t.Errorf("got %+v", got)
	}
	if got := o.retry(request.Simulation{On: true, Speed: 1000}, 0); got.Backoff != firstWait/1000 {
		t.Errorf("simulated: the first wait is %s", got.Backoff)
	}
}

func TestIDsOf(t *testing.T) {
	t.Parallel()
	pending := []stacks.Pending{
		{URN: "urn:a", Resource: "aws:ec2/vpc:Vpc main", Action: "creating"},
		{URN: "urn:b", Resource: "aws:ec2/vpc:Vpc other", Action: "updating"},
	}
	for _, test := range []struct {
		in   string
		want map[string]string
		err  string
	}{
		{"main=vpc-1", map[string]string{"urn:a": "vpc-1"}, ""},
		{"urn:a=x=y", map[string]string{"urn:a": "x=y"}, ""},
		{"mian=vpc-1", nil, `--import: no creation of "mian" was cut off; did you mean "main"?`},
		{"other=vpc-1", nil, `--import: no creation of "other" was cut off`},
		{"main", nil, `--import: "main" is not NAME=ID`},
		{"main=", nil, `--import: "main=" is not NAME=ID`},
	} {
		got, err := idsOf([]string{test.in}, pending)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" || text != test.err {
			t.Errorf("%q: %q\n%s", test.in, text, diff)
		}
	}
}

func TestSelectionWords(t *testing.T) {
	t.Parallel()
	o := selectionOptions{Selection: plan.Selection{Only: []string{"a", "b+"}, Until: []string{"c"}}, Resume: true}
	if diff := cmp.Diff([]string{"--only a", "--only b+", "--until c", "--resume"}, o.words()); diff != "" {
		t.Error(diff)
	}
}
