package config

import "gopkg.in/yaml.v3"

// Answer is what a cluster has answered for a key that is not set.
type Answer struct {
	Key   string
	Value any    // string, int or bool
	Why   string // evidence
	// ShownOnly says that programs do not get the value: they leave the choice to the cluster.
	ShownOnly bool
}

// Answered returns the file with answers for keys without a value. The file on disk stays as it is.
func (f StackFile) Answered(answers []Answer) (StackFile, error) {
	var missing []Answer
	for _, answer := range answers {
		if entry, ok := f.Lookup(answer.Key); (!ok || entry.Value == nil) && !answer.ShownOnly {
			missing = append(missing, answer)
		}
	}
	if len(missing) == 0 {
		return f, nil
	}
	document, err := f.Document()
	if err != nil {
		return f, err
	}
	answered, own := f, f.Own()
	answered.Entries, answered.own, answered.described = nil, &own, true
	for _, entry := range f.Entries {
		if entry.Value != nil {
			answered.Entries = append(answered.Entries, entry)
		}
	}
	for _, answer := range missing {
		answered.Entries = append(answered.Entries, Entry{Key: answer.Key, Value: answer.Value, Why: answer.Why})
		var value yaml.Node
		if err := value.Encode(answer.Value); err != nil {
			return f, err
		}
		SetChild(document.Config(), answer.Key, &value)
	}
	answered.Content, err = document.Bytes()
	return answered, err
}
