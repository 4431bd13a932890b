package preflight

import (
	"slices"

	"mara/config/lists"
	"mara/projects/model/operation"
)

// Result holds the findings of one check.
type Result struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Group    Group     `json:"group"`
	Status   Status    `json:"status"` // the worst of the findings
	Findings []Finding `json:"findings"`
}

// Report holds the results of all checks, in order.
type Report struct{ Results []Result }

// Status returns the worst status.
func (r Report) Status() Status {
	return worstOf(lists.Map(r.Results, func(result Result) Status { return result.Status }))
}

// Counts returns the number of findings of each status.
func (r Report) Counts() map[Status]int {
	counts := map[Status]int{}
	for _, result := range r.Results {
		for _, finding := range result.Findings {
			counts[finding.Status]++
		}
	}
	return counts
}

// Only returns the report with the findings of one status.
func (r Report) Only(status Status) Report {
	var only Report
	for _, result := range r.Results {
		result.Findings = slices.DeleteFunc(slices.Clone(result.Findings), func(f Finding) bool { return f.Status != status })
		if len(result.Findings) > 0 {
			result.Status = status
			only.Results = append(only.Results, result)
		}
	}
	return only
}

// Settled returns the report without the findings about projects that have a state. Checks look at the cluster before the
// environment is open, when that is not known yet.
func (r Report) Settled(isAbsent func(project string) bool) Report {
	settled := Report{Results: slices.Clone(r.Results)}
	for i, result := range settled.Results {
		kept := slices.DeleteFunc(slices.Clone(result.Findings), func(f Finding) bool { return f.IfAbsent != "" && !isAbsent(f.IfAbsent) })
		if len(kept) < len(result.Findings) {
			settled.Results[i].Findings, settled.Results[i].Status = kept, worst(kept)
		}
	}
	return settled
}

// Conditional returns the report of the findings that hold only if a project has no state.
func (r Report) Conditional() Report {
	var only Report
	for _, result := range r.Results {
		result.Findings = slices.DeleteFunc(slices.Clone(result.Findings), func(f Finding) bool { return f.IfAbsent == "" })
		if len(result.Findings) > 0 {
			result.Status = worst(result.Findings)
			only.Results = append(only.Results, result)
		}
	}
	return only
}

// Replace replaces the results with these names by the results of a second run. A
// check that is missing in the second run is skipped, with the given reason.
func (r Report) Replace(names []string, again Report, because string) Report {
	replaced := Report{Results: slices.Clone(r.Results)}
	for i, result := range replaced.Results {
		second := slices.IndexFunc(again.Results, func(other Result) bool { return other.Name == result.Name })
		switch {
		case !slices.Contains(names, result.Name):
		case second >= 0:
			replaced.Results[i] = again.Results[second]
		default:
			replaced.Results[i].Status, replaced.Results[i].Findings = Skipped, Unseen(because)
		}
	}
	return replaced
}

// Masked returns the report with all strings masked.
func (r Report) Masked(mask func(string) string) Report {
	masked := Report{Results: slices.Clone(r.Results)}
	for i := range masked.Results {
		findings := slices.Clone(masked.Results[i].Findings)
		for j, f := range findings {
			f.Text, f.Remedy, f.Table = mask(f.Text), mask(f.Remedy), mask(f.Table)
			findings[j] = f
		}
		masked.Results[i].Findings = findings
	}
	return masked
}

// worst returns the worst status among findings; OK if there are none.
func worst(findings []Finding) Status {
	return worstOf(lists.Map(findings, func(finding Finding) Status { return finding.Status }))
}

func worstOf(statuses []Status) Status {
	rank := 0
	for _, status := range statuses {
		rank = max(rank, slices.Index(Statuses(), status))
	}
	return Statuses()[rank]
}

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
