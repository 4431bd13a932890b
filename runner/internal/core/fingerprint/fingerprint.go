// Package fingerprint finds out whether what the last success of a project depended
// on is still the same: its program, its configuration, the outputs that it
// reads, the programs that run it, and the state that it has left. Such a project
// need not be run again.
//
// A project whose fingerprint cannot be computed reliably has none, and always runs.
package fingerprint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// Basis is what all projects of an environment depend on. It is made once for a
// run.
type Basis struct {
	// Root is the directory of the configuration. Relative paths in it may start there,
	// or in one of Directories.
	Root        string
	Directories []string
	// Programs run projects: the runner, the engine, hosts, plugins.
	Programs []string
	// PluginDirs are those in which Pulumi keeps what it has downloaded.
	PluginDirs []string
	// Environ is the environment of programs and plugins. A slow hash stands for
	// the values of variables that IsSecret names.
	Environ  map[string]string
	IsSecret func(variable string) bool
	// Declared are variables of the environment file, which count in any case.
	Declared []string
	// Ignored never count, and if Only is set no others do: names of variables, or their beginnings that end in *.
	Ignored, Only []string
	// Contents has large files count by what is in them, too, and not by their time,
	// which is another one in every clone of a repository.
	Contents bool
	// Setting is whatever else has to be the same, such as the backend.
	Setting map[string]string
}

// Subject is one project.
type Subject struct {
	Source  *Source        // of its program; nil for one that is built in
	Config  map[string]any // its configuration, secrets encrypted
	Secrets [][]byte       // files with more secrets that it gets, encrypted
	Plan    any            // what the plan says of it
	// Variables are those of its own, besides those of the environment.
	Variables map[string]string
	Outputs   map[string]string
}

// Maker makes the fingerprints of an environment's projects.
type Maker struct {
	basis  Basis
	common map[string][]byte // the parts that all projects share
}

// NewMaker looks at what the projects have in common.
func NewMaker(b Basis) (*Maker, error) {
	programs, err := stats(b.Programs)
	if err != nil {
		return nil, err
	}
	environ, err := b.environ()
	if err != nil {
		return nil, err
	}
	setting, err := json.Marshal(b.Setting)
	return &Maker{b, map[string][]byte{
		"programs": programs, "plugins": listings(b.PluginDirs),
		VariablesPart: environ, "setting": setting,
	}}, err
}

// Of computes the fingerprint of a project: a digest of each part.
func (m *Maker) Of(s Subject) (Fingerprint, error) {
	parts, _, err := m.Look(s)
	return parts, err
}

// Look computes the fingerprint of a project, and hints by which what has changed in a part is named.
func (m *Maker) Look(s Subject) (Fingerprint, Details, error) {
	parts, details := maps.Clone(m.common), Details{}
	config, err := json.Marshal(s.Config)
	if err != nil {
		return nil, nil, err
	}
	plan, err := json.Marshal(s.Plan)
	if err != nil {
		return nil, nil, err
	}
	parts["configuration"], parts["plan"], parts["secrets"] = config, plan, bytes.Join(s.Secrets, []byte{0})
	named, err := m.basis.named(s.Config, s.Source)
	if err != nil {
		return nil, nil, err
	}
	parts["files"] = named.content()
	details.addFiles("files", named)
	details.addValues(m.basis.Root, "configuration", s.Config)
	if s.Source != nil {
		if err := m.addSource(parts, *s.Source, details); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		parts[ownPart] = append(parts[ownPart], name+"="+s.Variables[name]+"\x00"...)
	}
	for project, outputs := range s.Outputs {
		parts[OutputsPart+project] = []byte(outputs)
	}
	return New(parts), details, nil
}

// addSource adds the program of a user's project, and the volatile variables that
// it names.
func (m *Maker) addSource(parts map[string][]byte, source Source, details Details) error {
	files := newTree(source.Root, m.basis.Contents, m.basis.volatile()...)
	if err := source.addAll(files); err != nil {
		return err
	}
	parts["program"] = files.content()
	details.addFiles("program", files)
	if len(files.names) == 0 {
		return nil
	}
	var err error
	parts[mentionedPart], err = m.basis.digestOf(func(name string) bool { return files.names[name] })
	return err
}

// OutputsPart begins the names of the parts with the outputs of other projects.
const OutputsPart = "outputs of "

// The parts that environment variables are in.
const (
	VariablesPart = "environment variables"
	mentionedPart = "environment variables that the program names"
	ownPart       = "environment variables of the project"
)

// listings returns the names of the entries of directories; a missing directory
// has none.
func listings(directories []string) []byte {
	var text bytes.Buffer
	for _, directory := range directories {
		entries, _ := os.ReadDir(directory)
		for _, entry := range entries {
			fmt.Fprintf(&text, "%q\n", entry.Name())
		}
	}
	return text.Bytes()
}
