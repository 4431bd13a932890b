package packages

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"gopkg.in/yaml.v3"
)

// Used is a package that a project uses.
type Used struct {
	Name    string
	Version string // "" where the project does not say
	Folder  string // that the project names for its plugin; "" where Pulumi finds it
}

// UsedBy are the packages that the files of a project name: its Pulumi.yaml and
// what its language has to list libraries. Files that cannot be read name none;
// Pulumi will say what is wrong with them.
func UsedBy(dir string) []Used {
	used := inManifest(dir)
	for _, list := range libraries {
		files, _ := filepath.Glob(filepath.Join(escape(dir), list.file))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			for _, found := range list.names.FindAllStringSubmatch(string(text), -1) {
				used = append(used, Used{Name: packageName(found[1]), Version: found[2]})
			}
		}
	}
	return distinct(used)
}

// InState are the packages whose providers are in a state.
func InState(state []byte) []Used {
	return distinct(slice.Map(provider.FindAllSubmatch(state, -1), func(found [][]byte) Used { return Used{Name: string(found[1])} }))
}

var (
	provider = regexp.MustCompile(`pulumi:providers:([a-z][a-z0-9-]*)`)
	// token is the type of a resource, or a function, of a program in YAML.
	token = regexp.MustCompile(`(?m)(?:^\s*(?:type|function|Function):\s*["']?|\bfn::)([a-z][a-z0-9-]*):[A-Za-z]`)
)

// libraries are the files in which programs list the SDKs that they use, with
// what names a package and its version.
var libraries = []struct {
	file  string
	names *regexp.Regexp
}{
	{"go.mod", regexp.MustCompile(`(?m)^(?:require)?\s+\S+/pulumi-([a-z0-9-]+)/sdk\S*\s+v([0-9]\S*)`)},
	{"package.json", regexp.MustCompile(`"@(?:pulumi|pulumiverse)/([a-z0-9-]+)"\s*:\s*"[\^~=v]*([0-9][^"\s]*)?`)},
	{"requirements.txt", regexp.MustCompile(`(?mi)^\s*(?:pulumi|pulumiverse)[-_]([a-z0-9_-]+)(?:\s*[=~>]=\s*([0-9][^,;\s]*))?`)},
	{"pyproject.toml", regexp.MustCompile(`(?mi)["'\s](?:pulumi|pulumiverse)[-_]([a-z0-9_-]+)(?:\s*[=~>]=\s*([0-9][^"',;\s]*))?`)},
	{"*.*proj", regexp.MustCompile(`Include="(?:Pulumi|Pulumiverse)\.([A-Za-z0-9]+)"(?:\s+Version="([0-9][^"]*)")?`)},
	{"pom.xml", regexp.MustCompile(`<groupId>com\.pulumi</groupId>\s*<artifactId>([a-z0-9-]+)</artifactId>(?:\s*<version>([0-9][^<]*)</version>)?`)},
	{"build.gradle*", regexp.MustCompile(`com\.pulumi:([a-z0-9-]+):([0-9][^"'@]*)?`)},
}

// packageName is the name of a package whose library is called otherwise:
// azure_native or AzureNative for azure-native.
func packageName(library string) string {
	var name strings.Builder
	for i, r := range library {
		switch {
		case r == '_':
			r = '-'
		case unicode.IsUpper(r) && i > 0:
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}

// inManifest are the packages that a Pulumi.yaml lists, and those of a program
// in YAML.
func inManifest(dir string) []Used {
	text, err := os.ReadFile(filepath.Join(dir, "Pulumi.yaml"))
	if err != nil {
		return nil
	}
	var manifest struct {
		Main     string         `yaml:"main"`
		Packages map[string]any `yaml:"packages"`
		Plugins  struct {
			Providers []struct {
				Name    string `yaml:"name"`
				Version string `yaml:"version"`
				Path    string `yaml:"path"`
			} `yaml:"providers"`
		} `yaml:"plugins"`
	}
	_ = yaml.Unmarshal(text, &manifest) // Pulumi will say what is wrong with it
	var used []Used
	for _, plugin := range manifest.Plugins.Providers {
		folder := plugin.Path
		if folder != "" && !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		used = append(used, Used{Name: plugin.Name, Version: plugin.Version, Folder: folder})
	}
	for name := range manifest.Packages {
		used = append(used, Used{Name: name})
	}
	program, _ := os.ReadFile(filepath.Join(dir, manifest.Main, "Main.yaml"))
	for _, found := range token.FindAllSubmatch(slices.Concat(text, []byte("\n"), program), -1) {
		used = append(used, Used{Name: string(found[1])})
	}
	return append(used, InState(text)...)
}

// distinct drops repetitions, and what is Pulumi's own. What says more of a
// package than its name counts.
func distinct(used []Used) []Used {
	var kept []Used
	for _, u := range used {
		at := slices.IndexFunc(kept, func(other Used) bool { return other.Name == u.Name })
		switch {
		case u.Name == "" || slices.Contains([]string{"pulumi", "policy"}, u.Name):
		case at < 0:
			kept = append(kept, u)
		case kept[at].Version == "" && kept[at].Folder == "":
			kept[at] = u
		}
	}
	slices.SortFunc(kept, func(a, b Used) int { return strings.Compare(a.Name, b.Name) })
	return kept
}

// escape keeps the characters of a folder from being taken for a pattern.
func escape(dir string) string { return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`) }
