package runs

import (
	"errors"
	"io/fs"
	"os"
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
	folder := os.DirFS(o.Folder)
	for _, run := range all[:min(o.Runs, len(all))] {
		logs, err := fs.Glob(folder, run.ID+"/logs/*.log")
		if err != nil {
			return nil, err
		}
		for _, name := range append([]string{run.ID + "/meta.json", run.ID + "/summary.json", run.ID + "/events.ndjson"}, logs...) {
			content, err := fs.ReadFile(folder, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue // the run was cut off, or goes on
			}
			if err != nil {
				return nil, err
			}
			files = append(files, packed{"runs/" + name, content})
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
