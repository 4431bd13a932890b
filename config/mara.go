package config

import (
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// MaraFile is the file below the root that says which projects of the user
// belong to an environment.
const MaraFile = "mara.yaml"

// Mara is the content of mara.yaml. It is only read here; what it says about
// projects and providers is checked against the catalogue elsewhere.
type Mara struct {
	File      string // as shown; "" when there is none
	Projects  []MaraProject
	Providers []MaraProvider
	Hooks     []MaraHook // of the run
	Harmless  []Word     // types of resources, or their beginnings, that a protected environment may lose
}

// Word is a text with its place.
type Word struct {
	Text string
	Line int
}

// Words are the texts of words.
func Words(words []Word) []string {
	return slice.Map(words, func(word Word) string { return word.Text })
}

// MaraProject is one entry of a list of projects: a folder of the user's, which may
// be in a git repository, or a project of the catalogue.
type MaraProject struct {
	Line      int
	Path      Word // folder below the root, or in the repository
	Git       Word // URL of a repository
	Ref       Word // tag, branch or commit in it
	Project   Word // name of a project of the catalogue
	Title     string
	Phase     string
	Reads     []Word
	After     []Word
	Edges     bool   // Reads or After is given
	Providers []Word // that the project is for; nil means all
	Replaces  Word   // project of the catalogue in whose place it comes
	When      Word   // jq
	StackFile Word   // SharedStackFile or OwnStackFile
	Stack     Word   // pattern of the names of its stacks
	Outputs   []Word // to highlight
	Timeout   time.Duration
	Estimate  time.Duration
	Config    []MaraKey
	Hooks     []MaraHook
}

// The values of stackFile.
const (
	SharedStackFile = "shared" // config/pulumi/Pulumi.<stack>.yaml
	OwnStackFile    = "own"    // Pulumi.<stack>.yaml beside the project, the shared one below it
)

// MaraKey is what mara.yaml adds to a configuration key of a project.
type MaraKey struct {
	Key      Word
	Allowed  []string
	Min, Max *int
	Example  string
	Question string
	Generate Word // how a secret value can be made
}

// MaraProvider is a provider of the user's, or a change to a built-in one.
type MaraProvider struct {
	Name     Word
	Title    string
	Extends  Word
	Without  []Word
	After    []MaraOrder
	Projects []MaraProject
	Listed   bool // Projects is given: it is the whole list
}

// MaraOrder lets a project wait for others.
type MaraOrder struct {
	Project Word
	After   []Word
}

// MaraHook is a hook of a step or of the run: a command of the user's, or the
// name of one that the runner has.
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

// HookMoments are the values of a hook's key on.
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
	d := &maraDecoder{stackDecoder{file: file}}
	d.document(root, &mara)
	return mara, problemsError(d.problems)
}

// AllProjects are those of the file itself, and those of its providers.
func (m Mara) AllProjects() []MaraProject {
	ofProviders := slice.Map(m.Providers, func(p MaraProvider) []MaraProject { return p.Projects })
	return slices.Concat(m.Projects, slices.Concat(ofProviders...))
}

// Problem is one thing that is wrong in a line of the file.
func (m Mara) Problem(line int, text string) Problem {
	return Problem{File: m.File, Line: line, Text: text}
}
