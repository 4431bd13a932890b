// Package cost estimates the minimal cost of an environment by a dated price sheet. The
// estimate lists the resources without a price and the costs that cannot be known in
// advance. It is pure.
package cost

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/policy/strictyaml"
)

//go:embed prices
var ours embed.FS

// File is the user's price sheet below the root. Its types override the shipped ones.
const File = "prices.yaml"

// hours is the number of hours in a month, as the clouds count it.
const hours = 730

// Sheet is a price sheet.
type Sheet struct {
	Currency string           `yaml:"currency"`
	Types    map[string]*rate `yaml:"types"`
	Free     []string         `yaml:"free"` // types; a final * matches anything

	file  string         // the root's sheet; "" without one
	lines map[string]int // lines of the types in the root's sheet
}

// rate is the price of the resources of a type.
type rate struct {
	tariff  `yaml:",inline"`
	Per     string             `yaml:"per"`     // hour or month
	Parts   string             `yaml:"parts"`   // jq over the inputs: the parts with a price; "" for one part
	Size    string             `yaml:"size"`    // jq over a part
	Count   string             `yaml:"count"`   // jq over a part; "" for one
	Unit    string             `yaml:"unit"`    // of the count, such as GiB of disk
	Scales  string             `yaml:"scales"`  // jq over the inputs: whether the count is an autoscaler's minimum
	Region  string             `yaml:"region"`  // "" if the price is the same everywhere
	Except  []string           `yaml:"except"`  // regions with other prices
	Regions map[string]*tariff `yaml:"regions"` // the prices of further regions
	Also    []*rate            `yaml:"also"`    // further charges of the resource

	parts, size, count, scales *query.Query
}

// tariff is what a rate costs in one region, or in all.
type tariff struct {
	Price  *float64           `yaml:"price"`  // of each, for any size
	Prices map[string]float64 `yaml:"prices"` // by size
	Day    string             `yaml:"day"`
	Source string             `yaml:"source"`
}

// Load reads the shipped prices and the prices of a root.
func Load(root string) (Sheet, error) {
	sheet, err := shipped()
	if err != nil || root == "" {
		return sheet, err
	}
	if unread := config.Unread(root, []string{File}); len(unread) > 0 {
		return sheet, errors.New(unread[0].String())
	}
	path := filepath.Join(root, File)
	content, err := files.ReadCommitted(path, files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return sheet, nil
	}
	if err != nil {
		return sheet, err
	}
	own, err := parse(path, content)
	if err != nil {
		return sheet, err
	}
	if own.Currency != "" && own.Currency != sheet.Currency {
		return sheet, fmt.Errorf("%s: the prices are in %s, and the runner's in %s; they cannot be added up", path,
			own.Currency, sheet.Currency)
	}
	sheet.add(own)
	sheet.file, sheet.lines = path, own.lines
	return sheet, nil
}

// shipped reads the prices in the runner: a file for each cloud, and a common one.
func shipped() (Sheet, error) {
	sheet := Sheet{Types: map[string]*rate{}}
	files, err := fs.Glob(ours, "prices/*.yaml")
	if err != nil {
		return sheet, err
	}
	for _, file := range files {
		content, err := ours.ReadFile(file)
		if err != nil {
			return sheet, err
		}
		part, err := parse(file, content)
		if err != nil {
			return sheet, err
		}
		sheet.Currency += part.Currency // only one file has it
		sheet.add(part)
	}
	return sheet, nil
}

// add merges further prices, which override existing ones.
func (s *Sheet) add(further Sheet) {
	maps.Copy(s.Types, further.Types)
	s.Free = append(s.Free, further.Free...)
}

// parse parses a sheet. Its error lists each problem with file and line.
func parse(path string, content []byte) (Sheet, error) {
	sheet := Sheet{Types: map[string]*rate{}, lines: map[string]int{}}
	if err := strictyaml.Decode(path, content, &sheet); err != nil {
		return sheet, err
	}
	var lines struct {
		Types map[string]yaml.Node `yaml:"types"`
	}
	if err := yaml.Unmarshal(content, &lines); err != nil {
		return sheet, strictyaml.Errors(path, err)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(sheet.Types)) {
		node := lines.Types[name]
		sheet.lines[name] = node.Line
		if err := errors.Join(checkType(name), sheet.Types[name].check()); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %s: %w", path, node.Line, name, err))
		}
	}
	return sheet, errors.Join(errs...)
}

// checkType validates a Pulumi type.
func checkType(name string) error {
	if strings.Count(name, ":") != 2 {
		return errors.New("it is no type of a resource, such as aws:eks/nodeGroup:NodeGroup")
	}
	return nil
}

// check validates a rate and compiles its jq programs.
func (r *rate) check() error {
	switch {
	case r == nil:
		return errors.New("it has no price")
	case r.Per != "hour" && r.Per != "month":
		return fmt.Errorf("per is %q; write hour or month", r.Per)
	}
	if err := r.tariff.check(r.Size); err != nil {
		return err
	}
	for _, region := range slices.Sorted(maps.Keys(r.Regions)) {
		if err := r.Regions[region].check(r.Size); err != nil {
			return fmt.Errorf("%s: %w", region, err)
		}
	}
	for _, program := range []struct {
		source string
		into   **query.Query
	}{{r.Parts, &r.parts}, {r.Size, &r.size}, {r.Count, &r.count}, {r.Scales, &r.scales}} {
		if program.source == "" {
			continue
		}
		compiled, err := query.Compile(program.source)
		if err != nil {
			return fmt.Errorf("%q: %w", program.source, err)
		}
		*program.into = compiled
	}
	for _, also := range r.Also {
		if err := also.check(); err != nil {
			return fmt.Errorf("also: %w", err)
		}
	}
	return nil
}

// check validates a tariff of a rate with this program for sizes.
func (t *tariff) check(size string) error {
	switch {
	case t == nil || (t.Price == nil) == (len(t.Prices) == 0):
		return errors.New("it has either a price, or prices by size")
	case len(t.Prices) > 0 && size == "":
		return errors.New("prices by size need a size, in jq over the resource's inputs")
	case t.Source == "":
		return errors.New("say where the price comes from, in source")
	case t.Price != nil && !isAmount(*t.Price):
		return fmt.Errorf("the price is %g; a price is an amount of 0 or more", *t.Price)
	}
	for _, size := range slices.Sorted(maps.Keys(t.Prices)) {
		if !isAmount(t.Prices[size]) {
			return fmt.Errorf("the price of %s is %g; a price is an amount of 0 or more", size, t.Prices[size])
		}
	}
	if _, err := time.Parse(time.DateOnly, t.Day); err != nil {
		return fmt.Errorf("day is %q; write the day of the price as 2026-11-30", t.Day)
	}
	return nil
}

// isFree reports whether resources of a type cost nothing.
func (s Sheet) isFree(token string) bool {
	return slices.ContainsFunc(s.Free, func(pattern string) bool {
		prefix, any := strings.CutSuffix(pattern, "*")
		return token == pattern || any && strings.HasPrefix(token, prefix)
	})
}

// Unmatched warns of types in the root's sheet that no resource has, although there are
// resources of the same package: they may be typing errors.
func (s Sheet) Unmatched(document updateplan.Document) []string {
	var types, packages []string
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			name, _, _ := strings.Cut(step.Type, ":")
			types, packages = append(types, step.Type), append(packages, name)
		}
	}
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(s.lines)) {
		of, _, _ := strings.Cut(name, ":")
		if slices.Contains(types, name) || !slices.Contains(packages, of) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s:%d: no resource has the type %s, so its price is not used%s",
			s.file, s.lines[name], name, config.DidYouMean(name, types)))
	}
	return warnings
}
