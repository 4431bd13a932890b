package cmd

import (
	"cmp"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/machine/failure"
)

// DirectoryArgument returns the directory that the first argument names, by default the working
// directory. given is the directory as typed, or "" for the working directory.
func DirectoryArgument(c *cli.Context, d Deps) (given, root string, err error) {
	given = c.Args().First()
	if c.NArg() > 0 && given == "" {
		return "", "", failure.Usagef(Path(c), "the directory has no name")
	}
	if root = filepath.Clean(d.Absolute(cmp.Or(given, "."))); root == filepath.Clean(d.Dir) {
		given = ""
	}
	return given, root, nil
}
