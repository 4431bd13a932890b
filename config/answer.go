package config

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
	var missing []Entry
	for _, answer := range answers {
		if entry, ok := f.Lookup(answer.Key); (!ok || entry.Value == nil) && !answer.ShownOnly {
			missing = append(missing, Entry{Key: answer.Key, Value: answer.Value, Why: answer.Why})
		}
	}
	if len(missing) == 0 {
		return f, nil
	}
	answered, own := f, f.Own()
	answered.Entries, answered.own, answered.described = nil, &own, true
	for _, entry := range f.Entries {
		if entry.Value != nil {
			answered.Entries = append(answered.Entries, entry)
		}
	}
	answered.Entries = append(answered.Entries, missing...)
	return answered.withContent(missing)
}
