package operate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/stacks"
)

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
	o := Execution{Timeouts: []Timeout{{"", time.Minute}, {"log*", time.Hour}, {"logagent", 2 * time.Hour}}}
	all, single, err := o.limits(p)
	want := map[string]time.Duration{"logstore": time.Hour, "logagent": 2 * time.Hour}
	if diff := cmp.Diff(want, single); diff != "" || all != time.Minute || err != nil {
		t.Errorf("%s, %v\n%s", all, err, diff)
	}
}

func TestRetryUnderSimulation(t *testing.T) {
	t.Parallel()
	o := Execution{Retry: 3}
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
		{URN: "urn:c", Resource: "aws:ec2/subnet:Subnet both", Action: "creating"},
		{URN: "urn:d", Resource: "aws:ec2/routeTable:RouteTable both", Action: "creating"},
	}
	for _, test := range []struct {
		in   string
		want map[string]string
		err  string
	}{
		{"main=vpc-1", map[string]string{"urn:a": "vpc-1"}, ""},
		{"urn:a=x=y", map[string]string{"urn:a": "x=y"}, ""},
		{"urn:c=subnet-1", map[string]string{"urn:c": "subnet-1"}, ""},
		{"both=x", nil, "--import: several creations of \"both\" were cut off; give a URN, one of\nurn:c\nurn:d"},
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
	r := Request{Rest: Rest{Resume: true}}
	r.Selection = plan.Selection{Only: []string{"a", "b+"}, Until: []string{"c"}}
	if diff := cmp.Diff([]string{"--only a", "--only b+", "--until c", "--resume"}, r.Words()); diff != "" {
		t.Error(diff)
	}
}
