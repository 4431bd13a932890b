// Package layers reads the description of an environment in config/environments. The file is a
// Pulumi ESC environment, which ESC's evaluator evaluates offline, together with the layers
// below config/layers that it imports: imports from left to right, each after its own imports,
// and then the file. Maps are merged, lists and strings replaced; null unsets a value.
//
//	imports: [provider/aws, stage/prod]
//	values:
//	  runner: {provider: aws, labels: {stage: prod}}
//	  pulumiConfig: {"eks:max_size": 9}
package layers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/esc"
	"github.com/pulumi/esc/eval"
	"github.com/pulumi/esc/syntax"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
)

// Read reads the description of an environment, which is empty without a file. The error lists
// all problems with file and line.
func Read(root, stack string) (config.Description, error) {
	file := config.DescriptionPath(stack)
	content, err := files.ReadCommitted(filepath.Join(root, file), files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return config.Description{}, nil
	}
	if err != nil {
		return config.Description{}, &config.Error{Problems: []config.Problem{{File: file, Text: reason(err)}}}
	}
	r := &reader{root: root, stack: stack, file: file, sources: map[string][]byte{}}
	return r.read(content)
}

// Unused returns the layers that no environment imports, each with what is wrong in it: nothing else reads them.
func Unused(root string, imported []string) (doubts []config.Problem) {
	for _, name := range (&reader{root: root}).known() {
		file := config.LayersDir + "/" + name + ".yaml"
		if slices.Contains(imported, file) {
			continue
		}
		doubts = append(doubts, config.Problem{File: file, Text: fmt.Sprintf("is read by nobody: no environment imports it; write  "+
			"imports: [%s]  in one, or delete it", name)})
		content, err := files.ReadCommitted(filepath.Join(root, filepath.FromSlash(file)), files.Text)
		if err != nil {
			doubts = append(doubts, config.Problem{File: file, Text: reason(err)})
			continue
		}
		r := &reader{root: root, stack: name, file: file, sources: map[string][]byte{}}
		if _, err := r.read(content); err != nil {
			doubts = append(doubts, r.problems...)
		}
	}
	return doubts
}

func reason(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}

// reader reads one description.
type reader struct {
	root, stack, file string
	sources           map[string][]byte // by file, of all that was read
	layers            []string          // files, as they were read
	problems          []config.Problem
	references        int  // in all that was read
	sized             bool // tooLarge has measured all values
}

// rootName returns the description's name for the evaluator. No import can have this name.
func (r *reader) rootName() string { return "/" + r.stack }

// fileOf returns the file of an environment by its name in the evaluator.
func (r *reader) fileOf(name string) string {
	if strings.HasPrefix(name, "/") {
		return r.file
	}
	return config.LayersDir + "/" + name + ".yaml"
}

func (r *reader) problem(file string, line int, key, format string, args ...any) {
	p := config.Problem{File: file, Line: line, Key: key, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(r.problems, p) {
		r.problems = append(r.problems, p)
	}
}

func (r *reader) read(content []byte) (config.Description, error) {
	r.sources[r.file] = content
	if large := r.tooLarge(content); large != nil {
		return config.Description{File: r.file}, &config.Error{Problems: []config.Problem{*large}}
	}
	r.unread(r.file, content)
	values := r.evaluate(content)
	d := config.Description{File: r.file, Layers: r.layers}
	if len(r.problems) == 0 {
		r.describe(&d, values)
	}
	if len(r.problems) > 0 {
		return config.Description{File: r.file}, &config.Error{Problems: r.problems}
	}
	return d, nil
}

// unread reports keys at the top of a description or a layer that nothing reads, and that are nearly those that are read, or that
// belong below values.
func (r *reader) unread(file string, content []byte) {
	var document yaml.Node
	if yaml.Unmarshal(content, &document) != nil || len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return // the evaluator says so
	}
	known, nodes := []string{"imports", "values", "description"}, document.Content[0].Content
	for i := 0; i+1 < len(nodes); i += 2 {
		switch name := nodes[i].Value; {
		case slices.Contains(known, name):
		case name == "runner" || name == "pulumiConfig" || strings.Contains(name, ":"):
			r.problem(file, nodes[i].Line, "", "%s belongs below values: indent it", name)
		case config.DidYouMean(name, known) != "":
			r.problem(file, nodes[i].Line, "", "%s is not known; there are: imports, values%s", name, config.DidYouMean(name, known))
		}
	}
}

// evaluate returns the values of the description, merged with those of its
// layers.
func (r *reader) evaluate(content []byte) map[string]esc.Value {
	ctx := context.Background()
	declared, diagnostics, err := eval.LoadYAMLBytes(r.rootName(), orEmpty(content))
	r.tell(diagnostics)
	if err != nil {
		r.problem(r.file, 0, "", "%v", err)
	}
	if len(r.problems) > 0 || declared == nil {
		return nil
	}
	about, err := esc.NewExecContext(map[string]esc.Value{})
	if err != nil {
		r.problem(r.file, 0, "", "%v", err)
		return nil
	}
	environment, diagnostics := eval.EvalEnvironment(ctx, r.rootName(), declared, sealed{}, noProviders{}, r, about)
	r.tell(diagnostics)
	if environment == nil {
		return nil
	}
	return environment.Properties
}

// tell converts diagnostics to problems.
func (r *reader) tell(diagnostics syntax.Diagnostics) {
	for _, d := range diagnostics {
		if d.Severity != hcl.DiagError {
			continue
		}
		file, line := r.file, 0
		if d.Subject != nil {
			file, line = r.fileOf(d.Subject.Filename), d.Subject.Start.Line
		}
		text := d.Summary
		if found := regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`).FindStringSubmatch(text); found != nil {
			line, _ = strconv.Atoi(found[1])
			text = "is not valid YAML: " + found[2]
		}
		if cyclic, ok := strings.CutPrefix(text, "cyclic import of "); ok {
			text = "imports " + r.fileOf(cyclic) + ", which imports this file again: imports must not form a cycle"
		}
		r.problem(file, line, "", "%s", text)
	}
}

// LoadEnvironment implements eval.EnvironmentLoader: imports are files below
// config/layers.
func (r *reader) LoadEnvironment(_ context.Context, name string) ([]byte, eval.Decrypter, error) {
	if !filepath.IsLocal(name) || strings.Contains(name, "@") {
		return nil, nil, fmt.Errorf("imports %q, which is not the name of a file below %s", name, config.LayersDir)
	}
	file := r.fileOf(name)
	content, err := files.ReadCommitted(filepath.Join(r.root, filepath.FromSlash(file)), files.Text)
	if other := strings.TrimSuffix(file, ".yaml") + ".yml"; errors.Is(err, fs.ErrNotExist) && r.isThere(other) {
		return nil, nil, fmt.Errorf("imports %q, but %s is not read, because its name ends in .yml; rename it to %s", name,
			other, file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		short := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, config.LayersDir+"/"), ".yaml"), ".yml")
		return nil, nil, fmt.Errorf("imports %q, but there is no file %s%s", name, file, config.DidYouMean(short, r.known()))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("imports %q: %s %s", name, file, reason(err))
	}
	r.sources[file] = content
	r.layers = append(r.layers, file)
	r.unread(file, content)
	if large := r.tooLarge(content); large != nil {
		return nil, nil, fmt.Errorf("%s:%d: %s %s", large.File, large.Line, large.Key, large.Text)
	}
	return orEmpty(content), sealed{}, nil
}

func (r *reader) isThere(file string) bool {
	_, err := os.Stat(filepath.Join(r.root, filepath.FromSlash(file)))
	return err == nil
}

// orEmpty returns the content of a file, or an empty environment if it only has comments.
func orEmpty(content []byte) []byte {
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && line[0] != '#' {
			return content
		}
	}
	return []byte("values: {}\n")
}

// known returns the names of all layers.
func (r *reader) known() []string {
	var names []string
	dir := filepath.Join(r.root, config.LayersDir)
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error { // unreadable directories are skipped
		relative, relErr := filepath.Rel(dir, path)
		if name, isLayer := strings.CutSuffix(filepath.ToSlash(relative), ".yaml"); err == nil && relErr == nil && isLayer &&
			!entry.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// noProviders rejects values that need Pulumi's service.
type noProviders struct{}

var errNoProvider = errors.New("needs Pulumi's service, and layers are evaluated without it; write the value itself")

// LoadProvider implements eval.ProviderLoader.
func (noProviders) LoadProvider(_ context.Context, name string) (esc.Provider, error) {
	return nil, fmt.Errorf("fn::open::%s %w", name, errNoProvider)
}

// LoadRotator implements eval.ProviderLoader.
func (noProviders) LoadRotator(_ context.Context, name string) (esc.Rotator, error) {
	return nil, fmt.Errorf("fn::rotate::%s %w", name, errNoProvider)
}
