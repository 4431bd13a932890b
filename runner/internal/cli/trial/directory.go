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

// makeDir creates the directory of a trial with its configuration. An existing directory is an
// error: it belongs to another trial, whose resources may still exist.
func makeDir(d cmd.Deps, o options) (string, error) {
	dir := d.Absolute(cmp.Or(o.Directory, "mara-try-"+o.Provider.Name))
	if _, err := os.Stat(dir); err == nil {
		return "", &failure.Environment{
			Text: dir + " already exists, perhaps from an interrupted trial",
			Next: fmt.Sprintf("check it with `runner status --root %s -s %s`, destroy what is left with `runner destroy`, "+
				"and remove the directory; or choose another with --directory", dir, stack),
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return dir, fill(dir, o)
}

// fill writes the configuration. It stores the passphrase, which protects nothing that
// outlives the trial, because a destroy after a crash needs it.
func fill(dir string, o options) error {
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
		os.MkdirAll(filepath.Join(dir, config.Directory), 0o700),
		atomicfile.Write(filepath.Join(dir, config.EnvironmentFile), []byte(environment), 0o600),
		atomicfile.Write(filepath.Join(dir, config.StackPath(stack)), file.Content, 0o644),
	)
	if err != nil {
		return failure.RunnerDir(err)
	}
	return nil
}
