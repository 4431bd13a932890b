package config

import (
	"cmp"
	"maps"
)

// OverrideFlag gives configuration values for one run.
const OverrideFlag = "--config"

// Override returns the stack file with other values for one run, and writes nothing. The
// values have the flag as their origin.
func (f StackFile) Override(changes ...Change) (StackFile, error) {
	if len(changes) == 0 {
		return f, nil
	}
	content, err := f.Edit(changes...)
	if err != nil {
		return StackFile{}, err
	}
	edited, err := ParseStack(f.File, content)
	if err != nil {
		return StackFile{}, err
	}
	edited.Exists, edited.overridden, edited.own, edited.described = f.Exists, map[string]bool{}, f.own, f.described
	maps.Copy(edited.overridden, f.overridden)
	for _, change := range changes {
		edited.overridden[change.Key] = true
	}
	for i, entry := range edited.Entries { // problems name lines of the file on disk
		original, _ := f.Lookup(entry.Key)
		edited.Entries[i].Line, edited.Entries[i].File, edited.Entries[i].Over = original.Line, original.File, original.Over
		edited.Entries[i].Why = original.Why
	}
	return edited, nil
}

// Origin returns the origin of a value of the file.
func (f StackFile) Origin(entry Entry) Origin {
	if f.overridden[entry.Key] {
		return Origin{Source: FromFlag, Name: OverrideFlag}
	}
	if entry.Why != "" {
		return Origin{Source: FromCluster, Name: entry.Why}
	}
	if entry.File != "" {
		return Origin{Source: FromLayer, Name: entry.Key, File: entry.File, Line: entry.Line}
	}
	return Origin{Source: FromStackConfig, Name: entry.Key, File: f.File, Line: entry.Line}
}

// Problem returns a problem with a key, at its line.
func (f StackFile) Problem(key, text string) Problem {
	if f.overridden[key] {
		return Problem{File: OverrideFlag, Key: key, Text: text}
	}
	entry, _ := f.Lookup(key)
	if entry.Why != "" {
		return Problem{File: f.Origin(entry).String(), Key: key, Text: text}
	}
	return Problem{File: cmp.Or(entry.File, f.File), Line: entry.Line, Key: key, Text: text}
}
