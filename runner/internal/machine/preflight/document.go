package preflight

import "mara/projects/model/operation"

// Format is the version of the JSON form of a report.
const Format = 1

// Document is the JSON form of a report; `runner schema doctor` describes it.
type Document struct {
	Version   int                 `json:"version"`
	Operation operation.Operation `json:"operation"`
	Provider  string              `json:"provider"` // "" if none is chosen
	Stack     string              `json:"stack"`    // the same
	Simulated bool                `json:"simulated"`
	Status    Status              `json:"status"` // the worst of all
	Counts    map[Status]int      `json:"counts"` // of findings
	Checks    []Result            `json:"checks"`
}

// Fill returns the document with the results of a report.
func (d Document) Fill(r Report) Document {
	d.Version, d.Status, d.Counts, d.Checks = Format, r.Status(), r.Counts(), r.Results
	for _, status := range Statuses() {
		d.Counts[status] += 0
	}
	return d
}
