package trial

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

const stack = "try"

// makeFolder creates the folder of a trial with its configuration. An existing folder is an
// error: it belongs to another trial, whose resources may still exist.
func makeFolder(d cmd.Deps, o options) (string, error) {
	folder := d.Absolute(cmp.Or(o.Folder, "mara-try-"+o.Provider.Name))
	if _, err := os.Stat(folder); err == nil {
		return "", &failure.Environment{
			Text: folder + " already exists, perhaps from an interrupted trial",
			Next: fmt.Sprintf("check it with `runner status --root %s -s %s`, destroy what is left with `runner destroy`, "+
				"and remove the folder; or choose another with --folder", folder, stack),
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return folder, fill(folder, o)
}

// fill writes the configuration. It stores the passphrase, which protects nothing that
// outlives the trial, because a destroy after a crash needs it.
func fill(folder string, o options) error {
	changes := []config.Change{{Key: config.InfraType, Value: o.Provider.Name}}
	for _, s := range o.Provider.Trial.Settings {
		changes = append(changes, config.Change{Key: s.Key, Value: s.Value})
	}
	file, err := config.StackFile{File: config.StackPath(stack)}.Override(changes...)
	if err != nil {
		return err
	}
	environment := fmt.Sprintf("PULUMI_STACK=%s\nPULUMI_BACKEND_URL=file://./.runner/state\nPULUMI_CONFIG_PASSPHRASE=%s\n",
		stack, rand.Text())
	err = errors.Join(
		os.MkdirAll(filepath.Join(folder, config.Folder), 0o700),
		atomicfile.Write(filepath.Join(folder, config.EnvironmentFile), []byte(environment), 0o600),
		atomicfile.Write(filepath.Join(folder, config.StackPath(stack)), file.Content, 0o644),
	)
	if err != nil {
		return failure.RunnerFolder(err)
	}
	return nil
}
