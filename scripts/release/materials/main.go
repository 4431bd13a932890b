// Command materials says what Go programs are made of: it reads the modules that
// are linked into them and writes THIRD-PARTY-NOTICES.txt, with the text of every
// licence, and sbom.cdx.json, a CycloneDX bill of materials, into a folder.
//
// It needs the modules in Go's module cache, as a build leaves them. Every module
// has to have a licence that is known.
package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
	"golang.org/x/mod/module"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: materials VERSION FOLDER PROGRAM...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(version, folder string, programs []string) error {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	linked, goVersion, err := modules(programs)
	if err != nil {
		return err
	}
	var materials []material
	var problems []error
	for _, m := range linked {
		found, err := examine(strings.TrimSpace(string(cache)), m)
		materials, problems = append(materials, found), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	bill, err := billOf(version, goVersion, materials)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "THIRD-PARTY-NOTICES.txt"), notices(materials), 0o644),
		os.WriteFile(filepath.Join(folder, "sbom.cdx.json"), bill, 0o644),
	)
}

// modules are those that are linked into the programs, in order.
func modules(programs []string) ([]module.Version, string, error) {
	found := map[module.Version]bool{}
	goVersion := ""
	for _, path := range programs {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if m.Version != "" && m.Version != "(devel)" { // else it is a folder of ours
				found[module.Version{Path: m.Path, Version: m.Version}] = true
			}
		}
	}
	list := slices.Collect(maps.Keys(found))
	module.Sort(list)
	return list, goVersion, nil
}

// material is a module with its licences.
type material struct {
	module.Version
	licences []string // SPDX
	texts    [][]byte
}

// isLicence tells by its name whether a file has a licence or goes with one.
func isLicence(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE"}, func(word string) bool {
		return strings.HasPrefix(upper, word) && !strings.HasSuffix(upper, ".GO")
	})
}

// inReadme are modules that have no file with their licence, and name it in their
// README.md.
var inReadme = map[string]string{
	"github.com/mattn/go-localereader": "MIT", // on Windows, by way of bubbletea
}

// examine reads the licences at the top of a module.
func examine(cache string, m module.Version) (material, error) {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return material{}, err
	}
	folder := filepath.Join(cache, filepath.FromSlash(path)+"@"+m.Version)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return material{}, err
	}
	found := material{Version: m}
	for _, entry := range entries {
		if entry.IsDir() || !isLicence(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return material{}, err
		}
		found.texts = append(found.texts, bytes.TrimSpace(text))
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL && !slices.Contains(found.licences, match.ID) {
				found.licences = append(found.licences, match.ID)
			}
		}
	}
	if named := inReadme[m.Path]; len(found.licences) == 0 && named != "" {
		readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
		if err != nil {
			return material{}, err
		}
		if !bytes.Contains(readme, []byte("## License\n\n"+named+"\n")) {
			return material{}, fmt.Errorf("the README.md of %s does not name the licence %s any more", m, named)
		}
		return material{Version: m, licences: []string{named}, texts: [][]byte{bytes.TrimSpace(readme)}}, nil
	}
	if len(found.licences) == 0 {
		return material{}, fmt.Errorf("%s has no licence that is known, in %s", m, folder)
	}
	slices.Sort(found.licences)
	return found, nil
}

func notices(materials []material) []byte {
	var b bytes.Buffer
	b.WriteString("The programs of this release are made of these Go modules, under these licences.\n")
	for _, m := range materials {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n\n", strings.Repeat("-", 80), m.Path, m.Version.Version, strings.Join(m.licences, ", "))
		b.Write(bytes.Join(m.texts, []byte("\n\n")))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// billOf makes the bill of materials. It has no time and no serial number: what
// is the same has the same bill.
func billOf(version, goVersion string, materials []material) ([]byte, error) {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: "mara", Version: version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}}
	components := []cdx.Component{{Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion, PackageURL: "pkg:golang/std@" + goVersion}}
	for _, m := range materials {
		licences := cdx.Licenses{}
		for _, id := range m.licences {
			licences = append(licences, cdx.LicenseChoice{License: &cdx.License{Name: id}})
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version.Version
		components = append(components, cdx.Component{
			BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version.Version, PackageURL: url, Licenses: &licences,
		})
	}
	bom.Components = &components
	var b bytes.Buffer
	encoder := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true)
	err := encoder.Encode(bom)
	return b.Bytes(), err
}
