package providers

import "slices"

// Narrow returns the provider as some of its projects need it: their steps, and
// the questions about their keys. It is for questions and for values that are
// missing, not for a plan.
func (p Provider) Narrow(names []string) Provider {
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return !slices.Contains(names, s.Project.Name) })
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
