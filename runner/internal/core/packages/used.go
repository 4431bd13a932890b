// Package packages finds which of Pulumi's packages the programs of users use, from what their files and states say. It runs
// nothing.
package packages

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"mara/config/files"
	"mara/config/lists"
)

// Used is a package that a project uses.
type Used struct {
	Name      string
	Version   string // "" if the project has none
	Directory string // of the plugin, named by the project; "" for Pulumi's search
}

// By lists the packages that the files of a project name: its Pulumi.yaml and the
// dependency files of its language. It ignores unreadable files; Pulumi will report
// them.
func By(dir string) []Used {
	used := append(inManifest(dir), dynamicProviders(dir)...)
	for _, list := range libraries {
		matches, _ := files.Glob(dir, list.file) // the patterns are valid
		for _, file := range matches {
			text, _ := files.Read(file, files.Data)
			for _, found := range list.names.FindAllStringSubmatch(string(text), -1) {
				used = append(used, Used{Name: packageName(found[1]), Version: found[2]})
			}
		}
	}
	return Distinct(used)
}

// InState lists the packages whose providers are in a state.
func InState(state []byte) []Used {
	return Distinct(lists.Map(provider.FindAllSubmatch(state, -1), func(found [][]byte) Used {
		return Used{Name: string(found[1])}
	}))
}

var (
	provider = regexp.MustCompile(`pulumi:providers:([a-z][a-z0-9-]*)`)
	// token is the type of a resource, or a function, of a program in YAML.
	token = regexp.MustCompile(`(?m)(?:(?:^|[{,])\s*(?:type|function|Function):\s*["']?|\bfn::)([a-z][a-z0-9-]*):[A-Za-z]`)
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

// packageName returns the name of the package of a library: azure-native for
// azure_native or AzureNative.
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

// dynamicPackages are the packages whose resources have their provider in the program itself, by the
// runtime of the program.
var dynamicPackages = map[string]string{"nodejs": "pulumi-nodejs", "python": "pulumi-python"}

// IsDynamic reports whether a package is one of dynamicPackages, which have neither a plugin nor a schema.
func IsDynamic(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(dynamicPackages)), name)
}

// dynamicProviders returns the package of the dynamic providers that a program may have.
func dynamicProviders(dir string) []Used {
	text, _ := files.Read(filepath.Join(dir, "Pulumi.yaml"), files.Data) // Pulumi reports an unreadable file
	for runtime, name := range dynamicPackages {
		if regexp.MustCompile(`(?m)^runtime:\s*(\n\s+name:\s*)?["']?` + runtime).Match(text) {
			return []Used{{Name: name}}
		}
	}
	return nil
}

// inManifest lists the packages in a Pulumi.yaml, and in the program in YAML if there
// is one.
func inManifest(dir string) []Used {
	text, err := files.ReadCommitted(filepath.Join(dir, "Pulumi.yaml"), files.Data)
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
		Resources map[string]struct {
			Type    string `yaml:"type"`
			Options struct {
				Version string `yaml:"version"`
			} `yaml:"options"`
		} `yaml:"resources"`
	}
	_ = yaml.Unmarshal(text, &manifest) // Pulumi will say what is wrong with it
	var used []Used
	for _, plugin := range manifest.Plugins.Providers {
		directory := plugin.Path
		if directory != "" && !filepath.IsAbs(directory) {
			directory = filepath.Join(dir, directory)
		}
		used = append(used, Used{Name: plugin.Name, Version: plugin.Version, Directory: directory})
	}
	for _, key := range lists.Keys(manifest.Resources) {
		resource := manifest.Resources[key]
		if name, _, _ := strings.Cut(resource.Type, ":"); resource.Options.Version != "" {
			used = append(used, Used{Name: name, Version: resource.Options.Version})
		}
	}
	for name := range manifest.Packages {
		used = append(used, Used{Name: name})
	}
	program, _ := files.Read(filepath.Join(dir, manifest.Main, "Main.yaml"), files.Data)
	for _, found := range token.FindAllSubmatch(slices.Concat(text, []byte("\n"), program), -1) {
		used = append(used, Used{Name: string(found[1])})
	}
	return append(used, InState(text)...)
}

// Distinct drops repetitions, and what is Pulumi's own. What says more of a
// package than its name counts.
func Distinct(used []Used) []Used {
	var kept []Used
	for _, u := range used {
		at := slices.IndexFunc(kept, func(other Used) bool { return other.Name == u.Name })
		switch {
		case u.Name == "" || slices.Contains([]string{"pulumi", "policy"}, u.Name):
		case at < 0:
			kept = append(kept, u)
		case kept[at].Version == "" && kept[at].Directory == "":
			kept[at] = u
		}
	}
	slices.SortFunc(kept, func(a, b Used) int { return strings.Compare(a.Name, b.Name) })
	return kept
}
