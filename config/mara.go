package config

import (
	"slices"
	"time"
)

// MaraFile is the file below the root that adds the user's projects to environments.
const MaraFile = "mara.yaml"

// PolicyFile is the file below the root that says which rules apply, and how.
const PolicyFile = "policies/policies.yaml"

// Mara is the content of mara.yaml. Package catalogue checks its projects and providers.
type Mara struct {
	File         string // as shown; "" without the file
	Backend      Word   // location of the states of all environments; not set for that of the user's shell or login
	Environments []Word // the complete list; nil if files tell which there are
	Projects     []MaraProject
	Providers    []MaraProvider
	Hooks        []MaraHook // of the run
	Applications []Application
	Harmless     []Word // types of resources, or prefixes, that a protected environment may lose
	Fingerprint  MaraFingerprint
	HidesValues  bool // no screen, event or report has the values that differ

	Doubts   []Problem    // what may be right
	Accepted map[int]bool // lines with values that are right whatever a check says
}

// Accepts reports whether a line has the comment that its value is right whatever a check says.
func (m Mara) Accepts(line int) bool { return m.Accepted[line] }

// MaraFingerprint says which environment variables count for what may be skipped: names, or beginnings that end in *.
type MaraFingerprint struct {
	Ignore []Word // never count
	Only   []Word // no others count; nil for all
}

// Word is a string with its line.
type Word struct {
	Text string
	Line int
}

// Words returns the strings of words.
func Words(words []Word) []string {
	texts := make([]string, 0, len(words))
	for _, word := range words {
		texts = append(texts, word.Text)
	}
	return texts
}

// MaraProject is one entry of a list of projects: a directory of the user, perhaps in a git
// repository, or a project of the catalogue.
type MaraProject struct {
	Line      int
	Path      Word // directory below the root, or in the repository
	Git       Word // URL of a repository
	Ref       Word // tag, branch or commit in it
	Project   Word // name of a project of the catalogue
	Title     string
	Phase     string
	Reads     []Word
	After     []Word
	Edges     bool   // Reads or After is set
	Providers []Word // providers with this project; nil means all
	Replaces  Word   // project of the catalogue that it replaces
	When      Word   // jq
	StackFile Word   // SharedStackFile or OwnStackFile
	Stack     Word   // pattern of its stack names
	Outputs   []Word // to highlight
	Inputs    []Word // files and directories below the root that the program consists of, besides its own directory
	Backend   Word   // location of its states, where it is not that of all projects
	Env       []MaraVariable
	Retry     *int // attempts after a transient error; nil for the flag's
	MaraTimes
	Config []MaraKey
	Hooks  []MaraHook
}

// MaraVariable is an environment variable of a project: one value, or one for each environment.
type MaraVariable struct {
	Name    Word
	Default *string           // for all environments that Of does not have; nil for none
	Of      map[string]string // by environment
}

// MaraTimes are the durations of a project's step: the maximum and the usual one.
type MaraTimes struct{ Timeout, Estimate time.Duration }

// The values of stackFile.
const (
	SharedStackFile = "shared" // config/pulumi/Pulumi.<stack>.yaml
	OwnStackFile    = "own"    // Pulumi.<stack>.yaml next to the project's Pulumi.yaml, over the shared one
)

// MaraKey adds constraints and a question to a configuration key of a project.
type MaraKey struct {
	Key      Word
	Allowed  []string
	Min, Max *int
	Example  string
	Question string
	Generate Word // how the runner generates a secret value
}

// MaraProvider is a provider of the user, or a change to a built-in one.
type MaraProvider struct {
	Name     Word
	Title    string
	Extends  Word
	Without  []Word
	Only     []Word // with what they need
	With     []Word // optional projects
	After    []MaraOrder
	Projects []MaraProject
	Listed   bool // Projects is set and complete
}

// MaraOrder makes a project wait for others.
type MaraOrder struct {
	Project Word
	After   []Word
}

// MaraHook is a hook of a step or of the run: a command of the user, or the name of a
// built-in hook.
type MaraHook struct {
	Line       int
	BuiltIn    Word // "" for a command
	Name       Word
	On         Word // one of HookMoments
	Operations []Word
	Run        []string // the command and its arguments
	RunLine    int
	Timeout    time.Duration
	Retry      int
	Simulate   bool
}

// HookMoments returns the values of a hook's key on.
func HookMoments() []string { return []string{"before", "success", "failure", "always"} }

// ReadMara reads mara.yaml below root. A missing file is an empty one.
func ReadMara(root string) (Mara, error) {
	data, exists, err := readOptional(root, MaraFile)
	if err != nil || !exists {
		return Mara{}, err
	}
	return ParseMara(MaraFile, data)
}

// ParseMara reads the content of mara.yaml strictly; file is its name in
// messages. All problems are reported at once.
func ParseMara(file string, data []byte) (Mara, error) {
	mara := Mara{File: file}
	root, err := decodeDocument(file, data)
	if err != nil || root == nil {
		return mara, err
	}
	d := &maraDecoder{stackDecoder: stackDecoder{file: file}}
	d.readAccepted(root)
	d.document(root, &mara)
	mara.Doubts, mara.Accepted = d.doubts, d.accepted
	return mara, problemsError(d.problems...)
}

// NamedBackend returns the location of the states that the file names; it is not set without one.
func (m Mara) NamedBackend() Value {
	if m.Backend.Text == "" {
		return Value{}
	}
	return Value{Text: m.Backend.Text, Origin: Origin{Source: FromMara, Name: "backend", File: m.File, Line: m.Backend.Line}}
}

// AllProjects returns the projects of the file itself and of its providers.
func (m Mara) AllProjects() []MaraProject {
	all := slices.Clone(m.Projects)
	for _, provider := range m.Providers {
		all = append(all, provider.Projects...)
	}
	return all
}

// Problem returns a problem in a line of the file.
func (m Mara) Problem(line int, text string) Problem {
	return Problem{File: m.File, Line: line, Text: text}
}
