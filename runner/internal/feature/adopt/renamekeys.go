package adopt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// renamedFile is a file whose keys have the name of a renamed project.
type renamedFile struct {
	path          string // below the root
	before, after string
}

// renamedFiles renames the keys of a project, whose namespace is its name, in the files of an environment: the one next
// to the project, the shared one, the description and the secrets file. Nothing is written.
func renamedFiles(s *session.Resolved, from, to string) ([]renamedFile, error) {
	stack := s.Settings.Stack.Text
	paths := []string{config.StackPath(stack), config.DescriptionPath(stack), config.SecretsPath(stack)}
	if project, ok := s.Options.Known().Project(to); ok {
		file, err := catalogue.Beside(s.Settings.Root, stack, project)
		if err != nil {
			return nil, err
		}
		if file.Exists && !filepath.IsAbs(file.File) {
			paths = append(paths, file.File)
		}
	}
	var renamed []renamedFile
	for _, path := range paths {
		content, err := files.ReadCommitted(s.Settings.Absolute(path), files.Text)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, &failure.Environment{Text: err.Error()}
		}
		if after := renameKeys(string(content), from, to); after != string(content) {
			renamed = append(renamed, renamedFile{path, string(content), after})
		}
	}
	return renamed, nil
}

// renameKeys replaces the namespace of keys at the beginning of lines. Everything else stays, comments included.
func renameKeys(content, from, to string) string {
	var b strings.Builder
	for line := range strings.Lines(content) {
		text := strings.TrimLeft(line, " ")
		margin := line[:len(line)-len(text)]
		quote := ""
		if strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'") {
			quote, text = text[:1], text[1:]
		}
		if rest, ok := strings.CutPrefix(text, from+":"); ok && margin != "" && rest != "" && rest[0] != ' ' && rest[0] != '\n' {
			text = to + ":" + rest
		}
		b.WriteString(margin + quote + text)
	}
	return b.String()
}

// patches returns the changes of files, for people to read.
func patches(files []renamedFile) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString(typeset.Patch(f.path, f.before, f.after))
	}
	return b.String()
}

// writeRenamed writes the files.
func writeRenamed(s *session.Resolved, files []renamedFile) error {
	for _, f := range files {
		info, err := os.Stat(s.Settings.Absolute(f.path))
		if err == nil {
			err = atomicfile.Write(s.Settings.Absolute(f.path), []byte(f.after), info.Mode().Perm())
		}
		if err != nil {
			return &failure.Environment{Text: fmt.Sprintf("%s cannot be written: %v", f.path, err),
				Next: "the state is renamed: call the command again"}
		}
	}
	return nil
}
