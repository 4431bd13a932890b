package bill

import (
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/policy/cost"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
)

const state = `{"version":3,"checkpoint":{"stack":"organization/aws-eks/eu","latest":{"manifest":{},"resources":[
 {"urn":"urn:pulumi:eu::aws-eks::pulumi:providers:aws::ours","type":"pulumi:providers:aws","inputs":{"region":"eu-central-1"}},
 {"urn":"urn:pulumi:eu::aws-eks::aws:eks/cluster:Cluster::main","type":"aws:eks/cluster:Cluster","custom":true,"provider":"urn:pulumi:eu::aws-eks::pulumi:providers:aws::ours::id","inputs":{"version":"1.33"}},
 {"urn":"urn:pulumi:eu::aws-eks::aws:eks/cluster:Cluster::read","type":"aws:eks/cluster:Cluster","custom":true,"external":true,"inputs":{}},
 {"urn":"urn:pulumi:eu::aws-eks::x:y:Z::odd","type":"x:y:Z","custom":true,"inputs":{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"c"}}}]}}}`

// TestOfAll: what is deployed has a price by its provider's region; an environment that cannot be read has an error and
// hides no other; nothing deployed costs nothing.
func TestOfAll(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"Pulumi.eu.yaml": "config:\n  kubernetes:infra_type: aws\n", "Pulumi.new.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	cmdtest.WriteFile(t, filepath.Join(root, "config/environments/broken.yaml"), "imports: [nowhere]\n")
	cmdtest.WriteFile(t, filepath.Join(string(layout.Of(root, false).State()), ".pulumi/stacks/aws-eks/eu.json"), state)
	d, _, _ := cmdtest.Deps(t)
	sheet, err := cost.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	all := OfAll(t.Context(), d.Deps, session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: config.Sources{}}}, []string{"broken", "eu", "new"}, sheet)
	if len(all) != 3 || all[0].Costs != nil || !strings.Contains(all[0].Error, "nowhere") || all[0].IsPartial() {
		t.Fatalf("%+v", all)
	}
	eu := all[1]
	if eu.Costs == nil || len(eu.Costs.Items) != 1 || eu.Costs.Items[0].Name != "main" || eu.Costs.Monthly < 50 || eu.Costs.Currency != "USD" || eu.Costs.Change != 0 {
		t.Errorf("eu: %+v, %s", eu.Costs, eu.Error)
	}
	if left := eu.Uncounted(); !eu.IsPartial() || len(left) != 1 || left[0] != "no price for x:y:Z" {
		t.Errorf("not counted: %q", left)
	}
	if all[2].Costs == nil || all[2].Costs.Monthly != 0 || all[2].IsPartial() {
		t.Errorf("nothing deployed: %+v, %s", all[2].Costs, all[2].Error)
	}
	cmdtest.WriteFile(t, filepath.Join(string(layout.Of(root, false).State()), ".pulumi/stacks/aws-eks/eu.json"), state[:200])
	if b := OfAll(t.Context(), d.Deps, session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: config.Sources{}}}, []string{"eu"}, sheet); b[0].Error == "" {
		t.Errorf("a state that is cut off costs %+v", b[0].Costs)
	}
}
