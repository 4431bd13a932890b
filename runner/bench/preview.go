package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"mara/runner/internal/core/pulumicli"
	"mara/runner/internal/core/pulumicli/wire"
)

// resources is how many resources the previewed program has.
const resources = 30

// measurePreview compares previews of one program in a warm engine, in turns: as
// Pulumi does them, and as the runner does, which reads foreseen outputs and finds
// those of the program.
func measurePreview(ctx context.Context, o options, w io.Writer) error {
	p, err := newPreviewed(o)
	if err != nil {
		return err
	}
	defer p.remove()
	foreseen, err := p.deploy(ctx)
	if err != nil {
		return err
	}
	ways := []struct {
		letter, name string
		run          func() error
		times        times
	}{
		{"o", "as Pulumi does", func() error { return p.pulumi(ctx, p.pool, "reader", "preview") }, nil},
		{"p", "with values handed on", func() error {
			_, err := p.foresee(ctx, "reader", foreseen)
			return err
		}, nil},
	}
	for round := range 2*o.rounds + 1 {
		for i := range ways {
			began := time.Now()
			if err := ways[i].run(); err != nil {
				return err
			}
			if round > 0 { // the first fills caches
				ways[i].times = append(ways[i].times, measured{wall: time.Since(began)})
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	fmt.Fprintf(w, "\nPreview of one project with %d resources, which reads another, in a warm engine\n", resources)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  \t\tMEDIAN\tLEAST\tOF\tx/o")
	for _, way := range ways {
		fmt.Fprintf(table, "  (%s)\t%s\t%s\t%s\t%d\t%.2f\n",
			way.letter, way.name, seconds(way.times.median()), seconds(way.times.least()),
			len(way.times), way.times.median().Seconds()/ways[0].times.median().Seconds())
	}
	return table.Flush()
}

// previewed is a directory with two projects in YAML that need no provider. The
// second reads the first.
type previewed struct {
	root string
	env  []string
	pool *pulumicli.Pool
}

func newPreviewed(o options) (*previewed, error) {
	root, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	for path, content := range map[string]string{
		"base/Pulumi.yaml":   "name: base\nruntime: yaml\noutputs: {name: base, token: {'fn::secret': token}}\n",
		"reader/Pulumi.yaml": readerProgram() + "  token: '${base.outputs[\"token\"]}'\n",
		"state/.keep":        "",
		"home/.keep":         "",
	} {
		if err := writeFile(filepath.Join(root, path), content); err != nil {
			return nil, err
		}
	}
	return &previewed{root: root, pool: pulumicli.NewPool(filepath.Join(o.bin, "mara-engine")), env: []string{
		"PATH=" + o.bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + root, "PULUMI_HOME=" + filepath.Join(root, "home"),
		"PULUMI_BACKEND_URL=file://" + filepath.Join(root, "state"),
		"PULUMI_CONFIG_PASSPHRASE=" + passphrase, "PULUMI_SKIP_UPDATE_CHECK=true",
	}}, nil
}

// readerProgram returns a program in YAML that reads the project base. Outputs may follow.
func readerProgram() string {
	program := "name: reader\nruntime: yaml\nresources:\n" +
		"  base: {type: 'pulumi:pulumi:StackReference', properties: {name: organization/base/bench}}\n"
	for i := range resources - 1 {
		program += fmt.Sprintf(
			"  stash%d: {type: 'pulumi:index:Stash', properties: {input: '%d ${base.outputs[\"name\"]}'}}\n", i, i)
	}
	return program + "outputs:\n  name: '${base.outputs[\"name\"]}'\n"
}

// writeFile writes a file, and the directories above it.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

func (p *previewed) remove() {
	_ = p.pool.Close()
	_ = os.RemoveAll(p.root)
}

// deploy deploys both projects and returns the outputs of the first as a preview
// finds them.
func (p *previewed) deploy(ctx context.Context) (map[string]wire.Values, error) {
	for _, project := range []string{"base", "reader"} {
		for _, args := range [][]string{{"stack", "init"}, {"up", "--yes", "--skip-preview"}} {
			if err := p.pulumi(ctx, p.pool, project, args...); err != nil {
				return nil, err
			}
		}
	}
	found, err := p.foresee(ctx, "base", nil)
	if err != nil {
		return nil, err
	}
	return map[string]wire.Values{"organization/base/bench": found.Values}, nil
}

// foresee previews a project with foresight.
func (p *previewed) foresee(ctx context.Context, project string, foreseen map[string]wire.Values) (*wire.Found, error) {
	foresight := &pulumicli.Foresight{Foreseen: foreseen}
	if err := p.pulumi(ctx, p.pool.WithForesight(foresight), project, "preview"); err != nil {
		return nil, err
	}
	if foresight.Found == nil {
		return nil, fmt.Errorf("the preview of %s has found nothing", project)
	}
	return foresight.Found, nil
}

// command runs Pulumi commands.
type command interface {
	Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer,
		env []string, args ...string) (string, string, int, error)
}

// pulumi runs a Pulumi command on the stack of a project.
func (p *previewed) pulumi(ctx context.Context, c command, project string, args ...string) error {
	all := slices.Concat(args, []string{"--stack", "organization/" + project + "/" + stack, "--non-interactive"})
	stdout, stderr, _, err := c.Run(ctx, filepath.Join(p.root, project), nil, nil, nil, p.env, all...)
	if err != nil {
		return fmt.Errorf("pulumi %s: %w\n%s%s", strings.Join(all, " "), err, stdout, stderr)
	}
	return nil
}
