package harbor_test

import (
	"encoding/base64"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/infrastructure/linode/harbor"
	"mara/projects/internal/programtest"
)

const (
	instanceType = "linode:index/instance:Instance"
	scriptType   = "linode:index/stackScript:StackScript"
	firewallType = "linode:index/firewall:Firewall"
	secretType   = "kubernetes:core/v1:Secret"
	password     = "harbor-password"
)

// base returns a case in which everything succeeds.
func base() programtest.Case {
	data := resource.PropertyMap{
		"HARBOR_ADMIN_PASSWORD": resource.NewProperty(base64.StdEncoding.EncodeToString([]byte(password))),
	}
	return programtest.Case{
		Project: projects.LinodeHarbor(),
		Program: harbor.Program,
		Config:  map[string]string{"kubernetes:infra_type": "linode"},
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("apiVersion: v1"))},
			"secrets":    resource.NewPropertyMapFromMap(map[string]any{"secrets": map[string]any{"harbor": "harbor-credentials"}}),
		},
		Outputs: map[string]resource.PropertyMap{
			secretType:   {"data": resource.MakeSecret(resource.NewProperty(data))},
			instanceType: resource.NewPropertyMapFromMap(map[string]any{"ipv4s": []any{"192.168.1.1", "192.0.2.1"}}),
		},
	}
}

// run runs the base case with some configuration more.
func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	test := base()
	maps.Copy(test.Config, config)
	return runNumbered(t, test)
}

func TestMachine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any
		ports  []string
	}{
		{
			name: "defaults",
			want: map[string]any{
				"region": "us-ord", "type": "g6-standard-2", "image": "linode/ubuntu24.04",
				"stackscriptData": map[string]any{
					"harbor_admin_password": password, "harbor_version": "2.15.1", "harbor_email": "",
				},
			},
			ports: []string{"80, 443"},
		},
		{
			name: "configured",
			config: map[string]string{
				"lke:region": "eu-central", "harbor:instance_type": "g6-dedicated-4", "harbor:image": "linode/ubuntu22.04",
				"harbor:version": "2.14.3", "harbor:email": "me@example.com",
				"harbor:ssh_authorized_keys": `["ssh-ed25519 AAAA me@example.com"]`,
			},
			want: map[string]any{
				"region": "eu-central", "type": "g6-dedicated-4", "image": "linode/ubuntu22.04",
				"authorizedKeys": []any{"ssh-ed25519 AAAA me@example.com"},
				"stackscriptData": map[string]any{
					"harbor_admin_password": password, "harbor_version": "2.14.3", "harbor_email": "me@example.com",
				},
			},
			ports: []string{"80, 443", "22"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			machine := result.One(t, instanceType, "harbor")
			for field, want := range test.want {
				if diff := cmp.Diff(want, machine.Value(field)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", field, diff)
				}
			}
			if !machine.IsSecret("stackscriptData", "harbor_admin_password") {
				t.Error("the password is not secret")
			}
			var ports []string
			for i := range test.ports {
				rule := result.One(t, firewallType, "firewall")
				ports = append(ports, rule.Value("inbounds", string(rune('0'+i)), "ports").(string))
			}
			if diff := cmp.Diff(test.ports, ports); diff != "" {
				t.Errorf("open ports (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.LinodeHarbor())
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	result := run(t, nil)
	if diff := cmp.Diff([]string{"kubeconfig", "secrets"}, result.References()); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	secret := result.One(t, secretType, "credentials")
	if !secret.Read || secret.ID != "harbor/harbor-credentials" {
		t.Errorf("the password comes from %q, read: %v", secret.ID, secret.Read)
	}
	machine := result.One(t, instanceType, "harbor")
	firewall := result.One(t, firewallType, "firewall")
	if machine.Value("stackscriptId") != 11.0 || firewall.Value("linodes", "0") != 33.0 {
		t.Errorf("the machine is set up by %v, and behind the firewall is %v", machine.Value("stackscriptId"), firewall.Value("linodes"))
	}
	if machine.Value("firewallId") != nil {
		t.Error("another firewall would replace the machine, with all images")
	}
	if firewall.Value("inboundPolicy") != "DROP" || firewall.Value("inbounds", "1") != nil {
		t.Errorf("the firewall is %v", firewall.Inputs.Mappable())
	}
	for output, want := range map[string]string{
		"harbor_hostname": "192-0-2-1.ip.linodeusercontent.com",
		"harbor_url":      "https://192-0-2-1.ip.linodeusercontent.com",
		"harbor_user":     "admin",
		"harbor_password": password,
	} {
		if got := result.Export(t, output).Value; got != want {
			t.Errorf("%s is %v, want %s", output, got, want)
		}
	}
}

// TestProvider runs the program up to where it needs numbers for ids, under
// the rule that everything in Kubernetes has an explicit provider.
func TestProvider(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, base())
	if secret := result.One(t, secretType, "credentials"); secret.Provider == "" {
		t.Error("the password is read from whatever cluster kubectl happens to point at")
	}
}

// TestInstaller holds script and program together: each value that the one
// asks for is one that the other gives.
func TestInstaller(t *testing.T) {
	t.Parallel()
	result := run(t, nil)
	script := result.One(t, scriptType, "installer").Value("script").(string)
	var asked []string
	for _, field := range regexp.MustCompile(`<UDF name="(\w+)"`).FindAllStringSubmatch(script, -1) {
		asked = append(asked, field[1])
		if !strings.Contains(script, "$"+strings.ToUpper(field[1])) && !strings.Contains(script, `"`+strings.ToUpper(field[1])+`"`) {
			t.Errorf("the script does not use %s", field[1])
		}
	}
	given := result.One(t, instanceType, "harbor").Value("stackscriptData").(map[string]any)
	slices.Sort(asked)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(given)), asked); diff != "" {
		t.Errorf("values of the script (-given +asked):\n%s", diff)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here to check the script with")
	}
	check := exec.Command(bash, "-n")
	check.Stdin = strings.NewReader(script)
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("the script is not valid: %v\n%s", err, output)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		change func(*programtest.Case)
		want   string
	}{
		{name: "no version", config: map[string]string{"harbor:version": "latest"}, want: "not a version such as 2.15.1"},
		{name: "another system", config: map[string]string{"harbor:image": "linode/alpine3.20"}, want: "not an image of Ubuntu"},
		{name: "no address", config: map[string]string{"harbor:email": "me"}, want: `"harbor:email"`},
		{
			name:   "a path for a key",
			config: map[string]string{"harbor:ssh_authorized_keys": `["~/.ssh/id.pub"]`}, want: "not a public SSH key",
		},
		{
			name: "no Secret",
			change: func(test *programtest.Case) {
				test.Stacks["secrets"]["secrets"] = resource.NewProperty(resource.PropertyMap{})
			},
			want: `has no output "secrets.harbor"`,
		},
		{
			name: "no password in the Secret",
			change: func(test *programtest.Case) {
				test.Outputs[secretType]["data"] = resource.NewProperty(resource.PropertyMap{})
			},
			want: `has no usable value "HARBOR_ADMIN_PASSWORD"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			given := base()
			maps.Copy(given.Config, test.config)
			if test.change != nil {
				test.change(&given)
			}
			result := runNumbered(t, given)
			result.CheckRefused(t, test.want)
		})
	}
}
