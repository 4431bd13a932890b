package config

import (
	"strings"
	"testing"
)

// TestRefusedVariables: a file of the repository gives no consent and chooses no program that the runner starts.
func TestRefusedVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"RUNNER_PULUMI", "RUNNER_YES", "RUNNER_ALLOW", "RUNNER_LINKS", "runner_yes"} {
		_, err := ParseEnvironment(EnvironmentFile, []byte("A=1\n"+name+"=x\n"))
		if err == nil || !strings.HasPrefix(err.Error(), EnvironmentFile+":2: "+name+" ") || !strings.Contains(err.Error(), "set it for the process") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseEnvironment(EnvironmentFile, []byte("RUNNER_SIMULATE=true\n")); err != nil {
		t.Error(err)
	}
}

// TestSteeringVariables: variables that choose programs come from the process, but for programs of operations.
func TestSteeringVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"PATH", "Path", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "GIT_CONFIG_COUNT", "GIT_SSH_COMMAND", "SSH_ASKPASS", "https_proxy",
		"HTTPS_PROXY", "ALL_PROXY", "EDITOR", "VISUAL", "PAGER", "BROWSER", "HOME", "XDG_CONFIG_HOME", "KUBECONFIG", "DOCKER_CONFIG",
		"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "PULUMI_HOME", "PULUMI_DEBUG_LANGUAGES", "PYTHONPATH", "NODE_OPTIONS",
	} {
		file, err := ParseEnvironment(EnvironmentFile, []byte("AWS_PROFILE=dev\n"+name+"=./evil\n"))
		if err != nil {
			t.Fatal(err)
		}
		s := Sources{File: file, Process: []string{name + "=mine", "AWS_PROFILE=prod"}}
		if got := s.Looking(); got[name] != "mine" || got["AWS_PROFILE"] != "dev" {
			t.Errorf("%s: looking has %v", name, got)
		}
		if got := s.Lookup(name).Text; got != "mine" {
			t.Errorf("%s is %q", name, got)
		}
		if got := file.Merge(s.Process); got[name] != "./evil" {
			t.Errorf("%s: an operation has %v", name, got)
		}
		if found := file.Steering(); len(found) != 1 || found[0].Key != name || found[0].Line != 2 {
			t.Errorf("%s: check says %v", name, found)
		}
		settings, err := ResolveRoot(Request{Root: t.TempDir(), Sources: s})
		if err != nil {
			t.Fatal(err)
		}
		look, operate := settings.EnvironToLook(), settings.Environ()
		if look[name] != "mine" || operate[name] != "./evil" || look[BackendVariable] == "" || look[BackendVariable] != operate[BackendVariable] {
			t.Errorf("%s: looking has %q, an operation %q; backends %q and %q", name, look[name], operate[name], look[BackendVariable], operate[BackendVariable])
		}
	}
	for _, name := range []string{"PULUMI_STACK", "PULUMI_CONFIG_PASSPHRASE", "AWS_PROFILE", "RUNNER_SIMULATE", "DOCKER_HOST", "GITHUB_SHA", "MY_PATH"} {
		if Steers(name) {
			t.Errorf("%s counts for operations alone", name)
		}
	}
}
