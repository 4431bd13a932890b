package fingerprint

import (
	"encoding/json"
	"strings"
)

// Details are hints by which what has changed in a part is named: for the part and the name of a file, a key or an
// output a few digits of a digest, too few to confirm a guess of a value.
type Details map[string]string

// mostDetails is how many files of a part are remembered one by one.
const mostDetails = 2000

func (d Details) add(root, part, name, value string) {
	d[part+"\x00"+name] = hint(root, part, name, value)
}

func (d Details) addFiles(part string, t *tree) {
	if len(t.files) > mostDetails {
		return
	}
	for path, content := range t.files {
		d.add(t.root, part, t.shown(path), content)
	}
}

func (d Details) addValues(root, part string, values map[string]any) {
	for name, value := range values {
		if text, err := json.Marshal(value); err == nil {
			d.add(root, part, name, string(text))
		}
	}
}

// AddOutputs adds the outputs of another project, as a state has them. Secret ones are encrypted again in every run,
// and have no hint.
func (d Details) AddOutputs(root, project, outputs string) {
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(outputs), &values) != nil {
		return
	}
	for name, value := range values {
		if !strings.Contains(string(value), secretSignature) {
			d.add(root, OutputsPart+project, name, string(value))
		}
	}
}

// secretSignature marks a secret value in a state.
const secretSignature = "1b47061264138c4ac30d75fd1eb44270"

// Changed names what differs in a part since earlier details; nil if there are none to compare.
func (d Details) Changed(before Details, part string) []string {
	earlier := before.of(part)
	if len(earlier) == 0 {
		return nil
	}
	return earlier.Changes(d.of(part))
}

// of returns the hints of a part by their names.
func (d Details) of(part string) Fingerprint {
	hints := Fingerprint{}
	for key, value := range d {
		if name, ok := strings.CutPrefix(key, part+"\x00"); ok {
			hints[name] = value
		}
	}
	return hints
}
