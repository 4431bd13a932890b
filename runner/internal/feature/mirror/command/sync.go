package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/projects"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

func syncCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "sync", Usage: "copy the charts and images of an environment to a registry", ArgsUsage: "[REGISTRY]",
		Description: "REGISTRY is a host and an optional path; the default is kubernetes:mirror. Existing charts " +
			"and images are not copied again, and a partly copied image cannot be pulled: after an interruption, " +
			"the same command continues. Images are copied for all their platforms, with their digests. Remote " +
			"references are removed from the schemas of charts. The logins are those of `docker login`. With -o " +
			"json there is one line for each chart and image. --digests keeps the digests of the images in a file to " +
			"commit, and `mirror check --digests` finds tags that were moved since; images that are not copied this " +
			"time keep theirs.\n\n" +
			"Examples:\n  runner mirror sync registry.example.com/mirror -p kind\n" +
			"  runner mirror sync -s dev --digests config/mirror.txt\n" +
			"  runner mirror sync -s dev --dry-run\n  runner mirror sync -s dev --only ingress-controller\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("text", "json"),
			[]cli.Flag{
				&cli.BoolFlag{Name: "dry-run", Usage: "only show what would be copied"},
				&cli.StringFlag{Name: "digests", Usage: "also write the digests of the images into `FILE`, for `mirror check`", TakesFile: true},
			},
			cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parse, runSync),
	}
}

func runSync(ctx context.Context, d cmd.Deps, o options) (err error) {
	ways := mirror.NewNetwork(o.Proxy(), o.Charts())
	defer func() { err = errors.Join(err, ways.Close()) }()
	address, err := address(d, o)
	if err != nil {
		return err
	}
	known := digests{}
	if o.Digests != "" { // a file that cannot be kept is no surprise after an hour of copying
		if known, err = readDigests(o.Digests); err != nil {
			return err
		}
	}
	found, err := needed(ctx, d, o, "", ways)
	if err != nil {
		return err
	}
	c := &copying{
		digests: known,
		ctx:     ctx, to: mirror.Copier{Network: ways, Address: address, DryRun: o.DryRun},
		w: d.Stdout, json: o.Output == "json", live: d.StdoutIsTerminal && o.Output != "json", width: d.Width(),
		all: len(found.Charts) + len(found.Images),
	}
	for _, chart := range found.Charts {
		what := entry{Kind: "chart", Name: chart.Source(), Target: chart.Target}
		c.one(what, func(to mirror.Copier) (mirror.Copied, error) { return to.Chart(ctx, chart) })
	}
	for _, image := range found.Images {
		what := entry{Kind: "image", Name: image.Name, Target: image.Target}
		c.one(what, func(to mirror.Copier) (mirror.Copied, error) { return to.Image(ctx, image) })
	}
	if o.Digests != "" && !o.DryRun {
		err = known.write(o.Digests)
	}
	return errors.Join(c.end(), err)
}

// entry is a chart or an image, and what became of it, for machines.
type entry struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Target string `json:"target"`
	Result string `json:"result"` // copied, there, missing (in a dry run) or failed
	Digest string `json:"digest,omitempty"`
	Local  bool   `json:"local,omitempty"` // without its schema's references to the internet
	Error  string `json:"error,omitempty"`
}

// address returns the registry of the argument, else the configured one.
func address(d cmd.Deps, o options) (string, error) {
	address := o.Registry
	if address == "" && o.Root != "" {
		err := session.Use(d.Deps, o.Options, session.ResolveStack, func(s *session.Resolved) error {
			address = s.Settings.Config.Text(projects.Mirror).Text
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	if address == "" {
		return "", &failure.Usage{
			Text: "no registry is named, and " + projects.Mirror + " is not set", Next: "name it: registry.example.com/mirror",
		}
	}
	address = strings.Trim(address, "/")
	if err := mirror.CheckAddress(address); err != nil {
		return "", failure.Usagef("mirror", "%v", err)
	}
	return address, nil
}

// copying copies one thing after the other, and tells of it. A failure does not
// keep the others from being copied.
type copying struct {
	ctx   context.Context
	to    mirror.Copier
	w     io.Writer
	json  bool
	live  bool // a line may be written over
	width int
	all   int

	digests              digests // of the images that are in the mirror
	done, copied, failed int
	refused              error // the mirror takes nothing without a login
}

func (c *copying) one(what entry, work func(mirror.Copier) (mirror.Copied, error)) {
	if c.ctx.Err() != nil || c.refused != nil {
		return
	}
	line := fmt.Sprintf("%*d/%d  %s %s", len(fmt.Sprint(c.all)), c.done+1, c.all, what.Kind, what.Name)
	to := c.to
	if c.live {
		to.Progress = func(complete, total int64) {
			fmt.Fprintf(c.w, "\r\x1b[K%s  %s of %s", c.short(line), size(complete), size(total))
		}
		fmt.Fprint(c.w, c.short(line))
	}
	copied, err := work(to)
	if c.live {
		fmt.Fprint(c.w, "\r\x1b[K")
	}
	if c.ctx.Err() != nil {
		return
	}
	host, _, _ := strings.Cut(c.to.Address, "/")
	if login, ok := errors.AsType[*mirror.LoginError](err); ok && login.Host == host {
		c.refused = err
		return
	}
	c.tell(line, what, copied, err)
}

// tell counts and says what became of one thing.
func (c *copying) tell(line string, what entry, copied mirror.Copied, err error) {
	c.done++
	what.Digest, what.Local = copied.Digest, copied.Local
	if what.Kind == "image" && err == nil {
		place, _, _ := strings.Cut(what.Target, "@")
		c.digests[place] = copied.Digest
	}
	var text string
	switch {
	case err != nil:
		c.failed++
		what.Result, what.Error, text = "failed", err.Error(), err.Error()
	case copied.There:
		what.Result, text = "there", "there already"
	case c.to.DryRun:
		c.copied++
		what.Result, text = "missing", "to be copied"
	default:
		c.copied++
		what.Result, text = "copied", "copied"
	}
	if c.json {
		_ = cmd.WriteJSONLine(c.w, what) // the reader may be gone
		return
	}
	if what.Local {
		text += ", without the references of its schema to the internet"
	}
	fmt.Fprintf(c.w, "%s: %s\n", line, text)
}

// short leaves room on a line for the numbers that follow.
func (c *copying) short(line string) string {
	if room := max(c.width-24, 16); c.width > 0 {
		return typeset.Cut(line, room, "…")
	}
	return line
}

func (c *copying) end() error {
	if err := context.Cause(c.ctx); err != nil {
		return fmt.Errorf("%d of %d were checked; the same command continues: %w", c.done, c.all, err)
	}
	if c.refused != nil {
		return fmt.Errorf("%w; after that, the same command continues", c.refused)
	}
	if !c.json {
		verb := "copied"
		if c.to.DryRun {
			verb = "to be copied"
		}
		failed := ""
		if c.failed > 0 {
			failed = fmt.Sprintf(", %d failed", c.failed)
		}
		fmt.Fprintf(c.w, "\n%d %s, %d there already%s.\n", c.copied, verb, c.done-c.copied-c.failed, failed)
	}
	if c.failed > 0 {
		return fmt.Errorf("%d of %d %s not in the mirror; the same command continues", c.failed, c.all,
			typeset.Are(c.failed))
	}
	return nil
}

// size formats a number of bytes.
func size(bytes int64) string {
	const mega = 1 << 20
	if bytes < 10*mega {
		return fmt.Sprintf("%.1f MB", float64(bytes)/mega)
	}
	return fmt.Sprintf("%d MB", bytes/mega)
}
