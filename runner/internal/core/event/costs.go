package event

import "mara/config/lists"

// Costs are what an environment costs at least, by a sheet of prices.
type Costs struct {
	Currency string  `json:"currency"`
	Monthly  float64 `json:"monthly"` // of all that will be there
	Change   float64 `json:"change"`  // by what is created, changed and deleted
	Items    []Cost  `json:"items"`
	// Unpriced are types without a price; Unknown are resources whose costs cannot be known
	// in advance.
	Unpriced []string `json:"unpriced,omitempty"`
	Unknown  []string `json:"unknown,omitempty"`
	// Gaps are resources that are not counted, or not whole, because the sheet lacks a price: each
	// with the reason.
	Gaps []string `json:"gaps,omitempty"`
	// Elsewhere are types whose prices are of other regions.
	Elsewhere []CostRegion `json:"elsewhere,omitempty"`
	// Outside are projects that are deployed and not among those of the run.
	Outside []string `json:"outside,omitempty"`
	Oldest  string   `json:"oldest,omitempty"` // day of the oldest price that was used
}

// Cost is what one resource costs a month.
type Cost struct {
	Project string  `json:"project"`
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	What    string  `json:"what"`
	Monthly float64 `json:"monthly"`
	Source  string  `json:"source"`
	// Least says that the resource scales by itself, and that this is its smallest size.
	Least bool `json:"least,omitempty"`
}

// CostRegion is a region in which some types have no price.
type CostRegion struct {
	Region string   `json:"region"` // "" if it is not known
	Types  []string `json:"types"`
}

// withTexts returns the costs with their free text changed.
func (c *Costs) withTexts(change func(string) string) *Costs {
	if c == nil {
		return nil
	}
	clean := *c
	clean.Items = append([]Cost{}, c.Items...) // a list in JSON, even if there is none
	for i := range clean.Items {
		item := &clean.Items[i]
		item.Type, item.Name = change(item.Type), change(item.Name)
		item.What, item.Source = change(item.What), change(item.Source)
	}
	clean.Elsewhere = lists.Map(c.Elsewhere, func(r CostRegion) CostRegion {
		return CostRegion{change(r.Region), lists.Map(r.Types, change)}
	})
	clean.Unpriced, clean.Unknown = lists.Map(c.Unpriced, change), lists.Map(c.Unknown, change)
	clean.Gaps = lists.Map(c.Gaps, change)
	return &clean
}
