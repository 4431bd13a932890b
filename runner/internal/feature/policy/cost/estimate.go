package cost

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/updateplan"
)

// Estimate is the minimal cost of an environment.
type Estimate struct{ event.Costs }

// Item is the monthly cost of one resource.
type Item = event.Cost

// Defaults returns the region of a Pulumi package, such as aws, for resources that have no
// region and whose provider has none; "" if it is unknown.
type Defaults func(packageName string) string

// timeLimit is how long the jq programs of all prices may compute.
const timeLimit = query.DefaultTime

var errEndless = fmt.Errorf("its program was stopped after %s; does it end?", timeLimit)

// Of estimates the cost of an environment after an up.
func (s Sheet) Of(ctx context.Context, document updateplan.Document, defaults Defaults) (Estimate, error) {
	e := Estimate{event.Costs{Currency: s.Currency, Items: []Item{}}}
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errEndless)
	defer cancel()
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			s.addStep(ctx, &e, project.Name, step, defaults)
			if ctx.Err() != nil { // an interrupted jq program looks like one without a result
				return e, fmt.Errorf("the price of %s: %w", step.Type, context.Cause(ctx))
			}
		}
	}
	slices.Sort(e.Unpriced)
	e.Monthly, e.Change = round(e.Monthly), round(e.Change)
	return e, nil
}

// round rounds to cents.
func round(amount float64) float64 { return math.Round(amount*100) / 100 }

// addStep adds the cost of a step to the estimate.
func (s Sheet) addStep(ctx context.Context, e *Estimate, project string, step updateplan.Step, defaults Defaults) {
	rate := s.Types[step.Type]
	if step.Op == "read" || rate == nil && s.isFree(step.Type) {
		return
	}
	region := regionOf(step, defaults)
	priced := rate != nil && rate.tariffIn(region) != nil
	if step.Op == "delete" {
		if priced {
			e.Change -= rate.bill(ctx, region, step.Type, step.Old).monthly
		}
		return
	}
	switch {
	case rate == nil:
		e.Unpriced = addOnce(e.Unpriced, step.Type)
		return
	case !priced:
		e.addElsewhere(region, step.Type)
		return
	}
	bill, name := rate.bill(ctx, region, step.Type, step.Inputs), project+" "+step.Name
	for _, gap := range bill.gaps {
		if gap == unknownGap {
			e.Unknown = append(e.Unknown, name)
		} else {
			e.Gaps = append(e.Gaps, name+": "+gap)
		}
	}
	if len(bill.what) == 0 {
		return
	}
	switch step.Op {
	case "create", "import":
		e.Change += bill.monthly
	case "update", "replace":
		if before := rate.bill(ctx, region, step.Type, step.Old); slices.Equal(before.gaps, bill.gaps) {
			e.Change += bill.monthly - before.monthly
		}
	}
	e.Monthly += bill.monthly
	e.Items = append(e.Items, Item{
		Project: project, Type: step.Type, Name: step.Name, What: strings.Join(bill.what, ", "), Monthly: round(bill.monthly),
		Source: rate.tariffIn(region).Source, Least: bill.least,
	})
	if e.Oldest == "" || bill.oldest < e.Oldest {
		e.Oldest = bill.oldest
	}
}

// tariffIn returns the prices of a region, or nil. An unknown region may have other prices.
func (r *rate) tariffIn(region string) *tariff {
	if tariff := r.Regions[region]; tariff != nil {
		return tariff
	}
	if region == "" && len(r.Except) > 0 || r.Region != "" && r.Region != region || slices.Contains(r.Except, region) {
		return nil
	}
	return &r.tariff
}

// regionOf returns the region of a resource: its own, its provider's, or its package's
// default.
func regionOf(step updateplan.Step, defaults Defaults) string {
	region, _ := step.Inputs["region"].(string)
	region = cmp.Or(region, step.Region)
	if region == "" && defaults != nil {
		name, _, _ := strings.Cut(step.Type, ":")
		region = defaults(name)
	}
	if region == updateplan.Unknown {
		return ""
	}
	return region
}

// addElsewhere records a type that has a price, but not in this region.
func (e *Estimate) addElsewhere(region, token string) {
	i := slices.IndexFunc(e.Elsewhere, func(r event.CostRegion) bool { return r.Region == region })
	if i < 0 {
		i = len(e.Elsewhere)
		e.Elsewhere = append(e.Elsewhere, event.CostRegion{Region: region})
	}
	e.Elsewhere[i].Types = addOnce(e.Elsewhere[i].Types, token)
}

func addOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// bill is the monthly cost of a resource.
type bill struct {
	monthly float64
	what    []string // the counted parts
	oldest  string   // day of the oldest price
	least   bool     // it is the smallest size of something that scales
	gaps    []string // why parts are not counted
}

// unknownGap is the gap of a part that is unknown before the up.
const unknownGap = ""

// bill adds up the prices of a resource's parts in a region for which the rate has a tariff.
func (r *rate) bill(ctx context.Context, region, token string, inputs map[string]any) bill {
	if inputs == nil {
		inputs = map[string]any{}
	}
	var b bill
	if r.scales != nil {
		scales, ok := single(ctx, r.scales, inputs)
		b.least = ok && scales == true
	}
	r.addParts(ctx, region, token, inputs, &b)
	if len(b.what) == 0 && len(b.gaps) == 0 {
		b.gaps = append(b.gaps, unknownGap)
	}
	for _, also := range r.Also {
		also.addParts(ctx, region, token, inputs, &b)
	}
	return b
}

// addParts adds the prices of a rate's parts.
func (r *rate) addParts(ctx context.Context, region, token string, inputs map[string]any, b *bill) {
	parts := []any{inputs}
	if r.parts != nil {
		var err error
		if parts, err = r.parts.Run(ctx, inputs); err != nil {
			b.gaps = addOnce(b.gaps, unknownGap) // unknown inputs have no parts
			return
		}
	}
	tariff := r.tariffIn(region)
	for _, part := range parts {
		size, count, ok := r.measure(ctx, part)
		if !ok || count < 0 {
			b.gaps = addOnce(b.gaps, unknownGap)
			continue
		}
		if tariff == nil {
			where := cmp.Or(region, "an unknown region")
			b.gaps = addOnce(b.gaps, fmt.Sprintf("no price of %s is known for %s", r.thing(size, token), where))
			continue
		}
		each := 0.0
		if tariff.Price != nil {
			each = *tariff.Price
		} else if each, ok = tariff.Prices[size]; !ok {
			where := ""
			if r.Region != "" {
				where = " for " + region
			}
			b.gaps = addOnce(b.gaps, fmt.Sprintf("no price of %s%s in the sheet of %s", r.thing(size, token), where, tariff.Day))
			continue
		}
		if r.Per == "hour" {
			each *= hours
		}
		b.monthly += each * count
		b.what = append(b.what, r.text(size, count, token))
		if b.oldest == "" || tariff.Day < b.oldest {
			b.oldest = tariff.Day
		}
	}
}

// thing describes one of what a part with this size is.
func (r *rate) thing(size, token string) string {
	if r.Unit != "" && r.Price != nil {
		return r.Unit
	}
	return cmp.Or(strings.TrimSpace(size+" "+r.Unit), token[strings.LastIndex(token, ":")+1:])
}

// text describes what is paid for.
func (r *rate) text(size string, count float64, token string) string {
	if count == 1 && r.Unit == "" {
		return r.thing(size, token)
	}
	return fmt.Sprintf("%g %s", count, r.thing(size, token))
}

// measure returns the size and the count of a part.
func (r *rate) measure(ctx context.Context, part any) (size string, count float64, ok bool) {
	if r.size != nil {
		result, _ := single(ctx, r.size, part)
		if size, ok = result.(string); !ok || strings.Contains(size, updateplan.Unknown) {
			return "", 0, false
		}
	}
	if r.count == nil {
		return size, 1, true
	}
	result, _ := single(ctx, r.count, part)
	if n, whole := result.(int); whole {
		return size, float64(n), true
	}
	count, ok = result.(float64)
	return size, count, ok && isAmount(count)
}

// isAmount reports whether a number can be added up: neither negative, nor infinite, nor NaN.
func isAmount(number float64) bool { return number >= 0 && !math.IsInf(number, 0) }

// single returns the result of a program that has exactly one.
func single(ctx context.Context, program *query.Query, input any) (result any, ok bool) {
	results, err := program.Run(ctx, input)
	if err != nil || len(results) != 1 {
		return nil, false
	}
	return results[0], true
}

// Uncounted lists the costs that the estimate lacks, with the reasons.
func (e Estimate) Uncounted() []string {
	var parts []string
	for _, r := range e.Elsewhere {
		where := cmp.Or(r.Region, "an unknown region")
		parts = append(parts, fmt.Sprintf("no price is known for %s: %s", where, strings.Join(r.Types, ", ")))
	}
	parts = append(parts, e.Gaps...)
	if len(e.Unknown) > 0 {
		parts = append(parts, "unknown until deployed: "+strings.Join(e.Unknown, ", "))
	}
	if len(e.Unpriced) > 0 {
		parts = append(parts, "no price for "+strings.Join(e.Unpriced, ", "))
	}
	if len(e.Outside) > 0 {
		parts = append(parts, "deployed, but not in this run: "+strings.Join(e.Outside, ", "))
	}
	return parts
}

// String summarises the estimate in one line. It never claims that a resource without a
// price is free.
func (e Estimate) String() string {
	const before = ", without traffic and resources that the cluster creates"
	uncounted := e.Uncounted()
	parts := []string{fmt.Sprintf("at least %.0f %s a month%s%s", e.Monthly, e.Currency, e.change(), before)}
	switch {
	case len(e.Items) == 0 && len(uncounted) > 0:
		parts[0] = "an unknown amount a month" + e.change()
	case e.Monthly == 0:
		parts[0] = "nothing by the month" + e.change() + before
	}
	var least []string
	for _, item := range e.Items {
		if item.Least {
			least = append(least, item.Project+" "+item.Name)
		}
	}
	if len(least) > 0 {
		parts = append(parts, "at minimal scale: "+strings.Join(least, ", "))
	}
	parts = append(parts, uncounted...)
	if e.Oldest != "" {
		parts = append(parts, "prices as of "+e.Oldest+" or later")
	}
	return strings.Join(parts, "; ")
}

// change returns by how much the costs change, or "".
func (e Estimate) change() string {
	if math.Abs(e.Change) <= 0.5 {
		return ""
	}
	return fmt.Sprintf(" (%+.0f)", e.Change)
}
