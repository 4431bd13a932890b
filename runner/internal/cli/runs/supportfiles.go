package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mara/runner/internal/journal"
)

// pastRuns are the files of the last runs. Outputs and the page, which shows
// them, stay out: what a program exports is nobody else's business.
func (o supportOptions) pastRuns() ([]packed, error) {
	all, err := journal.List(o.Folder)
	if err != nil {
		return nil, err
	}
	var files []packed
	for _, run := range all[:min(o.Runs, len(all))] {
		logs, err := filepath.Glob(filepath.Join(run.Dir, "logs", "*.log"))
		if err != nil {
			return nil, err
		}
		for _, path := range append([]string{"meta.json", "summary.json", "events.ndjson"}, logs...) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(run.Dir, path)
			}
			content, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // the run was cut off, or goes on
			}
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(o.Folder, path)
			if err != nil {
				return nil, err
			}
			files = append(files, packed{"runs/" + filepath.ToSlash(name), content})
		}
	}
	return files, nil
}

// secretWords are in the names of variables that hold secrets.
func secretWords() []string {
	return []string{"SECRET", "TOKEN", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "_KEY", "APIKEY", "AUTH"}
}

// secretValues are the values of variables whose names say that they are
// secrets. A file or a folder that a variable names is none.
func (o supportOptions) secretValues() []string {
	var secrets []string
	for name, value := range o.Sources.File.Merge(o.Sources.Process) {
		upper := strings.ToUpper(name)
		for _, word := range secretWords() {
			if strings.Contains(upper, word) && !strings.HasSuffix(upper, "_FILE") && !strings.HasSuffix(upper, "_SOCK") {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}
