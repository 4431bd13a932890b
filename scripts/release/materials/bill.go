package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
	"golang.org/x/mod/module"
)

// maintainers is who makes the release and its bill.
const maintainers = "mara's maintainers"

// bill is a bill of materials with the elements that NTIA's minimum asks for: supplier, name, version and identifier of
// each component, what depends on what, the author of the bill and its time.
type bill struct {
	version   string
	goVersion string
	made      time.Time
	programs  []program
	materials []material
	required  map[module.Version][]string // by module, the paths of what it requires
}

// encode returns the bill in CycloneDX. Its serial number is derived from its content: what is the same has the same bill.
func (b bill) encode() ([]byte, error) {
	bom := b.document()
	content, err := encode(bom)
	if err != nil {
		return nil, err
	}
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, content).URN()
	return encode(bom)
}

func encode(bom *cdx.BOM) ([]byte, error) {
	var buffer bytes.Buffer
	err := cdx.NewBOMEncoder(&buffer, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return buffer.Bytes(), err
}

func (b bill) document() *cdx.BOM {
	bom := cdx.NewBOM()
	reference := "mara@" + b.version
	bom.Metadata = &cdx.Metadata{
		Timestamp: b.made.Format(time.RFC3339),
		Tools:     &cdx.ToolsChoice{Components: &[]cdx.Component{{Type: cdx.ComponentTypeApplication, Name: "mara/scripts/release/materials", Version: b.version}}},
		Authors:   &[]cdx.OrganizationalContact{{Name: maintainers}},
		Supplier:  &cdx.OrganizationalEntity{Name: maintainers},
		Component: &cdx.Component{
			BOMRef: reference, Type: cdx.ComponentTypeApplication, Name: "mara", Version: b.version, Licenses: licences("Apache-2.0"),
			Supplier: &cdx.OrganizationalEntity{Name: maintainers},
		},
	}
	std := "pkg:golang/std@" + strings.TrimPrefix(b.goVersion, "go")
	components := []cdx.Component{{
		BOMRef: std, Type: cdx.ComponentTypeLibrary, Name: "std", Version: strings.TrimPrefix(b.goVersion, "go"), PackageURL: std,
		Licenses: licences("BSD-3-Clause"), Supplier: &cdx.OrganizationalEntity{Name: "The Go Authors"},
	}}
	selected := map[string]string{} // by path, the reference of the version that is linked
	for _, m := range b.materials {
		selected[m.Path] = locator(m.Version)
		components = append(components, cdx.Component{
			BOMRef: locator(m.Version), Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version.Version, PackageURL: locator(m.Version),
			Licenses: licences(m.licences...), Supplier: &cdx.OrganizationalEntity{Name: supplier(m.Path)}, Hashes: sums(m.sum),
		})
	}
	var names []string
	var dependencies []cdx.Dependency
	for _, p := range b.programs {
		name := fmt.Sprintf("%s/%s", reference, p.name)
		names = append(names, name)
		components = append(components, cdx.Component{
			BOMRef: name, Type: cdx.ComponentTypeApplication, Name: p.name, Version: b.version, Licenses: licences("Apache-2.0"),
			Supplier: &cdx.OrganizationalEntity{Name: maintainers}, Hashes: sums(p.sum),
		})
		uses := []string{std}
		for _, m := range p.modules {
			uses = append(uses, locator(m))
		}
		dependencies = append(dependencies, dependency(name, uses))
	}
	for _, m := range b.materials {
		uses := []string{std}
		for _, path := range b.required[m.Version] {
			if used := selected[path]; used != "" {
				uses = append(uses, used)
			}
		}
		dependencies = append(dependencies, dependency(locator(m.Version), uses))
	}
	dependencies = append(dependencies, dependency(reference, names), cdx.Dependency{Ref: std})
	bom.Components, bom.Dependencies = &components, &dependencies
	return bom
}

func dependency(reference string, uses []string) cdx.Dependency {
	slices.Sort(uses)
	uses = slices.Compact(uses)
	return cdx.Dependency{Ref: reference, Dependencies: &uses}
}

func locator(m module.Version) string { return "pkg:golang/" + m.Path + "@" + m.Version }

func licences(names ...string) *cdx.Licenses {
	list := cdx.Licenses{}
	for _, name := range names {
		list = append(list, cdx.LicenseChoice{License: &cdx.License{Name: name}})
	}
	return &list
}

func sums(sha256 string) *[]cdx.Hash {
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sha256}}
}

// supplier returns who publishes a module: the owner at a forge, otherwise the host of its path.
func supplier(path string) string {
	parts := strings.Split(path, "/")
	if forge := parts[0]; len(parts) > 1 && (forge == "github.com" || forge == "gitlab.com" || forge == "bitbucket.org") {
		return forge + "/" + parts[1]
	}
	return parts[0]
}
