package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// firstRun is what a newcomer is asked, and what comes of it.
type firstRun struct {
	provider      string
	configuration []reply
	secrets       []reply
	want          string // the stack file, without its first line
}

// firstRuns returns the first runs of all providers. The ports of kind are free.
func firstRuns(t *testing.T) []firstRun {
	begin := []reply{typed("Create one?", ""), typed("Name of the stack", "")}
	secrets := []reply{
		typed("Choose a passphrase", ownPassphrase), typed("Repeat it:", ownPassphrase),
		typed("Grafana administrator password", ownPassword), typed("Repeat it:", ownPassword),
		typed("accounts database", ""), typed("ledger database", ""), typed("private key", ""),
	}
	harbor := []reply{typed("Harbor administrator password", ownPassword+"!"), typed("Repeat it:", ownPassword+"!")}
	plain, tls, registry := fmt.Sprint(freePort(t)), fmt.Sprint(freePort(t)), fmt.Sprint(freePort(t))
	return []firstRun{{
		"aws", append(begin[:2:2],
			typed("AWS profile", ""), chosen("AWS region", "eu\r"), chosen("Availability zones", "\r"), chosen("Kubernetes version", "1.35\r"),
			chosen("Type of the nodes", "m6i\r"), typed("Smallest number", "2"), typed("Largest number", ""), typed("Number of nodes to begin", ""),
			chosen("Where certificates", "\r"), typed("Write this", ""),
		), secrets,
		"  kubernetes:infra_type: aws\n  aws:region: eu-north-1\n  vpc:azs:\n    - eu-north-1a\n    - eu-north-1b\n  eks:k8s_version: \"1.35\"\n" +
			"  eks:instance_type: m6i.large\n  eks:min_size: 2\n  eks:max_size: 6\n  eks:desired_capacity: 2\n  certmgr:issuer: self-signed\n",
	}, {
		"linode", append(begin[:2:2],
			chosen("Linode region", "\r"), chosen("Kubernetes version", "\r"), chosen("Type of the nodes", "\r"), typed("Number of nodes", "5"),
			chosen("Highly available", "true\r"), chosen("Type of the registry", "\r"), typed("Address for warnings", "ann@example.com"),
			chosen("Where certificates", "acme\r"), typed("Address that the certificate", "ops@example.com"), typed("Write this", ""),
		), slices.Insert(slices.Clone(secrets), 2, harbor...),
		"  kubernetes:infra_type: linode\n  lke:region: us-ord\n  lke:k8s_version: \"1.36\"\n  lke:node_type: g6-standard-4\n  lke:node_count: 5\n" +
			"  lke:high_availability: true\n  harbor:instance_type: g6-standard-2\n  harbor:email: ann@example.com\n  certmgr:issuer: acme\n  certmgr:acme_email: ops@example.com\n",
	}, {
		"kind", append(begin[:2:2],
			typed("Number of worker", "2"), typed("for HTTP", plain), typed("for HTTPS", tls), typed("for the registry", registry), typed("Write this", "y"),
		), secrets,
		"  kubernetes:infra_type: kind\n  kind:workers: 2\n  kind:http_port: " + plain + "\n  kind:https_port: " + tls + "\n  kind:registry_port: " + registry + "\n",
	}}
}

// written returns what a first run writes before it asks for secrets, by name.
func (f firstRun) written() map[string]string {
	return map[string]string{
		"Pulumi.dev.yaml": "# Configuration of the stack dev. Every key is in Pulumi.stackname.yaml.example.\nconfig:\n" + f.want,
	}
}

// TestFirstRun leads from an empty directory to a preview on the real cloud, and a
// second time asks for nothing but the passphrase.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	for _, run := range firstRuns(t) {
		t.Run(run.provider, func(t *testing.T) {
			t.Parallel()
			e := newcomer(t)
			first := e.sit("up", "-p", run.provider)
			first.answer(slices.Concat(run.configuration, run.secrets)...)
			screen := first.end(1)
			e.checkWritten(run.written())
			e.checkModes(map[string]os.FileMode{"secrets/Pulumi.dev.yaml": 0o600})
			before := everyFileBelow(t, filepath.Join(e.root, "config"))

			second := e.sit("up")
			second.answer(typed("Passphrase for the secrets of dev", "not the passphrase"), typed("That is not the passphrase of dev", ownPassphrase))
			again := second.end(1)
			for _, screen := range []string{screen, again} {
				if !strings.Contains(screen, "preview FAILED") {
					t.Errorf("it did not come as far as the cloud:\n%s", lastLines(screen))
				}
			}
			if strings.Count(again, "? ") != 2 {
				t.Errorf("something else than the passphrase was asked:\n%s", again)
			}
			if diff := cmp.Diff(before, everyFileBelow(t, filepath.Join(e.root, "config"))); diff != "" {
				t.Errorf("the second run changed the configuration: %s", diff)
			}
			secrets := e.kept()
			secrets["the passphrase"], secrets["the key of AWS"], secrets["the token of Linode"] = ownPassphrase, awsKey, linodeToken
			searchFor(t, secrets, map[string][]byte{"the screen": []byte(screen + again)})
			searchFor(t, secrets, everyFileBelow(t, e.root))
			// Only what Pulumi itself keeps there.
			if entries, err := os.ReadDir(e.home); err != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != ".pulumi" {
				t.Errorf("in the home directory: %v, %v", entries, err)
			}
		})
	}
}

// TestSimulatedFirstRun asks the same questions under --simulate, with a way back, and asks no cloud. What it writes serves
// the next command. A root with a configuration is not asked anything.
func TestSimulatedFirstRun(t *testing.T) {
	t.Parallel()
	e := newcomer(t)
	e.env = append(e.env, "LINODE_URL=http://127.0.0.1:1")
	args := []string{"preview", "--simulate", "--simulate-speed", "100000", "--only", "linode-lke"}
	s := e.sit(args...)
	s.answer(
		typed("Create one?", ""), typed("Name of the stack", ""), chosen("Provider of the cluster", "linode\r"), typed("Linode region", "us-ord"),
		typed("Kubernetes version", ""), typed("Type of the nodes", "<"), typed("Kubernetes version", "1.35"), typed("Type of the nodes", ""),
		typed("Number of nodes", "5"), chosen("Highly available", "\r"), typed("Write this and continue?", ""),
	)
	screen := s.end(0)
	if strings.Contains(screen, "warning: Linode") || !strings.Contains(screen, "preview succeeded") {
		t.Errorf("the first run:\n%s", screen)
	}
	e.checkWritten(map[string]string{"Pulumi.dev.yaml": "# Configuration of the stack dev. Every key is in Pulumi.stackname.yaml.example.\nconfig:\n" +
		"  kubernetes:infra_type: linode\n  lke:region: us-ord\n  lke:k8s_version: \"1.35\"\n  lke:node_type: g6-standard-4\n  lke:node_count: 5\n" +
		"  lke:high_availability: false\n"})
	if again := e.sit(args...).end(0); strings.Contains(again, "? ") {
		t.Errorf("the second run asks:\n%s", again)
	}
	e.output("check")
}

// kept returns the secrets in the file; what was typed has to be there.
func (e *environment) kept() map[string]string {
	e.t.Helper()
	values := map[string]string{}
	file := filepath.Join(e.t.TempDir(), "secrets.yaml")
	e.with("PULUMI_CONFIG_PASSPHRASE="+ownPassphrase).secrets(0, "", "export", "-s", "dev", "--to-file", file)
	content, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(content, &values)
	}
	if err != nil || len(values) < 4 || values["prometheus:admin_password"] != ownPassword {
		e.t.Fatalf("%d secrets are kept, %v", len(values), err)
	}
	return values
}

// checkWritten holds configuration files against what they have to say.
func (e *environment) checkWritten(want map[string]string) {
	e.t.Helper()
	got := map[string]string{}
	for name := range want {
		content, err := os.ReadFile(filepath.Join(e.root, "config/pulumi", name))
		if err != nil {
			e.t.Error(err)
		}
		got[name] = string(content)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.t.Error(diff)
	}
}

// checkModes looks who may read configuration files.
func (e *environment) checkModes(want map[string]os.FileMode) {
	e.t.Helper()
	for name, mode := range want {
		info, err := os.Stat(filepath.Join(e.root, "config/pulumi", name))
		if err != nil || info.Mode() != mode {
			e.t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestInterruptedFirstRun: Ctrl-C at every question. Before the configuration is
// confirmed it leaves nothing at all, afterwards the configuration and no secret.
func TestInterruptedFirstRun(t *testing.T) {
	t.Parallel()
	long(t)
	for i, run := range firstRuns(t) {
		replies := run.configuration
		if last := i == 2; last { // these questions are the same for all
			replies = slices.Concat(replies, run.secrets)
		}
		for n, reply := range replies {
			t.Run(fmt.Sprintf("%s %d", run.provider, n), func(t *testing.T) {
				t.Parallel()
				e := newcomer(t)
				s := e.sit("up", "-p", run.provider)
				s.answer(append(replies[:n:n], reply.ctrlC())...)
				screen := s.end(130)
				searchFor(t, map[string]string{"the passphrase": ownPassphrase, "the password": ownPassword}, map[string][]byte{"the screen": []byte(screen)})
				e.checkNoProcess()
				if n < len(run.configuration) {
					e.checkDir()
					return
				}
				e.checkWritten(run.written())
				e.checkDir(".runner/.gitignore", ".runner/locks", "config/pulumi/.gitignore", "config/pulumi/Pulumi.dev.yaml",
					"config/pulumi/Pulumi.stackname.yaml.example", "config/pulumi/environment.example")
			})
		}
	}
}

// TestInterruptedWhileTheCloudIsAsked: there the terminal sends a signal, and
// nothing waits for the cloud.
func TestInterruptedWhileTheCloudIsAsked(t *testing.T) {
	t.Parallel()
	e := newcomer(t)
	e.env = append(e.env, "LINODE_URL="+serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	s := e.sit("up", "-p", "linode")
	s.answer(typed("Create one?", ""), typed("Name of the stack", ""), chosen("asking Linode ...", "\x03"))
	if screen := s.end(130); strings.Contains(screen, "Linode region") || strings.Contains(screen, "warning") {
		t.Errorf("it went on:\n%s", screen)
	}
	e.checkDir()
}

// checkDir holds what is in the directory against what may be there: files, and
// directories without any.
func (e *environment) checkDir(want ...string) {
	e.t.Helper()
	var got []string
	if err := filepath.WalkDir(e.root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == e.root {
			return err
		}
		if entry.IsDir() {
			if below, err := os.ReadDir(path); err != nil || len(below) > 0 {
				return err
			}
		}
		name, err := filepath.Rel(e.root, path)
		got = append(got, name)
		return err
	}); err != nil {
		e.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.t.Errorf("in the directory: %s", diff)
	}
}

// TestResumedFirstRun asks for what a configuration lacks. Everything else stays
// as the user has written it, byte for byte.
func TestResumedFirstRun(t *testing.T) {
	t.Parallel()
	const (
		environmentFile = "# mine\nexport PULUMI_STACK='dev' # the only one\n\n"
		before          = "# mine\n\nencryptionsalt:   # none yet\nconfig:\n    kubernetes:infra_type:   aws   # the cloud\n    'eks:k8s_version': '1.35'\n\n    # real ones\n    certmgr:issuer: acme\n\n# end"
		after           = "# mine\n\nencryptionsalt:   # none yet\nconfig:\n    kubernetes:infra_type:   aws   # the cloud\n    'eks:k8s_version': '1.35'\n\n    # real ones\n    certmgr:issuer: acme\n" +
			"    certmgr:acme_email: ops@example.com\n    aws:region: us-east-1\n\n# end"
	)
	e := newcomer(t)
	e.write("config/pulumi/environment", environmentFile)
	e.write("config/pulumi/Pulumi.dev.yaml", before)
	s := e.sit("up")
	s.answer(chosen("AWS region", "\r"), typed("Address that the certificate", "ops@example.com"), typed("Write this", ""),
		typed("Choose a passphrase", "").ctrlC())
	if screen := s.end(130); strings.Count(screen, "[Use arrows") > 1 {
		t.Errorf("more was asked than was missing:\n%s", screen)
	}
	e.checkWritten(map[string]string{"environment": environmentFile, "Pulumi.dev.yaml": after})
}

// TestFirstRunWithoutATerminal: nothing is ever asked. One error lists all missing
// values, and a user who sets them gets as far as on a terminal.
func TestFirstRunWithoutATerminal(t *testing.T) {
	t.Parallel()
	long(t)
	want := []string{
		"aws:region is missing", "`runner config set aws:region us-east-1`", "--config aws:region=us-east-1", "AWS_REGION=us-east-1 in config/pulumi/environment",
		"PULUMI_CONFIG_PASSPHRASE is missing", "PULUMI_CONFIG_PASSPHRASE_FILE=FILE",
		"prometheus:admin_password is missing", "bank-of-anthos:accounts_db_password is missing", "bank-of-anthos:ledger_db_password is missing",
		"bank-of-anthos:jwt_private_key is missing", "`runner secrets set bank-of-anthos:jwt_private_key -s dev`", "--secret prometheus:admin_password=env:NAME", "--generate-secrets",
	}
	for name, run := range map[string]func(e *environment, args ...string) (int, string){
		"no terminal": (*environment).both,
		"--non-interactive": func(e *environment, args ...string) (int, string) {
			return e.look(append(args, "--non-interactive")...)
		},
		"CI": func(e *environment, args ...string) (int, string) { return e.with("CI=true").look(args...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newcomer(t)
			for _, files := range [][]string{nil, {"config/pulumi/.gitignore", "config/pulumi/Pulumi.stackname.yaml.example", "config/pulumi/environment.example"}} {
				if len(files) > 0 {
					e.run("init")
				}
				code, output := run(e, "up", "-p", "aws", "-s", "dev", "--yes")
				if code != 3 || strings.Count(output, "error: ") != 1 || strings.Contains(output, "? ") {
					t.Errorf("exit code %d:\n%s", code, output)
				}
				for _, text := range want {
					if !strings.Contains(strings.Join(strings.Fields(output), " "), text) { // a terminal has wrapped lines
						t.Errorf("it does not say %q:\n%s", text, output)
					}
				}
				e.checkDir(files...)
			}
			e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+ownPassphrase, "GRAFANA="+ownPassword)
			code, output := run(e, "up", "-p", "aws", "-s", "dev", "--yes", "--config", "aws:region=us-east-1",
				"--secret", "prometheus:admin_password=env:GRAFANA", "--generate-secrets")
			if code != 1 || !strings.Contains(output, "up FAILED") {
				t.Errorf("it did not come as far as the cloud; exit code %d:\n%s", code, output)
			}
			secrets := e.kept()
			secrets["the passphrase"] = ownPassphrase
			searchFor(t, secrets, map[string][]byte{"what was printed": []byte(output)})
			searchFor(t, secrets, everyFileBelow(t, e.root))
		})
	}
}

// both returns the exit code and all output, without a terminal.
func (e *environment) both(args ...string) (code int, printed string) {
	r := e.run(args...)
	return r.code, r.stdout + r.stderr
}

// look returns the exit code and the screen of a terminal without input.
func (e *environment) look(args ...string) (code int, screen string) {
	return e.sit(args...).wait()
}
