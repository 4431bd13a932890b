package event

// SavedPlan names the file of a plan, and its content.
type SavedPlan struct {
	File   string `json:"file"`
	Digest string `json:"digest"` // sha256: and hexadecimal digits
}

// withTexts returns the plan with its free text changed.
func (p *SavedPlan) withTexts(change func(string) string) *SavedPlan {
	if p == nil {
		return nil
	}
	return &SavedPlan{File: change(p.File), Digest: p.Digest}
}
