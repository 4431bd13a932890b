package operations

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/failure"
)

// The values of --unknown-costs, and of --unknown-programs: what up --plan does with a program that cannot be compared
// with the planned one.
const (
	denyUnknown  = "deny"
	allowUnknown = "allow"
)

// parseGuards reads the limit of what an environment may cost, and the policy packs. A limit of 0 is one, too.
func parseGuards(c *cli.Context, d cmd.Deps) (g operate.Guards, err error) {
	if c.IsSet("max-monthly") {
		limit := c.Float64("max-monthly")
		if !(limit >= 0) || math.IsInf(limit, 0) {
			return g, failure.Usagef(c.Command.Name, "--max-monthly: %v is not an amount of 0 or more", limit)
		}
		g.MaxMonthly, g.UnknownOK = &limit, cmd.Chosen(c, "unknown-costs") == allowUnknown
	}
	for _, directory := range c.StringSlice("policy-pack") {
		directory = d.Absolute(directory)
		if _, err := os.Stat(filepath.Join(directory, "PulumiPolicy.yaml")); err != nil {
			return g, failure.Usagef(c.Command.Name, "--policy-pack: %s is no directory with a PulumiPolicy.yaml", directory)
		}
		g.Packs = append(g.Packs, directory)
	}
	return g, nil
}

// parsePlan reads the plan that an up must follow, or the file for the plan of a preview.
func parsePlan(c *cli.Context, d cmd.Deps, r operate.Request) (p operate.Plan, err error) {
	p.Save = d.Absolute(c.String("save-plan"))
	if held, err := checkPlanFlags(c); err != nil || !held {
		return p, err
	}
	document, err := updateplan.Read(d.Absolute(c.String(planFlag)))
	if err != nil {
		return p, failure.Usagef(c.Command.Name, "--plan: %v", err)
	}
	if err := checkDigest(c.String(planFlag), c.String(digestFlag), document.Digest); err != nil {
		return p, err
	}
	if words := r.Words(); len(words) > 0 {
		return p, failure.Usagef(
			c.Command.Name, "--plan: the plan says which projects run; omit %s", strings.Join(words, " "),
		)
	}
	if len(document.Projects) == 0 {
		return p, failure.Usagef(c.Command.Name, "--plan: the plan has no projects")
	}
	p.Hold, p.HoldFile = &document, c.String("plan")
	p.UnknownPrograms = cmd.Chosen(c, "unknown-programs") == allowUnknown
	return p, nil
}

// planFlag and digestFlag name a plan and its content.
const (
	planFlag   = "plan"
	digestFlag = "plan-digest"
)

// digestForm matches what --plan-digest takes.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// checkPlanFlags refuses empty values, which a script with an empty variable passes:
// they would switch off the gate. It reports whether there is a plan.
func checkPlanFlags(c *cli.Context) (held bool, err error) {
	held = c.String(planFlag) != ""
	switch digest := c.String(digestFlag); {
	case c.IsSet(planFlag) && !held:
		return false, failure.Usagef(c.Command.Name, "--plan: the name of the file is empty")
	case c.IsSet(digestFlag) && !held:
		return false, failure.Usagef(c.Command.Name, "--plan-digest needs --plan")
	case c.IsSet(digestFlag) && !digestForm.MatchString(digest):
		return false, failure.Usagef(c.Command.Name,
			"--plan-digest: %q is not sha256: and 64 hexadecimal digits in lower case", digest)
	}
	return held, nil
}

// checkDigest refuses a plan that is not the approved one.
func checkDigest(file, approved, digest string) error {
	if approved == "" || approved == digest {
		return nil
	}
	return refusal.By(refusal.PlanDigest, &failure.Environment{
		Text: fmt.Sprintf("--plan-digest: %s is not the plan that was approved: its digest is %s, not %s; "+
			"nothing was changed", file, digest, approved),
		Next: "take the file that was approved, or have this one approved",
	})
}
