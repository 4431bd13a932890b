package operations

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/fleet"
	"mara/runner/internal/session"
)

// affected chooses environments by what has changed.
type affected struct {
	Asked bool
	Ref   string // of git; "" for since the last success
	Why   bool   // tell the reasons
}

// affectedFlag takes a value, or none.
type affectedFlag struct{ *cli.GenericFlag }

// TakesValue keeps the word that follows the flag from being its value.
func (affectedFlag) TakesValue() bool { return false }

// affectedValue is the value of such a flag.
type affectedValue struct{ text string }

// Set implements cli.Generic.
func (v *affectedValue) Set(text string) error { v.text = text; return nil }

// String implements cli.Generic.
func (v *affectedValue) String() string { return v.text }

// IsBoolFlag has the flag taken without a value, too.
func (v *affectedValue) IsBoolFlag() bool { return true }

// affectedFlags are the flags of affected.
func affectedFlags() []cli.Flag {
	return []cli.Flag{
		affectedFlag{&cli.GenericFlag{
			Name: "affected", Value: &affectedValue{},
			Usage: "choose environments whose values or programs have changed since they last succeeded; --affected=REF: since the git commit REF",
		}},
		&cli.BoolFlag{Name: "why", Usage: "with --affected: print why each environment is affected"},
	}
}

func parseAffected(c *cli.Context) affected {
	value, ok := c.Generic("affected").(*affectedValue)
	if !ok || value.text == "" {
		return affected{}
	}
	a := affected{Asked: true, Ref: value.text, Why: c.Bool("why")}
	if a.Ref == "true" {
		a.Ref = ""
	}
	return a
}

// limit leaves out the environments that are not affected.
func (a affected) limit(ctx context.Context, d cmd.Deps, r session.Request, chosen []fleet.Environment) ([]fleet.Environment, error) {
	if !a.Asked {
		return chosen, nil
	}
	reasons := map[string][]string{}
	left, err := a.choose(ctx, d, r, chosen, reasons)
	for _, e := range left {
		if a.Why {
			fmt.Fprintf(d.Stderr, "%s: %s\n", e.Stack, strings.Join(reasons[e.Stack], "; "))
		}
	}
	return left, err
}

// choose returns the environments that are affected, and keeps why.
func (a affected) choose(ctx context.Context, d cmd.Deps, r session.Request, chosen []fleet.Environment, why map[string][]string) ([]fleet.Environment, error) {
	reasons, err := a.reasons(ctx, d, r, chosen)
	if err != nil {
		return nil, err
	}
	var left []fleet.Environment
	for i, e := range chosen {
		if len(reasons[i]) > 0 {
			left = append(left, e)
			why[e.Stack] = reasons[i]
		}
	}
	return left, nil
}

// reasons are why environments are affected; one without any is not.
func (a affected) reasons(ctx context.Context, d cmd.Deps, r session.Request, chosen []fleet.Environment) ([][]string, error) {
	return cmd.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) ([]string, error) {
		last, ok := lastRolled(r.Folder(), e.Stack)
		if !ok {
			return []string{"has never been rolled out"}, nil
		}
		now, err := valuesOf(d, r, e.Stack)
		return last.Values.Changes(now), err
	})
}
