package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"mara/runner/internal/feature/doctor/preflight"
)

const digitaloceanToken = "example-of-a-digitalocean-token"

// digitaloceanStandIn serves what the runner itself asks of DigitalOcean.
func digitaloceanStandIn(t *testing.T) (address string) {
	answers := map[string]string{
		"/v2/account": `{"account": {"email": "ann@example.com"}}`,
		"/v2/kubernetes/options": `{"options": {"regions": [{"slug": "nyc3", "name": "New York 3"}, {"slug": "fra1", "name": "Frankfurt 1"}],
			"versions": [{"slug": "1.36.2-do.0"}, {"slug": "1.35.6-do.1"}], "sizes": [{"slug": "s-4vcpu-8gb"}, {"slug": "c-4"}]}}`,
		"/v2/sizes": `{"sizes": [{"slug": "c-4", "memory": 8192, "vcpus": 4, "price_monthly": 84, "available": true},
			{"slug": "s-4vcpu-8gb", "memory": 8192, "vcpus": 4, "price_monthly": 48, "available": true}]}`,
	}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if answers[r.URL.Path] == "" || r.Header.Get("Authorization") != "Bearer "+digitaloceanToken {
			t.Errorf("DigitalOcean was asked for %s", r.URL)
		}
		fmt.Fprint(w, answers[r.URL.Path])
	})
}

// onDigitalOcean returns a newcomer with a token for DigitalOcean.
func onDigitalOcean(t *testing.T, address string) *environment {
	e := newcomer(t)
	e.env = append(e.env, "DIGITALOCEAN_API_URL="+address, "DIGITALOCEAN_TOKEN="+digitaloceanToken)
	return e
}

// TestFirstRunOnDigitalOcean leads from an empty directory to a preview on the real
// cloud.
func TestFirstRunOnDigitalOcean(t *testing.T) {
	t.Parallel()
	e := onDigitalOcean(t, digitaloceanStandIn(t))
	first := e.sit("up", "-p", "digitalocean")
	first.answer(
		typed("Create one?", ""), typed("Name of the stack", ""),
		chosen("DigitalOcean region", "fra\r"), chosen("Kubernetes version", "\r"), chosen("Size of the nodes", "c-4\r"), typed("Number of nodes", "2"),
		chosen("Highly available", "\r"), typed("Existing registry of the account", "example"), typed("Host name of the application", "bank.example.com"),
		typed("Domain at DigitalOcean", "example.com"), chosen("Where certificates", "\r"), typed("Write this", ""),
		typed("Choose a passphrase", ownPassphrase), typed("Repeat it:", ownPassphrase),
		typed("Grafana administrator password", ownPassword), typed("Repeat it:", ownPassword),
		typed("accounts database", ""), typed("ledger database", ""), typed("private key", ""),
	)
	if screen := first.end(1); !strings.Contains(screen, "preview FAILED") {
		t.Errorf("it did not come as far as the cloud:\n%s", lastLines(screen))
	}
	e.checkWritten(firstRun{want: "  kubernetes:infra_type: digitalocean\n  doks:region: fra1\n  doks:k8s_version: \"1.36\"\n  doks:node_size: c-4\n" +
		"  doks:node_count: 2\n  doks:high_availability: false\n  docr:registry: example\n  bank-of-anthos:host: bank.example.com\n  dns:domain: example.com\n" +
		"  certmgr:issuer: self-signed\n"}.written())
	searchFor(t, map[string]string{"the token": digitaloceanToken}, everyFileBelow(t, e.root))
}

// TestDoctorAsksDigitalOcean whose token it is.
func TestDoctorAsksDigitalOcean(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		handler      http.HandlerFunc // nil for the usual stand-in
		status       preflight.Status
		text, remedy string // how they begin
	}{
		{"good", nil, preflight.OK, "ann@example.com", ""},
		{"bad token", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"id": "Unauthorized", "message": "Unable to authenticate you"}`)
		}, preflight.Problem, "DigitalOcean refuses: Unable to authenticate you (401)", "check DIGITALOCEAN_TOKEN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address := ""
			if tt.handler == nil {
				address = digitaloceanStandIn(t)
			} else {
				address = serve(t, tt.handler)
			}
			e := onDigitalOcean(t, address)
			e.write("config/pulumi/environment", "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\n")
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: digitalocean\n")
			found, code := e.findings("up")
			account := found["account"]
			if account.Status != tt.status || len(account.Findings) != 1 || !strings.HasPrefix(account.Findings[0].Text, tt.text) ||
				!strings.HasPrefix(account.Findings[0].Remedy, tt.remedy) || tt.status == preflight.Problem && code != 3 {
				t.Errorf("exit code %d: %+v", code, account)
			}
		})
	}
}

// TestDigitalOcean: with a registry and a domain that are there already, and what
// changes when they do.
func TestDigitalOcean(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	stack := "config:\n  kubernetes:infra_type: digitalocean\n  docr:registry: example\n  bank-of-anthos:host: bank.example.com\n  dns:domain: example.com\n"
	const older = "  doks:k8s_version: 1.35.6-do.1\n"
	e.write("config/pulumi/Pulumi.dev.yaml", stack+older)
	e.simulate(0, "up")
	checkExplicitProviders(t, e)
	types := map[string]bool{}
	for _, resource := range e.state() {
		types[resource.Type] = true
	}
	if types["digitalocean:index/containerRegistry:ContainerRegistry"] || !types["digitalocean:index/dnsRecord:DnsRecord"] {
		t.Errorf("deployed %v", types)
	}
	if got := output(t, e, "digitalocean-dns", "record"); got != "bank.example.com" {
		t.Errorf("the record is for %q", got)
	}
	if got := output(t, e, "kic-image-push", "image_repository"); got != "registry.digitalocean.com/example/nginx-ingress" {
		t.Errorf("the image is in %q", got)
	}
	for _, edit := range []edit{
		{config: "doks:k8s_version: 1.36.2-do.0", want: []string{"digitalocean-doks"}},
		{config: "doks:node_count: 5", want: []string{"digitalocean-doks"}},
		{config: "dns:ttl: 60", want: []string{"digitalocean-dns"}},
	} {
		stack += "  " + edit.config + "\n"
		e.write("config/pulumi/Pulumi.dev.yaml", stack)
		checkChanged(t, "up of "+edit.config, edit.want, e.simulate(0, "up"))
	}
	e.removeRecord("digitalocean/index.dnsRecord.DnsRecord/*")
	checkChanged(t, "refresh without the record", []string{"digitalocean-dns"}, e.simulate(0, "refresh"))
	checkChanged(t, "up without the record", []string{"digitalocean-dns"}, e.simulate(0, "up"))
	e.simulate(0, "destroy")
	checkNothingLeft(t, e)
}

// output returns an output of a project.
func output(t *testing.T, e *environment, project, name string) string {
	t.Helper()
	r := e.run("outputs", project, name, "--simulate", "-o", "json")
	var value string
	if err := json.Unmarshal([]byte(r.stdout), &value); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	return value
}
