package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/child"
	"mara/runner/internal/feature/web/export"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/outdir"
	"mara/runner/internal/machine/typeset"
)

// usualDays is how old the runs are that an export has.
const usualDays = 7

// exportCommand is what the marker in the directory says.
const exportCommand = "runner web --export"

// exportOptions say what is written as files.
type exportOptions struct {
	Dir        string // "" to serve the pages
	Days       int
	WithPeople bool
}

// parseExport reads the options of an export. Nothing is served, so that the flags of a server make no sense.
func (o *options) parseExport(c *cli.Context, d cmd.Deps) error {
	if c.String("export") == "" {
		return failure.Usagef("web", "--export needs a directory")
	}
	for _, flag := range []string{"listen", "token-file", "allowed-host", "metrics-token-file", "no-open"} {
		if c.IsSet(flag) {
			return failure.Usagef("web", "--export serves nothing; remove --%s", flag)
		}
	}
	o.Export = exportOptions{Dir: d.Absolute(c.String("export")), Days: c.Int("days"), WithPeople: c.Bool("with-people")}
	if o.Export.Days < 0 {
		return failure.Usagef("web", "--days: %d is less than 0", o.Export.Days)
	}
	return nil
}

// runExport writes the pages as files.
func runExport(ctx context.Context, d cmd.Deps, o options) (err error) {
	command, err := child.Self(o.Options)
	if err != nil {
		return err
	}
	reader := view.NewReader(d.Deps, o.Options)
	defer func() { err = errors.Join(err, reader.Close()) }()
	if !o.Export.WithPeople {
		reader.HidePeople()
	}
	if err := reader.ReadFiles(view.Everything()); err != nil {
		return err
	}
	if err := reader.Compare(ctx); err != nil {
		return err
	}
	if _, err := reader.Look(); err != nil {
		return err
	}
	const day = 24 * time.Hour
	made, err := export.Make(ctx, export.Options{
		Site:  page.Site{Reader: reader, Child: child.New(command), Version: d.Version},
		Since: d.Now().Add(-time.Duration(o.Export.Days) * day)})
	if err != nil {
		return err
	}
	if err := outdir.Write(o.Export.Dir, exportCommand, made.Files); err != nil {
		return err
	}
	environments := len(reader.Fleet().Environments)
	if len(made.Failed) > 0 {
		fmt.Fprintf(d.Stderr, "warning: %s with an error: %s\n", typeset.Counted(len(made.Failed), "page"),
			strings.Join(made.Failed[:min(len(made.Failed), 5)], " "))
	}
	return o.Show(d, map[string]any{"directory": o.Export.Dir, "files": len(made.Files), "environments": environments,
		"pages_with_errors": len(made.Failed)},
		fmt.Sprintf("%s of %s in %s; index.html is the first page\n", typeset.Counted(len(made.Files), "file"),
			typeset.Counted(environments, "environment"), o.Export.Dir))
}
