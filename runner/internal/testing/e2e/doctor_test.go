package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/feature/doctor/preflight"
)

// findings runs the doctor and returns what it found, by check. It writes nothing
// but that.
func (e *environment) findings(args ...string) (found map[string]preflight.Result, code int) {
	e.t.Helper()
	r := e.run(append([]string{"doctor", "-o", "json"}, args...)...)
	var document preflight.Document
	if err := json.Unmarshal([]byte(r.stdout), &document); err != nil || r.stderr != "" {
		e.t.Fatalf("exit code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	found = map[string]preflight.Result{}
	for _, check := range document.Checks {
		found[check.Name] = check
	}
	return found, r.code
}

// TestDoctorOfASimulation finds nothing wrong before and after an up, changes
// nothing, and needs nothing of this machine.
func TestDoctorOfASimulation(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	found, code := e.findings("-p", "kind", "--simulate")
	if _, err := os.Stat(filepath.Join(e.root, ".runner")); code != 0 || err == nil {
		t.Errorf("exit code %d, %v: %v", code, err, found)
	}
	e.simulate(0, "up", "-p", "kind", "--only", "kind-cluster")
	found, code = e.findings("-p", "kind", "--simulate")
	backend := found["backend"].Findings
	if code != 0 || len(backend) != 1 || !strings.Contains(backend[0].Text, "1 of 14 projects is deployed") {
		t.Errorf("exit code %d: %v", code, found)
	}
	for _, name := range []string{"docker", "plugins", "passphrase", "kind-runtime"} {
		if _, looked := found[name]; looked {
			t.Errorf("a simulation needs no %s", name)
		}
	}
}

// TestDoctorAsksTheCloud whose credentials these are. Whatever the cloud says,
// there is one sentence about it, with a remedy; one in trouble is no reason to
// call credentials bad.
func TestDoctorAsksTheCloud(t *testing.T) {
	t.Parallel()
	long(t)
	refuse := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", map[bool]string{true: "application/json", false: "text/xml"}[body[0] == '{'])
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	awsError := func(code, message string) string {
		return fmt.Sprintf("<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>", code, message)
	}
	silent := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
		<-r.Context().Done()
	}
	for _, tt := range []struct {
		provider, name string
		handler        http.HandlerFunc // nil for the usual stand-in
		status         preflight.Status
		text, remedy   string // how they begin
	}{
		{"aws", "good", nil, preflight.OK, "account 123456789012 as arn:aws:iam::123456789012:user/ann", ""},
		{"aws", "bad credentials", refuse(403, awsError("InvalidClientTokenId", "no such key")), preflight.Problem,
			"AWS refuses: no such key (InvalidClientTokenId)", "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{"aws", "throttled", refuse(400, awsError("Throttling", "Rate exceeded")), preflight.Warning, "AWS refuses: Rate exceeded (Throttling)", "try again in a minute"},
		{"aws", "malformed", refuse(200, "<html>Hello"), preflight.Warning, "AWS gave no answer: ", "check the network and its proxy"},
		{"aws", "silent", silent, preflight.Warning, "AWS did not answer in time", "check the network and its proxy"},
		{"linode", "good", nil, preflight.OK, "account E1AF5EEC-526F-487D-B317EBEB34C87D71 as ann", ""},
		{"linode", "bad credentials", refuse(401, `{"errors": [{"reason": "Invalid Token"}]}`), preflight.Problem, "Linode refuses: Invalid Token (401)", "check LINODE_TOKEN"},
		{"linode", "throttled", refuse(429, `{"errors": [{"reason": "Too many requests"}]}`), preflight.Warning, "Linode refuses: Too many requests (429)", "try again in a minute"},
		{"linode", "malformed", refuse(200, "{"), preflight.Warning, "Linode gave no answer: ", "check the network and its proxy"},
		{"linode", "silent", silent, preflight.Warning, "Linode did not answer in time", "check the network and its proxy"},
	} {
		t.Run(tt.provider+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			e := newcomer(t)
			if tt.handler != nil {
				address := serve(t, tt.handler)
				e.env = append(e.env, "AWS_ENDPOINT_URL="+address, "LINODE_URL="+address)
			}
			e.write("config/pulumi/environment", "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\n")
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: "+tt.provider+"\n  aws:region: us-east-1\n")
			found, code := e.findings("up") // a destroy of nothing asks no cloud
			account := found["account"]
			if account.Status != tt.status || len(account.Findings) != 1 || !strings.HasPrefix(account.Findings[0].Text, tt.text) ||
				!strings.HasPrefix(account.Findings[0].Remedy, tt.remedy) || tt.status == preflight.Problem && code != 3 {
				t.Errorf("exit code %d: %+v", code, account)
			}
			if offers := found["offers"]; tt.handler == nil && (offers.Status != preflight.OK || !strings.Contains(offers.Findings[0].Text, "1.36")) ||
				tt.handler != nil && (offers.Status != preflight.Warning || !strings.Contains(offers.Findings[0].Text, "; not compared: ")) {
				t.Errorf("offers: %+v", offers)
			}
			if tt.status != preflight.Problem {
				return
			}
			r := e.run("up", "--yes")
			if r.code != 3 || strings.Count(r.stderr, "error: ") != 1 || !strings.Contains(r.stderr, tt.text) || !strings.Contains(r.stderr, tt.remedy) {
				t.Errorf("up: exit code %d: %s", r.code, r.stderr)
			}
			searchFor(t, map[string]string{"the key": awsKey, "the token": linodeToken}, map[string][]byte{"the message": []byte(r.stdout + r.stderr)})
		})
	}
}
