package firstrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mara/config"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/prompt"
)

// write shows the files to write, asks, and writes them.
func (f *firstRun) write(ctx context.Context) (asked bool, err error) {
	changes := append(f.named[:len(f.named):len(f.named)], f.changes...)
	if len(changes) == 0 && !f.newRoot {
		return false, nil
	}
	files, err := f.files(changes)
	if err != nil {
		return false, err
	}
	if err := f.confirm(ctx, files, changes); err != nil {
		return true, err
	}
	for _, file := range files {
		if err := request.Write(f.o.Root, file.Path, file.Content); err != nil {
			return true, err
		}
		f.written = append(f.written, file.Path)
	}
	f.o.Sources.File, err = config.ReadEnvironment(f.o.Root)
	return true, err
}

// confirm shows the files and asks whether to write them. If the command line of `runner init` has said everything,
// that was the confirmation.
func (f *firstRun) confirm(ctx context.Context, files []vault.NewFile, changes []config.Change) error {
	if f.isInit && !f.earlier {
		return nil
	}
	f.show(files, changes)
	ask := f.agree
	if f.earlier && !f.o.Yes {
		ask = f.terminal.AgreeOrBack
	}
	yes, err := ask(ctx, "Write this and "+f.before+"?")
	if err == nil && !yes {
		err = &prompt.Declined{Text: "not confirmed; nothing was written"}
	}
	return err
}

// files lists the files to write. The stack file is the last, because the environment exists with it.
func (f *firstRun) files(changes []config.Change) ([]vault.NewFile, error) {
	files, err := f.examples()
	if err != nil {
		return nil, err
	}
	if len(f.with) > 0 {
		text := schema.Modeline(f.d.Releases, f.d.Version) + maraText(f.given.Known().Names(), f.provider.Name, f.with)
		files = append(files, vault.NewFile{Path: config.MaraFile, Content: []byte(text)})
	}
	file := f.file.Own()
	if !file.Exists {
		file.Content = fmt.Appendf(nil, "# Configuration of the stack %s. Every key is in Pulumi.stackname.yaml.example.\n",
			stackName(f.o.Request))
	}
	content, err := file.Edit(changes...)
	if err != nil {
		return nil, err
	}
	written, err := config.ParseStack(file.File, content)
	if err == nil { // else other commands would fail
		err = config.WithProblems(nil, written.Check(f.o.DeclaredKeys()))
	}
	if err != nil {
		return nil, err
	}
	return append(files, vault.NewFile{Path: file.File, Content: content}), nil
}

// examples returns the files of a new configuration directory that do not exist yet.
func (f *firstRun) examples() (files []vault.NewFile, err error) {
	if !f.newRoot {
		return nil, nil
	}
	examples, err := config.Examples()
	for _, e := range examples {
		if _, missing := os.Lstat(filepath.Join(f.o.Root, e.Path)); missing != nil {
			files = append(files, vault.NewFile{Path: e.Path, Content: e.Data})
		}
	}
	return files, err
}

// maraText returns a mara.yaml in which a provider has optional projects. It lists the other providers, too: providers
// that are not listed could not be used any more.
func maraText(known []string, provider string, with []string) string {
	var b strings.Builder
	b.WriteString("# Optional projects: `runner plan --optional` lists all of them.\nproviders:\n")
	fmt.Fprintf(&b, "  %s:\n    with: [%s]\n", provider, strings.Join(with, ", "))
	for _, name := range known {
		if name != provider {
			fmt.Fprintf(&b, "  %s: {}\n", name)
		}
	}
	return b.String()
}

// show prints a new stack file in full, what is added to an existing one, and the names of other files.
func (f *firstRun) show(files []vault.NewFile, changes []config.Change) {
	fmt.Fprintln(f.d.Stderr)
	for _, file := range files {
		switch {
		case file.Path == f.file.File && f.file.Exists:
			fmt.Fprintf(f.d.Stderr, "added to %s:\n", file.Path)
			for _, change := range changes {
				fmt.Fprintf(f.d.Stderr, "  %s: %s\n", change.Key, view.Show(change.Value))
			}
		case file.Path == f.file.File || file.Path == config.MaraFile:
			fmt.Fprintf(f.d.Stderr, "%s:\n", file.Path)
			for line := range strings.Lines(string(file.Content)) {
				fmt.Fprint(f.d.Stderr, "  "+line)
			}
		default:
			fmt.Fprintln(f.d.Stderr, file.Path)
		}
	}
}
