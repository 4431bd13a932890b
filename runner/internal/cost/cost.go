// Package cost says what an environment costs at least, by a dated sheet of
// prices. It is never more certain than the sheet: what has no price there, and
// what cannot be known before, is named. It is pure.
package cost

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"mara/runner/internal/event"
	"mara/runner/internal/query"
	"mara/runner/internal/updateplan"
)

//go:embed prices
var ours embed.FS

// File is where users keep prices of their own, below the root. A type in it
// replaces ours.
const File = "prices.yaml"

// hours are those of a month, as the clouds count it.
const hours = 730

// Sheet is a sheet of prices.
type Sheet struct {
	Currency string           `yaml:"currency"`
	Types    map[string]*rate `yaml:"types"`
	Free     []string         `yaml:"free"` // types, where * stands for anything
}

// rate is what resources of a type cost.
type rate struct {
	Per    string             `yaml:"per"`    // hour or month
	Price  *float64           `yaml:"price"`  // of each, whatever its size
	Prices map[string]float64 `yaml:"prices"` // by size
	Parts  string             `yaml:"parts"`  // jq: what of the inputs costs something; "" for all
	Size   string             `yaml:"size"`   // jq over a part
	Count  string             `yaml:"count"`  // jq over a part; "" for one
	Region string             `yaml:"region"` // "" where prices are the same everywhere
	Day    string             `yaml:"day"`
	Source string             `yaml:"source"`

	parts, size, count *query.Query
}

// Load reads our prices and those of a root.
func Load(root string) (Sheet, error) {
	sheet, err := shipped()
	if err != nil || root == "" {
		return sheet, err
	}
	path := filepath.Join(root, File)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return sheet, nil
	}
	var own Sheet
	if err == nil {
		own, err = parse(content)
	}
	if err != nil {
		return sheet, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if own.Currency != "" && own.Currency != sheet.Currency {
		return sheet, fmt.Errorf("%s: the prices are in %s, and those of the runner in %s; one sum cannot hold both", path, own.Currency, sheet.Currency)
	}
	sheet.add(own)
	return sheet, nil
}

// shipped are the prices that come with the runner: a file for each cloud, and
// one for what all have.
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
		part, err := parse(content)
		if err != nil {
			return sheet, fmt.Errorf("%s: %w", file, err)
		}
		sheet.Currency += part.Currency // one of them says it
		sheet.add(part)
	}
	return sheet, nil
}

// add puts further prices over those that are there.
func (s *Sheet) add(further Sheet) {
	maps.Copy(s.Types, further.Types)
	s.Free = append(s.Free, further.Free...)
}

func parse(content []byte) (Sheet, error) {
	sheet := Sheet{Types: map[string]*rate{}}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&sheet); err != nil && !errors.Is(err, io.EOF) {
		return sheet, err
	}
	var errs []error
	for name, rate := range sheet.Types {
		if err := rate.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return sheet, errors.Join(errs...)
}

// check compiles the programs of a rate.
func (r *rate) check() error {
	switch {
	case r == nil:
		return errors.New("it has no price")
	case r.Per != "hour" && r.Per != "month":
		return fmt.Errorf("per is %q; write hour or month", r.Per)
	case (r.Price == nil) == (len(r.Prices) == 0):
		return errors.New("it has either a price, or prices by size")
	case len(r.Prices) > 0 && r.Size == "":
		return errors.New("prices by size need a size, in jq over the resource's inputs")
	case r.Source == "":
		return errors.New("say where the price comes from, in source")
	}
	if _, err := time.Parse(time.DateOnly, r.Day); err != nil {
		return fmt.Errorf("day is %q; write the day of the price as 2026-11-30", r.Day)
	}
	for _, program := range []struct {
		source string
		into   **query.Query
	}{{r.Parts, &r.parts}, {r.Size, &r.size}, {r.Count, &r.count}} {
		if program.source == "" {
			continue
		}
		compiled, err := query.Compile(program.source)
		if err != nil {
			return fmt.Errorf("%q: %w", program.source, err)
		}
		*program.into = compiled
	}
	return nil
}

// Estimate is what an environment costs at least.
type Estimate struct{ event.Costs }

// Item is what one resource costs a month.
type Item = event.Cost

// Of estimates what an environment costs after an up, in a region.
func (s Sheet) Of(ctx context.Context, document updateplan.Document, region string) (Estimate, error) {
	e := Estimate{event.Costs{Currency: s.Currency, Items: []Item{}}}
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			s.addStep(ctx, &e, project.Name, step, region)
		}
	}
	slices.Sort(e.Unpriced)
	return e, ctx.Err() // an interrupted question looks like one without an answer
}

// addStep adds what a step makes of the estimate.
func (s Sheet) addStep(ctx context.Context, e *Estimate, project string, step updateplan.Step, region string) {
	rate := s.Types[step.Type]
	switch {
	case step.Op == "read" || rate == nil && s.isFree(step.Type):
		return
	case rate == nil, rate.Region != "" && region != "" && rate.Region != region:
		if !slices.Contains(e.Unpriced, step.Type) {
			e.Unpriced = append(e.Unpriced, step.Type)
		}
		return
	}
	inputs := step.Inputs
	if step.Op == "delete" {
		inputs = step.Old
	}
	item := Item{Project: project, Type: step.Type, Name: step.Name, Source: rate.Source}
	switch {
	case !rate.price(ctx, inputs, &item):
		e.Unknown = append(e.Unknown, project+" "+step.Name)
		return
	case step.Op == "delete":
		e.Change -= item.Monthly
		return
	case step.Op == "create" || step.Op == "import":
		e.Change += item.Monthly
	}
	e.Monthly += item.Monthly
	e.Items = append(e.Items, item)
	if e.Oldest == "" || rate.Day < e.Oldest {
		e.Oldest = rate.Day
	}
}

func (s Sheet) isFree(token string) bool {
	return slices.ContainsFunc(s.Free, func(pattern string) bool {
		prefix, any := strings.CutSuffix(pattern, "*")
		return token == pattern || any && strings.HasPrefix(token, prefix)
	})
}

// price adds up the parts of a resource; known is false if one cannot be told.
func (r *rate) price(ctx context.Context, inputs map[string]any, item *Item) (known bool) {
	parts := []any{inputs}
	if r.parts != nil {
		var err error
		if parts, err = r.parts.Run(ctx, inputs); err != nil {
			return false // what is not known yet has no parts
		}
	}
	var what []string
	for _, part := range parts {
		size, count, ok := r.measure(ctx, part)
		if !ok {
			return false
		}
		each, text := 0.0, ""
		if r.Price != nil {
			each = *r.Price
		} else if each, ok = r.Prices[size]; !ok {
			return false
		} else {
			text = size
		}
		if r.Per == "hour" {
			each *= hours
		}
		item.Monthly += each * count
		if count != 1 {
			text = strings.TrimSpace(fmt.Sprintf("%g %s", count, text))
		}
		what = append(what, text)
	}
	item.What = strings.Join(what, ", ")
	return len(parts) > 0
}

// measure is the size and the number of a part.
func (r *rate) measure(ctx context.Context, part any) (size string, count float64, ok bool) {
	if r.size != nil {
		results, err := r.size.Run(ctx, part)
		if err != nil || len(results) != 1 {
			return "", 0, false
		}
		if size, ok = results[0].(string); !ok || size == updateplan.Unknown {
			return "", 0, false
		}
	}
	if r.count == nil {
		return size, 1, true
	}
	results, err := r.count.Run(ctx, part)
	if err != nil || len(results) != 1 {
		return "", 0, false
	}
	count, ok = results[0].(float64)
	if n, whole := results[0].(int); whole {
		return size, float64(n), true
	}
	return size, count, ok
}

// String says it in a sentence.
func (e Estimate) String() string {
	text := fmt.Sprintf("at least %.0f %s a month", e.Monthly, e.Currency)
	if e.Change > 0.5 || e.Change < -0.5 {
		text += fmt.Sprintf(" (%+.0f)", e.Change)
	}
	text += ", before traffic and what the cluster makes itself"
	if len(e.Unknown) > 0 {
		text += "; not known before: " + strings.Join(e.Unknown, ", ")
	}
	if len(e.Unpriced) > 0 {
		text += "; without a price: " + strings.Join(e.Unpriced, ", ")
	}
	if e.Oldest != "" {
		text += "; prices of " + e.Oldest + " and later"
	}
	return text
}
