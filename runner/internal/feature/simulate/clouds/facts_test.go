package clouds_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/clouds"
)

// facts are what the schema of a real provider says of its resource types.
type facts struct {
	Package, Version string
	Resources        map[string]struct {
		Required                    []string
		ReplaceOnChanges            []string
		ReplaceOnChangesNested      map[string][]string
		SecretInputs, SecretOutputs []string
	}
}

// unsaid are replacements that the schema of a real provider does not mention, because the provider
// decides on them in code: plan modifiers of https://github.com/linode/terraform-provider-linode/tree/v3.8.0/linode.
var unsaid = map[string][]string{
	"linode:index/lkeNodePool:LkeNodePool":   {"clusterId", "type"},
	"linode:index/sshKey:SshKey":             {"sshKey"},
	"linode:index/token:Token":               {"expiry", "scopes"},
	"linode:index/nodeBalancer:NodeBalancer": {"firewallId", "region", "vpcs"},
}

// without are types of which the facts say nothing.
var without = []string{"digitalocean:index/kubernetesNodePool:KubernetesNodePool"}

// TestProvidersFacts compares the simulation with the schemas that the real providers generate. The
// facts taken from them are data of their owners, and not part of this repository. Whether a program
// sets a deprecated input is for the linter, which reads the SDKs' comments.
func TestProvidersFacts(t *testing.T) {
	t.Parallel()
	dir := cmp.Or(os.Getenv("MARA_PROVIDER_FACTS"), filepath.Join(repository(t), "../shared/data/provider-facts"))
	files, _ := filepath.Glob(filepath.Join(dir, "*-v*.json"))
	if len(files) == 0 {
		t.Skipf("not compared with the real providers: there are no facts of them in %s, nor where MARA_PROVIDER_FACTS says", dir)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		var real facts
		if err == nil {
			err = json.Unmarshal(text, &real)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		compared += compareFacts(t, real)
	}
	if compared == 0 {
		t.Errorf("no file in %s is about a version that the programs use", dir)
	}
}

// compareFacts returns how many types it has compared.
func compareFacts(t *testing.T, real facts) int {
	t.Helper()
	at := slices.IndexFunc(clouds.Packages(), func(p simulate.Package) bool { return p.Name == real.Package })
	if at < 0 {
		return 0
	}
	pkg := clouds.Packages()[at]
	var ours struct {
		Version   string
		Resources map[string]struct {
			RequiredInputs              []string
			InputProperties, Properties map[string]struct{ Secret bool }
		}
	}
	if err := json.Unmarshal(pkg.Schemas[0], &ours); err != nil {
		t.Fatal(err)
	}
	if "v"+ours.Version != real.Version {
		return 0
	}
	compared := 0
	for _, r := range pkg.Resources {
		fact, known := real.Resources[r.Token]
		if !known && slices.Contains(without, r.Token) {
			continue
		}
		if !known {
			t.Errorf("there are no facts of %s", r.Token)
			continue
		}
		compared++
		class := ours.Resources[r.Token]
		secrets := func(of map[string]struct{ Secret bool }) []string {
			return slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(name string) bool { return !of[name].Secret })
		}
		replaces := slices.Concat(fact.ReplaceOnChanges, unsaid[r.Token])
		for parent, inputs := range fact.ReplaceOnChangesNested {
			if !slices.Contains(replaces, parent) {
				replaces = append(replaces, paths(parent, inputs)...)
			}
		}
		for what, pair := range map[string][2][]string{
			"replacements":   {replaces, r.ReplaceOn},
			"required":       {fact.Required, class.RequiredInputs},
			"secret inputs":  {fact.SecretInputs, secrets(class.InputProperties)},
			"secret outputs": {fact.SecretOutputs, secrets(class.Properties)},
		} {
			if diff := gocmp.Diff(sorted(pair[0]), sorted(pair[1])); diff != "" {
				t.Errorf("%s: %s (-real +simulated):\n%s", r.Token, what, diff)
			}
		}
	}
	return compared
}

func paths(parent string, inputs []string) []string {
	var all []string
	for _, input := range inputs {
		all = append(all, parent+"."+input)
	}
	return all
}

func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// repository returns the root of this repository.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}
