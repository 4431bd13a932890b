package model

import "slices"

// Narrow returns the provider with only some of its steps and the questions about their keys.
// The result serves to ask for missing values; it is not a plan.
func (p Provider) Narrow(names []string) Provider {
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool {
		return !slices.Contains(names, s.Project.Name)
	})
	var questions []Question
	for _, q := range p.Questions {
		if _, ok := p.findKey(q.Key); !ok {
			continue
		}
		if _, ok := p.findKey(q.DefaultKey); !ok {
			q.DefaultKey = ""
		}
		questions = append(questions, q)
	}
	p.Questions = questions
	return p
}
