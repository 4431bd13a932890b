package stacks

import (
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/failure"
)

// TestAdvice holds what clouds, clusters and tools really say against the table.
func TestAdvice(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for text, want := range map[string]string{
		"operation error STS: GetCallerIdentity, ExpiredToken: The security token included in the request is expired": "expired credentials",
		"no valid credential sources for found: failed to refresh cached credentials":                                 "no credentials",
		"[401] Invalid Token": "refused credentials",
		"pre-step event returned an error: failed to save snapshot: [403] the lease has expired":               "lost update",
		"failed to complete update: [409] The update has already been cancelled.":                              "lost update",
		"getting stack: unmarshalling response object: invalid character 'u' looking for beginning of value":   "not understood",
		"this command requires logging in; try running `pulumi login` first":                                   "not logged in",
		"creating LkeCluster: [403] Your OAuth token is not authorized to use this endpoint.":                  "not allowed",
		"[400] [label] Label must be unique among your LKE clusters":                                           "taken name",
		"[400] [k8s_version] k8s_version is not valid":                                                         "unknown Kubernetes version",
		"POST https://api.digitalocean.com/v2/kubernetes/clusters: 422 validation error: invalid version slug": "unknown Kubernetes version",
		"[500] Internal Server Error": "server error",
		"AccessDenied: User: arn:aws:iam::1:user/x is not authorized to perform: iam:CreateRole":                                     "not allowed",
		"creating EIP: AddressLimitExceeded: The maximum number of addresses has been reached":                                       "quota",
		"InvalidParameterException: Unsupported Kubernetes minor version update from 1.33 to 1.36":                                   "skipped Kubernetes version",
		"Unable to upgrade cluster version: POST https://api.digitalocean.com/v2/x/upgrade: 422 invalid upgrade path":                "skipped Kubernetes version",
		"[400] [k8s_version] a cluster is upgraded from 1.33 to the next minor version, not to 1.35":                                 "skipped Kubernetes version",
		"[400] Account Limit reached. Please open a support ticket.":                                                                 "quota",
		"UnsupportedAvailabilityZoneException: Cannot create cluster because us-east-1e does not currently have sufficient capacity": "no capacity",
		"EntityAlreadyExists: Role with name x already exists.":                                                                      "taken name",
		"cannot re-use a name that is still in use":                                                                                  "taken name",
		"another operation (install/upgrade/rollback) is in progress":                                                                "conflict",
		`Back-off pulling image "x:y": ImagePullBackOff`:                                                                             "image pull",
		"0/3 nodes are available: 3 Insufficient cpu":                                                                                "no room",
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?":                          "docker",
		"fork/exec /bin/node: too many open files":                                                                                   "few files",
		"pipe2: too many open files":                                                                                                 "few files",
		"unable to open state directory \"file:///x/.runner/state\": stat /x/.runner/state: permission denied":                       "states of others",
		"failed to save snapshot: write /x/dev.json: no space left on device":                                                        "full disk",
		"open /x/dev.json: read-only file system":                                                                                    "read-only disk",
		"configured Kubernetes cluster is unreachable: dial tcp: lookup x.eks.amazonaws.com: no such host":                           "unreachable cluster",
		"can't delete Helm Release with unreachable cluster. Reason: \"no such host\"":                                               "unreachable cluster",
		"failed to read resource state due to unreachable cluster":                                                                   "unreachable cluster",
		"Kubernetes cluster unreachable: Get \"https://x\": EOF":                                                                     "unreachable cluster",
		"values don't meet the specifications of the schema(s) in the following chart(s):\nnginx-ingress:\nfailing loading \"https://raw.githubusercontent.com/nginxinc/kubernetes-json-schema/master/v1.36.1/_definitions.json\": HTTP request failed for x: Get \"x\": dial tcp: lookup raw.githubusercontent.com: no such host": "chart's schema",
		"no resource plugin 'pulumi-resource-aws' found in the workspace at version v6.1.0 or on your $PATH":                                                                                               "missing plugin",
		"the plugin pulumi-resource-aws is not installed and could not be downloaded":                                                                                                                      "missing plugin",
		"looks like \"https://charts.jetstack.io\" is not a valid chart repository or cannot be reached: Get \"https://charts.jetstack.io/index.yaml\": dial tcp: lookup charts.jetstack.io: no such host": "missing chart",
		"failed to download \"oci://ghcr.io/nginx/charts/nginx-ingress\" at version \"2.6.1\"":                                                                                                             "missing chart",
		"chart \"prometheus\" version \"99.0.0\" not found in https://prometheus-community.github.io/helm-charts repository":                                                                               "missing chart",
		"dial tcp: lookup api.linode.com: no such host":                                                                                                                                                    "no such host",
		"the engine process ended in the middle of the operation: signal: killed":                                                                                                                          "cut off",
		"error reading from server: EOF": "cut off",
		"a chart that does not exist":    "",
	} {
		d, ok := diagnose(text, advised)
		if d.kind != want || ok != (want != "") {
			t.Errorf("%s: diagnosed as %q, want %q", text, d.kind, want)
		}
		var advised *failure.Advised
		if errors.As(withAdvice(errors.New(text), ""), &advised) != ok || ok && advised.NextStep() != d.advice {
			t.Errorf("%s: the advice is %v", text, advised)
		}
		met[want] = true
	}
	for _, d := range diagnoses() {
		if advised(d) && !met[d.kind] {
			t.Errorf("the advice on %q is never met", d.kind)
		}
	}
}

// TestAdviceOnAFailedOperation looks at the diagnostics, too.
func TestAdviceOnAFailedOperation(t *testing.T) {
	t.Parallel()
	e := open(t, []string{"vpc"}, call{args: "up", err: failed(), events: []apitype.EngineEvent{
		diagnostic("error", "creating: nothing in particular", ""), diagnostic("error", "AddressLimitExceeded", ""),
	}})
	_, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {})
	var advised *failure.Advised
	if !errors.As(err, &advised) || advised.Error() != "creating: nothing in particular" {
		t.Errorf("got %v, want it with advice", err)
	}
	own := failure.Advise(errors.New("configured Kubernetes cluster is unreachable"), "wait")
	if err := withAdvice(own, ""); !errors.As(err, &advised) || advised != own {
		t.Errorf("an error with advice of its own got another: %v", err)
	}
}

func TestTransientErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ThrottlingException: Rate exceeded":                                      "throttling",
		"[429] Too Many Requests":                                                 "throttling",
		"RequestLimitExceeded: Request limit exceeded.":                           "throttling",
		"pulumi service: request rate-limit exceeded":                             "throttling",
		"client rate limiter Wait returned an error: rate limit":                  "throttling",
		"dial tcp 10.0.0.1:443: i/o timeout":                                      "timeout",
		"net/http: TLS handshake timeout":                                         "timeout",
		"context deadline exceeded":                                               "timeout",
		"etcdserver: request timed out":                                           "timeout",
		"Operation cannot be fulfilled on x: the object has been modified; apply": "conflict",
		"ConflictException: a policy is already being updated":                    "conflict",
		"another operation (install/upgrade/rollback) is in progress":             "conflict",
		"read tcp 10.0.0.1: read: connection reset by peer":                       "connection",
		"dial tcp 10.0.0.1:6443: connect: connection refused":                     "connection",
		"unexpected EOF": "connection",
		"the server is currently unable to handle the request: 503 Service Unavailable": "connection",
		"[503] Service Unavailable":                  "connection",
		"[502] Bad Gateway":                          "connection",
		"[503]":                                      "connection",
		"[500] Internal Server Error":                "server error",
		"AccessDenied: not authorized":               "",
		"chart \"x\" version \"429000\" not found":   "",
		"InvalidParameterValue: subnet 10.50.0.0/16": "",
		"BucketAlreadyExists: the name is taken":     "",
		"namespaces \"x\" already exists":            "",
		"failed to create 5042 pods":                 "",
	} {
		if d, ok := diagnose(text, isTransient); d.kind != want || ok != (want != "") {
			t.Errorf("%q: got %q, want %q", text, d.kind, want)
		}
	}
}

func TestTransientOnlyIfEverythingIs(t *testing.T) {
	t.Parallel()
	cause := errors.New("up failed")
	for _, test := range []struct {
		name        string
		diagnostics []string
		want        bool
	}{
		{"nothing is known", nil, false},
		{"a transient one", []string{"connection reset by peer"}, true},
		{"two transient ones", []string{"connection reset by peer", "Rate exceeded"}, true},
		{"one that is not", []string{"connection reset by peer", "AccessDenied"}, false},
	} {
		err := ifTransient(cause, test.diagnostics)
		if Transient(err) != test.want || !errors.Is(err, cause) {
			t.Errorf("%s: got %v (transient %v)", test.name, err, Transient(err))
		}
	}
	if got := ifTransient(cause, []string{"i/o timeout", "Rate exceeded"}).Error(); got != "up failed (timeout)" {
		t.Errorf("the error reads %q", got)
	}
}

func TestTransientKinds(t *testing.T) {
	t.Parallel()
	if got := strings.Join(TransientKinds(), ", "); got != "throttling, timeout, conflict, connection, server error" {
		t.Error(got)
	}
}
