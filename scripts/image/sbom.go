package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// document lists what is in the image, as SPDX 2.3 has it. Its fields have the names
// of https://spdx.github.io/spdx-spec/v2.3/.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []component    `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// component is a Debian package or a Go module.
type component struct {
	ID       string      `json:"SPDXID"`
	Name     string      `json:"name"`
	Version  string      `json:"versionInfo"`
	Supplier string      `json:"supplier"`
	Download string      `json:"downloadLocation"`
	Analyzed bool        `json:"filesAnalyzed"`
	Refs     []reference `json:"externalRefs"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// maintainers is who makes the image and the list.
const maintainers = "Organization: mara's maintainers"

// supplier returns who publishes a package: Debian, the owner of a module at a forge, or the host of its path.
func supplier(locator string) string {
	path, isModule := strings.CutPrefix(locator, "pkg:golang/")
	parts := strings.Split(path, "/")
	switch {
	case !isModule:
		return "Organization: Debian"
	case strings.HasPrefix(path, "stdlib@"):
		return "Organization: The Go Authors"
	case len(parts) > 1 && parts[0] == "github.com":
		return "Organization: github.com/" + parts[1]
	}
	return "Organization: " + parts[0]
}

// describe lists the packages of the base and the modules that the programs say they
// are made of.
func describe(o options) (document, error) {
	locators := map[string]component{} // by locator, which says all
	add := func(name, version, locator string) {
		sum := sha256.Sum256([]byte(locator))
		locators[locator] = component{
			ID: "SPDXRef-" + hex.EncodeToString(sum[:8]), Name: name, Version: version, Supplier: supplier(locator),
			Download: "NOASSERTION", Refs: []reference{{"PACKAGE-MANAGER", "purl", locator}},
		}
	}
	listed, err := os.ReadFile(o.Packages)
	if err != nil {
		return document{}, err
	}
	for line := range strings.Lines(string(listed)) {
		name, version, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			return document{}, fmt.Errorf("%s: %q is not NAME VERSION", o.Packages, line)
		}
		add(name, version, "pkg:deb/debian/"+name+"@"+version)
	}
	for _, program := range programs() {
		info, err := buildinfo.ReadFile(filepath.Join(o.Bin, program))
		if err != nil {
			return document{}, err
		}
		version := strings.TrimPrefix(info.GoVersion, "go")
		add("stdlib", version, "pkg:golang/stdlib@"+version)
		for _, module := range info.Deps {
			if module.Replace != nil {
				module = module.Replace
			}
			add(module.Path, module.Version, "pkg:golang/"+module.Path+"@"+module.Version)
		}
	}
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "mara-" + o.Version,
		// The time of the source: the same source gives the same document.
		Creation: creation{
			Created: time.Unix(o.Made, 0).UTC().Format(time.RFC3339), Creators: []string{maintainers, "Tool: mara-image"},
		},
	}
	image := component{
		ID: "SPDXRef-image", Name: "mara", Version: o.Version, Supplier: maintainers, Download: "NOASSERTION",
		Refs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:oci/mara@" + o.Version}},
	}
	d.Packages = append(d.Packages, image)
	d.Relationships = append(d.Relationships, relationship{d.ID, "DESCRIBES", image.ID})
	all := sha256.New()
	for _, locator := range slices.Sorted(maps.Keys(locators)) {
		fmt.Fprintln(all, locator)
		d.Packages = append(d.Packages, locators[locator])
		d.Relationships = append(d.Relationships, relationship{image.ID, "CONTAINS", locators[locator].ID})
	}
	d.Namespace = "https://mara.invalid/sbom/" + hex.EncodeToString(all.Sum(nil))
	return d, nil
}
