// Package schemas holds, as data, the types of resources that the programs
// use: Pulumi package schemas, one file a package, cut down to these types.
// Its tests make them from the SDKs by reflection, and fail when they are not
// current; the schema of kind is its own provider's. So who needs the rules
// links no SDK.
package schemas

import (
	"embed"
	"encoding/json"
	"path"
	"strings"
)

//go:embed *.json
var files embed.FS

// Of returns the schema of a package, or nil.
func Of(name string) []byte {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil
	}
	return text
}

// Versions returns, by package, the versions of Pulumi's SDKs that the programs are compiled
// with, and so of the plugins that they request.
func Versions() map[string]string {
	versions := Packages()
	delete(versions, "kind") // its provider comes with the runner
	return versions
}

// Packages returns all packages, with the versions of their schemas.
func Packages() map[string]string {
	versions := map[string]string{}
	entries, _ := files.ReadDir(".")
	for _, entry := range entries {
		name := strings.TrimSuffix(path.Base(entry.Name()), ".json")
		versions[name] = version(Of(name))
	}
	return versions
}

// Version returns the version of one package.
func Version(name string) string { return version(Of(name)) }

func version(text []byte) string {
	var head struct{ Version string }
	_ = json.Unmarshal(text, &head) // a test reads them all
	return head.Version
}
