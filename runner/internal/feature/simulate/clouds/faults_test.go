package clouds_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/clouds"
)

// TestFaultsHaveWords: each word list is of a fault that exists, each type that it names is simulated,
// and no cloud lacks the faults that every cloud has.
func TestFaultsHaveWords(t *testing.T) {
	t.Parallel()
	var known []string
	for _, kind := range simulate.FaultKinds() {
		known = append(known, kind.Name)
	}
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	for _, pkg := range clouds.Packages() {
		for _, kind := range []string{"name-taken", "not-ready", "server-error", "connection-lost", "forbidden", "deletion-blocked"} {
			if len(pkg.Words[kind]) == 0 {
				t.Errorf("%s has no words for %s", pkg.Name, kind)
			}
		}
		for kind, all := range pkg.Words {
			if !slices.Contains(known, kind) {
				t.Errorf("%s has words for %s, which no fault is called", pkg.Name, kind)
			}
			for i, words := range all {
				if words.Text == "" || words.Types == "" && i != len(all)-1 {
					t.Errorf("%s: %s: entry %d has no text, or hides those after it", pkg.Name, kind, i)
				}
				for _, found := range placeholder.FindAllString(words.Text, -1) {
					if !strings.Contains("{name} {id} {type} {region}", found) {
						t.Errorf("%s: %s: there is no %s", pkg.Name, kind, found)
					}
				}
				glob := "^" + strings.ReplaceAll(regexp.QuoteMeta(words.Types), `\*`, ".*") + "$"
				isType := func(r simulate.Resource) bool { return regexp.MustCompile(glob).MatchString(r.Token) }
				if words.Types != "" && !slices.ContainsFunc(pkg.Resources, isType) {
					t.Errorf("%s: %s: no type is like %s", pkg.Name, kind, words.Types)
				}
			}
		}
	}
}

// TestFaultsInTheWordsOfTheCloud: the same fault sounds different in each cloud.
func TestFaultsInTheWordsOfTheCloud(t *testing.T) {
	t.Parallel()
	quota, err := simulate.ParseFault("quota")
	if err != nil {
		t.Fatal(err)
	}
	e := startEngineWith(t, simulate.Options{Fail: []simulate.Fault{quota}})
	e.configureClouds()
	for token, want := range map[string]string{
		lkeType:                 "[400] Account Limit reached. Please open a support ticket.",
		doksType:                "422 validation error: 3 additional nodes but not enough available droplet limit",
		"aws:ec2/vpc:Vpc":       "VpcLimitExceeded: The maximum number of VPCs has been reached.",
		"aws:ec2/subnet:Subnet": "",
	} {
		inputs := map[string]object{
			lkeType:  {"label": "c", "k8sVersion": "1.36", "region": "us-ord", "pools": list(object{"type": "g6-standard-2", "count": 1})},
			doksType: {"name": "c", "region": "nyc3", "version": "1.36.2-do.0", "nodePool": object{"name": "n", "size": "s", "nodeCount": 1}},
		}[token]
		if err := e.make("x", token, inputs); want != "" {
			wantError(t, err, want)
		} else if err != nil && strings.Contains(err.Error(), "imit") {
			t.Errorf("%s: %v", token, err)
		}
	}
}
