package trial

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/atomicfile"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/failure"
)

const stack = "try"

// makeFolder makes the folder of a trial, with its configuration. One that is
// there belongs to another trial, of which something may be left.
func makeFolder(d cmd.Deps, o options) (string, error) {
	folder := d.Absolute(cmp.Or(o.Folder, "mara-try-"+o.Provider.Name))
	if _, err := os.Stat(folder); err == nil {
		return "", &failure.Environment{
			Text: folder + " is there already, perhaps from a trial that was cut off",
			Next: fmt.Sprintf("see what is left with `runner status --root %s -s %s`, destroy it with `runner destroy`, and remove the folder; or name another with --folder", folder, stack),
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return folder, fill(folder, o)
}

// fill writes the configuration. The passphrase protects nothing that outlives the
// trial, but without it nothing could be destroyed after a crash.
func fill(folder string, o options) error {
	changes := slice.Map(o.Provider.Trial.Settings, func(s providers.Setting) config.Change { return config.Change{Key: s.Key, Value: s.Value} })
	changes = append(changes, config.Change{Key: config.InfraType, Value: o.Provider.Name})
	file, err := config.StackFile{File: config.StackPath(stack)}.Override(changes...)
	if err != nil {
		return err
	}
	environment := fmt.Sprintf("PULUMI_STACK=%s\nPULUMI_BACKEND_URL=file://./.runner/state\nPULUMI_CONFIG_PASSPHRASE=%s\n", stack, rand.Text())
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
