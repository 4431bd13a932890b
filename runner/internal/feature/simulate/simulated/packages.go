package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mara/config/files"
	"mara/runner/internal/core/packages"
	"mara/runner/internal/feature/simulate"
)

// finder gets the schemas of packages that are not built in: from the files that the user
// names, else from the installed plugins. An unknown package is simulated without checks.
type finder struct {
	Files []string // that the user names
	Home  string   // Pulumi's own directory, with the plugins that are installed
}

// complete adds the packages that projects use, and those in the files, to the built-in
// ones. A warning names each package that is not checked.
func (f finder) complete(
	ctx context.Context, builtIn []simulate.Package, used []packages.Used,
) (all []simulate.Package, warnings []string, err error) {
	all, used = slices.Clone(builtIn), packages.Distinct(used)
	named, err := f.read()
	if err != nil {
		return nil, nil, err
	}
	for name, text := range named {
		used = slices.DeleteFunc(slices.Clone(used), func(u packages.Used) bool { return u.Name == name })
		// The first schema that has a type describes it: what the user names wins over what is built in.
		pkg := packageIn(&all, name)
		pkg.Schemas = append([][]byte{text}, pkg.Schemas...)
	}
	for i, asked := range f.askAll(ctx, used) {
		name := used[i].Name
		isKnown := slices.ContainsFunc(builtIn, func(p simulate.Package) bool { return p.Name == name })
		if asked.schema == nil && !isKnown && !packages.IsDynamic(name) {
			warnings = append(warnings, fmt.Sprintf(
				"not checked: the resources of the package %s: %s; --simulate-schema FILE takes its rules from a schema",
				name, asked.why))
		}
		if isKnown && asked.schema != nil && used[i].Version != "" && !isOfVersion(asked.schema, used[i].Version) {
			continue // the program asks for the version that is built in, and another one is installed
		}
		if pkg := packageIn(&all, name); asked.schema != nil {
			pkg.Schemas = append(slices.Clone(pkg.Schemas), asked.schema)
		}
	}
	slices.SortFunc(all, func(a, b simulate.Package) int { return strings.Compare(a.Name, b.Name) })
	return all, warnings, nil
}

// isOfVersion reports whether a schema is of a version.
func isOfVersion(schema []byte, version string) bool {
	var head struct{ Version string }
	return json.Unmarshal(schema, &head) == nil && strings.TrimPrefix(head.Version, "v") == version
}

// packageIn returns a package of a list, to which it adds one without a schema if it is missing: nothing
// is known of it.
func packageIn(all *[]simulate.Package, name string) *simulate.Package {
	at := slices.IndexFunc(*all, func(p simulate.Package) bool { return p.Name == name })
	if at < 0 {
		*all, at = append(*all, simulate.Package{Name: name}), len(*all)
	}
	return &(*all)[at]
}

// read reads the files, by the names of the packages that they describe.
func (f finder) read() (map[string][]byte, error) {
	schemas := map[string][]byte{}
	for _, path := range f.Files {
		text, err := files.Read(path, files.Data)
		if err != nil {
			return nil, err
		}
		var head struct{ Name string }
		err = json.Unmarshal(text, &head)
		switch {
		case err != nil:
			return nil, fmt.Errorf(
				"%s is not the schema of a Pulumi package: %w; `pulumi package get-schema NAME` prints one", path, err)
		case head.Name == "":
			return nil, fmt.Errorf(
				"%s is not the schema of a Pulumi package: it has no name; `pulumi package get-schema NAME` prints one", path)
		case schemas[head.Name] != nil:
			return nil, fmt.Errorf("%s: there is another schema of the package %s", path, head.Name)
		}
		schemas[head.Name] = text
	}
	return schemas, nil
}

// answer is what a plugin says, or why it says nothing.
type answer struct {
	schema []byte
	why    string
}

// askAll asks the plugins of all packages at the same time.
func (f finder) askAll(ctx context.Context, used []packages.Used) []answer {
	answers := make([]answer, len(used))
	var all sync.WaitGroup
	for i, u := range used {
		all.Go(func() {
			path, ok := f.plugin(u)
			if !ok {
				answers[i].why = "its plugin is not installed"
				return
			}
			var err error
			if answers[i].schema, err = askPlugin(ctx, path); err != nil {
				answers[i].why = fmt.Sprintf("its plugin %s does not tell its schema: %v", path, err)
			}
		})
	}
	all.Wait()
	return answers
}
