package cli_test

import (
	"fmt"
	"testing"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// commands returns every command of the program.
func commands(d cmd.Deps) []*cli.Command {
	return lists.Map(wire.Commands(d), func(p cmd.Placed) *cli.Command { return p.Command })
}

// TestFlagsMeanTheSame checks what arrange relies on: a flag that two commands have
// takes a value in both or in neither, and has the same short form.
func TestFlagsMeanTheSame(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	seen := map[string]string{}
	for _, flag := range cmd.AllFlags(commands(d)) {
		for _, name := range flag.Names() {
			meaning := fmt.Sprint(cmd.TakesValue(flag), flag.Names())
			if before, ok := seen[name]; ok && before != meaning {
				t.Errorf("%s: %s and %s", name, before, meaning)
			}
			seen[name] = meaning
			if name == "help" || name == "h" || name == "version" || name == "v" {
				t.Errorf("%s is taken by every command", name)
			}
		}
	}
}
