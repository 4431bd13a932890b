// Command materials says what Go programs are made of: it reads the modules that
// are linked into them and writes THIRD-PARTY-NOTICES.txt, with the text of every
// licence, and sbom.cdx.json, a CycloneDX bill of materials, into a directory.
//
// It needs the modules in Go's module cache, as a build leaves them. Every module
// has to have a licence that is known.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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

func run(version, folder string, paths []string) error {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	graph, err := exec.Command("go", "mod", "graph").Output()
	if err != nil {
		return fmt.Errorf("go mod graph: %w", err)
	}
	made, err := built()
	if err != nil {
		return err
	}
	programs, goVersion, err := modules(paths)
	if err != nil {
		return err
	}
	var materials []material
	var problems []error
	for _, m := range linked(programs) {
		found, err := examine(strings.TrimSpace(string(cache)), m)
		materials, problems = append(materials, found), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	bill, err := bill{version, goVersion, made, programs, materials, requirements(string(graph))}.encode()
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "THIRD-PARTY-NOTICES.txt"), notices(materials), 0o644),
		os.WriteFile(filepath.Join(folder, "sbom.cdx.json"), bill, 0o644),
	)
}

// built returns the time of the release, SOURCE_DATE_EPOCH: the same source has the same bill.
func built() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// program is a program of the release with the modules that are linked into it.
type program struct {
	name    string
	sum     string // SHA-256 of its file
	modules []module.Version
}

// modules reads what is linked into each program, and the version of Go.
func modules(paths []string) (programs []program, goVersion string, err error) {
	for _, path := range paths {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		goVersion = info.GoVersion
		sum, err := sumOf(path)
		if err != nil {
			return nil, "", err
		}
		p := program{name: filepath.Base(path), sum: sum}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if m.Version != "" && m.Version != "(devel)" { // else it is a folder of ours
				p.modules = append(p.modules, module.Version{Path: m.Path, Version: m.Version})
			}
		}
		module.Sort(p.modules)
		programs = append(programs, p)
	}
	return programs, goVersion, nil
}

// linked returns the modules of all programs, each once, in order.
func linked(programs []program) []module.Version {
	found := map[module.Version]bool{}
	for _, p := range programs {
		for _, m := range p.modules {
			found[m] = true
		}
	}
	list := slices.Collect(maps.Keys(found))
	module.Sort(list)
	return list
}

// sumOf returns the SHA-256 of a file in hexadecimal digits.
func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// requirements reads the output of go mod graph: the paths of the modules that a module of a version requires.
func requirements(graph string) map[module.Version][]string {
	required := map[module.Version][]string{}
	for line := range strings.Lines(graph) {
		from, to, ok := strings.Cut(strings.TrimSpace(line), " ")
		path, _, _ := strings.Cut(to, "@")
		name, version, versioned := strings.Cut(from, "@")
		if ok && versioned && path != "go" && path != "toolchain" {
			m := module.Version{Path: name, Version: version}
			required[m] = append(required[m], path)
		}
	}
	return required
}

// material is a module with its licences.
type material struct {
	module.Version
	sum      string   // SHA-256 of the archive that the module proxy has
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
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return material{}, err
	}
	sum, err := sumOf(filepath.Join(cache, "cache/download", filepath.FromSlash(path), "@v", version+".zip"))
	if err != nil {
		return material{}, err
	}
	found := material{Version: m, sum: sum}
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
		return material{Version: m, sum: sum, licences: []string{named}, texts: [][]byte{bytes.TrimSpace(readme)}}, nil
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
