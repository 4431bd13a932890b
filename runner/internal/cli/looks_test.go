package cli_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	internal "mara/runner/internal/cli"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestLooksAreCommands: each command that only looks exists.
func TestLooksAreCommands(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	var paths []string
	var walk func(before string, all []*cli.Command)
	walk = func(before string, all []*cli.Command) {
		for _, c := range all {
			paths = append(paths, before+c.Name)
			walk(before+c.Name+" ", c.Subcommands)
		}
	}
	walk("", lists.Map(wire.Commands(d), func(p cmd.Placed) *cli.Command { return p.Command }))
	looking, exactly := internal.Looks(wire.Features())
	for _, path := range append(slices.Clone(looking), exactly...) {
		if !slices.Contains(paths, path) {
			t.Errorf("%s is no command", path)
		}
	}
	for _, path := range []string{"up", "preview", "destroy", "fleet up", "unlock", "secrets set", "mirror sync"} {
		if slices.Contains(looking, path) {
			t.Errorf("%s does more than look", path)
		}
	}
}

// TestLooksEndSoon: what waits for ever is left alone a second after the signal, and what ends by itself is not.
func TestLooksEndSoon(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, test := range map[string]struct {
		takes time.Duration // after the signal
		want  error
	}{
		"at once": {0, failed}, "soon": {900 * time.Millisecond, failed}, "after long": {time.Hour, interrupt.ErrInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				began := time.Now()
				time.AfterFunc(time.Minute, func() { cancel(interrupt.ErrInterrupted) })
				err := internal.EndSoon(ctx, func() error {
					time.Sleep(time.Minute + test.takes)
					return failed
				})
				ended := time.Since(began)
				time.Sleep(2 * time.Hour) // what was left alone ends in the bubble
				if !errors.Is(err, test.want) || ended > time.Minute+internal.Patience {
					t.Errorf("ended after %s with %v", ended, err)
				}
			})
		})
	}
	if err := internal.EndSoon(t.Context(), func() error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
}

// TestPageOfLooks: docs/strangers.md says of each command what it reads, runs and sends.
func TestPageOfLooks(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../../docs/strangers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(content), "## Commands that only look")
	table, rest, _ := strings.Cut(table, "## ")
	looking, _ := internal.Looks(wire.Features())
	for _, path := range looking {
		if !strings.Contains(table, "`"+path+"`") {
			t.Errorf("docs/strangers.md does not say what `%s` reads, runs and sends", path)
		}
	}
	d, _, _ := cmdtest.Deps(t)
	var walk func(path string, c *cli.Command)
	walk = func(path string, c *cli.Command) {
		if c.Hidden {
			return
		}
		for _, below := range c.Subcommands {
			walk(path+" "+below.Name, below)
		}
		// A group is said as a whole: `secrets` stands for all of its commands that do more than look.
		group, _, _ := strings.Cut(path, " ")
		if c.Action != nil && !slices.Contains(looking, path) && !strings.Contains(rest, "`"+path+"`") && !strings.Contains(rest, "`"+group+"`") {
			t.Errorf("docs/strangers.md does not say what `%s` reads, runs and sends", path)
		}
	}
	for _, placed := range wire.Commands(d) {
		walk(placed.Command.Name, placed.Command)
	}
}
