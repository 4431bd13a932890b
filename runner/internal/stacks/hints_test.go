package stacks

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/operation"
	"mara/runner/internal/event"
)

// TestHints holds what clouds, clusters and tools really say against the list.
func TestHints(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for text, want := range map[string]string{
		"operation error STS: GetCallerIdentity, ExpiredToken: The security token included in the request is expired": "expired credentials",
		"no valid credential sources for found: failed to refresh cached credentials":                                 "no credentials",
		"[401] Invalid Token": "no credentials",
		"AccessDenied: User: arn:aws:iam::1:user/x is not authorized to perform: iam:CreateRole":                                     "not allowed",
		"creating EIP: AddressLimitExceeded: The maximum number of addresses has been reached":                                       "quota",
		"[400] Account Limit reached. Please open a support ticket.":                                                                 "quota",
		"UnsupportedAvailabilityZoneException: Cannot create cluster because us-east-1e does not currently have sufficient capacity": "no capacity",
		"EntityAlreadyExists: Role with name x already exists.":                                                                      "taken name",
		"cannot re-use a name that is still in use":                                                                                  "taken name",
		"another operation (install/upgrade/rollback) is in progress":                                                                "pending release",
		`Back-off pulling image "x:y": ImagePullBackOff`:                                                                             "image pull",
		"0/3 nodes are available: 3 Insufficient cpu":                                                                                "no room",
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?":                          "docker",
		"failed to save snapshot: write /x/dev.json: no space left on device":                                                        "full disk",
		"open /x/dev.json: read-only file system":                                                                                    "read-only disk",
		"configured Kubernetes cluster is unreachable: dial tcp: lookup x.eks.amazonaws.com: no such host":                           "unreachable cluster",
		"dial tcp: lookup api.linode.com: no such host":                                                                              "no such host",
		"the engine process ended in the middle of the operation: signal: killed":                                                    "cut off",
		"a chart that nobody has ever seen":                                                                                          "",
	} {
		got := ""
		var hinted *HintedError
		if errors.As(withHint(errors.New(text), ""), &hinted) {
			for _, hint := range Hints() {
				if hint.Advice == hinted.NextStep() {
					got = hint.Name
				}
			}
		}
		if got != want {
			t.Errorf("%s: got the hint %q, want %q", text, got, want)
		}
		met[want] = true
	}
	for _, hint := range Hints() {
		if !met[hint.Name] {
			t.Errorf("the hint %q is never met", hint.Name)
		}
	}
}

// TestHintOfAFailedOperation looks at the diagnostics, too.
func TestHintOfAFailedOperation(t *testing.T) {
	t.Parallel()
	e := open(t, []string{"vpc"}, call{args: "up", err: failed(), events: []apitype.EngineEvent{
		diagnostic("error", "creating: nothing in particular", ""), diagnostic("error", "AddressLimitExceeded", ""),
	}})
	_, err := e.Operate(t.Context(), operation.Up, step("vpc"), func(event.Event) {})
	var hinted *HintedError
	if !errors.As(err, &hinted) || hinted.Error() != "creating: nothing in particular" {
		t.Errorf("got %v, want it with a hint", err)
	}
	gone := &UnreachableError{Err: errors.New("configured Kubernetes cluster is unreachable")}
	if err := withHint(gone, ""); !errors.Is(err, gone) || errors.As(err, &hinted) {
		t.Errorf("an error that knows better got a hint: %v", err)
	}
}
