package inventory

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/vault"
)

// TestPatterns: the stack of a project with a pattern of its own belongs to the
// environment, for all who ask, and so does a reference to it.
func TestPatterns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	states := filepath.Join(root, ".runner", "state", ".pulumi", "stacks")
	reference := `{"type": "pulumi:pulumi:StackReference", "id": "organization/net/acme-dev"}`
	for file, content := range map[string]string{
		filepath.Join(root, "mara.yaml"):               "projects:\n- {path: net, stackFile: own, stack: 'acme-{stack}'}\n- {path: app, reads: net}\n",
		filepath.Join(root, "net", "Pulumi.yaml"):      "name: net\nruntime: yaml\n",
		filepath.Join(root, "app", "Pulumi.yaml"):      "name: app\nruntime: yaml\n",
		filepath.Join(states, "net", "acme-dev.json"):  `{"checkpoint": {"latest": {"resources": [{}]}}}`,
		filepath.Join(states, "app", "dev.json"):       `{"checkpoint": {"latest": {"resources": [` + reference + `]}}}`,
		filepath.Join(states, "gone", "dev.json"):      `{"checkpoint": {"latest": {"resources": [{}]}}}`,
		filepath.Join(states, "gone", "acme-dev.json"): `{"checkpoint": {"latest": {"resources": [{}]}}}`,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	known, err := catalogue.Load(providers.Catalogue(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	r := request.Request{Root: root, BuiltIn: providers.Catalogue(), Catalogue: &known, Sources: config.Sources{Process: []string{"PULUMI_HOME=" + root}}}
	d := session.Deps{Console: vault.Console{Stderr: io.Discard}}
	s, err := session.ResolveStack(d, session.Options{Request: r.Of("dev")})
	if err != nil {
		t.Fatal(err)
	}
	if s.Provider.Name == "" {
		t.Fatal("no provider")
	}
	found, err := OfEnvironment(t.Context(), s)
	if err != nil || len(found) != 2 || found["net"] == nil || found["app"] == nil {
		t.Errorf("OfEnvironment: %s, %v", found, err)
	}
	opened, err := s.ReadKnown()
	if err != nil {
		t.Fatal(err)
	}
	unclaimed, err := FindUnclaimed(t.Context(), opened)
	if got := fmt.Sprint(unclaimed.Orphans); err != nil || got != "[gone (1 resource)]" || len(unclaimed.Strangers) > 0 {
		t.Errorf("FindUnclaimed: %s, %v, %v", got, unclaimed.Strangers, err)
	}
	for _, project := range []string{"net", "app"} {
		standing, err := opened.Stacks.Standing(t.Context(), project)
		if err != nil || standing.Resources != 1 || len(standing.Foreign) > 0 {
			t.Errorf("%s: %+v, %v", project, standing, err)
		}
	}
	if names := opened.Stacks.Projects(); !slices.Equal(names, []string{"app", "net"}) {
		t.Errorf("stacks of %v", names)
	}
}
