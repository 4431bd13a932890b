package export

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model/gomodule"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/outdir"
)

func ciCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "ci", Usage: "write a pipeline for GitHub Actions or GitLab CI", ArgsUsage: "github|gitlab",
		Description: "The pipeline previews every environment on a pull request and maintains one comment about " +
			"all of them; it brings them up on a merge, wave by wave; and it checks for drift every night: on " +
			"GitHub it opens an issue, which it closes when the drift is gone, and on both systems the job fails. " +
			"Only one job at a time works on an environment. On AWS jobs log in by OIDC with the role of " +
			"--aws-role; no key is stored.\n\n" +
			"The runner comes from an image, such as `make image` makes. On GitHub it is only unpacked; on GitLab " +
			"jobs run in it. The command prints what remains to be set up in the CI system.\n\n" +
			"A file that this command did not write, or that was changed since, is not replaced.\n\n" +
			"Examples:\n" +
			"  runner export ci github -s dev --image registry.example.com/runner:1 --aws-role " +
			"arn:aws:iam::123456789012:role/ci\n" +
			"  runner export ci gitlab --wave dev --wave prod-eu,prod-us --image registry.example.com/runner:1\n" +
			"  runner export ci github --all --image registry.example.com/runner:1      # in the waves of " +
			"config/rollout.yaml\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringSliceFlag{Name: "wave", Usage: "bring these `ENVIRONMENTS` up after the previous wave; " +
					"may be repeated (default: the stack alone)"},
				&cli.StringFlag{Name: "image", Usage: "take the runner from this `IMAGE`"},
				&cli.StringFlag{Name: "aws-role", Usage: "log in on AWS as the role `ARN`"},
				&cli.StringFlag{Name: "branch", Value: "main", Usage: "bring environments up when `BRANCH` changes"},
				&cli.StringFlag{Name: "nightly", Value: "17 3 * * *", Usage: "check for drift at the cron `SCHEDULE`"},
				&cli.StringFlag{Name: "out", Usage: "write to `FILE` (default: the CI system's path in the repository)"},
			},
			cmd.FleetFlags(), cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseCI, runCI),
	}
}

type ciOptions struct {
	cmd.Common
	pipeline        // without waves for the stack alone
	System   string // github or gitlab
	Fleet    fleet.Selection
	Out      string // "" for the usual place
}

// cron is a time with five fields.
var cron = regexp.MustCompile(`^[0-9*/,-]+( [0-9A-Za-z*/,-]+){4}$`)

func parseCI(c *cli.Context, d cmd.Deps, common cmd.Common) (ciOptions, error) {
	o := ciOptions{
		Common: common, System: c.Args().First(), Out: d.Absolute(c.String("out")),
		Fleet: fleet.Selection{Labels: c.String("selector"), All: c.Bool("all")},
		pipeline: pipeline{
			Image: c.String("image"), AWSRole: c.String("aws-role"), Branch: c.String("branch"), Nightly: c.String("nightly"),
		},
	}
	seen := map[string]bool{}
	for _, wave := range c.StringSlice("wave") {
		names := strings.FieldsFunc(wave, func(r rune) bool { return r == ',' || r == ' ' })
		for _, name := range names {
			if seen[name] {
				return o, failure.Usagef(cmd.Path(c), "--wave: %s is named twice", name)
			}
			seen[name] = true
		}
		if len(names) == 0 {
			return o, failure.Usagef(cmd.Path(c), "--wave: %q names no environment", wave)
		}
		o.Waves = append(o.Waves, names)
	}
	switch {
	case pipelineFiles()[o.System] == "":
		return o, failure.Usagef(cmd.Path(c), "name the CI system: github or gitlab")
	case len(o.Waves) > 0 && o.Stack.IsSet():
		return o, failure.Usagef(cmd.Path(c), "--wave names the environments; remove -s")
	case !o.Fleet.IsEmpty() && (len(o.Waves) > 0 || o.Stack.IsSet()):
		return o, failure.Usagef(cmd.Path(c), "--all and --selector choose environments of the fleet; remove -s and --wave")
	case o.Image == "":
		return o, failure.Usagef(cmd.Path(c), "--image is missing: the image with the runner; `make image` makes one")
	case !cron.MatchString(o.Nightly):
		return o, failure.Usagef(cmd.Path(c), "--nightly: %q is not a cron schedule, such as 17 3 * * *", o.Nightly)
	}
	return o, nil
}

func runCI(ctx context.Context, d cmd.Deps, o ciOptions) (err error) {
	held := false
	if !o.Fleet.IsEmpty() {
		if o.Waves, held, err = wavesOf(o.Request, o.Fleet); err != nil {
			return err
		}
	}
	named := config.Origin{Source: config.FromFlag, Name: "-s"} // as the jobs name environments
	all, err := resolveAll(d, o.Options, o.Waves, named, true)
	defer func() { err = errors.Join(err, closeAll(all)) }()
	if err != nil {
		return err
	}
	if len(o.Waves) == 0 {
		o.Waves = [][]string{{all[0].name()}}
	}
	notes, err := o.describe(all)
	if err != nil {
		return err
	}
	if held {
		notes = append(notes, "note that the pipeline ignores the soaks and gates of "+fleet.RolloutFile+
			"; `runner fleet up` applies them")
	}
	files := slices.Concat(lists.Map(all, environment.files)...)
	uncommitted, err := uncommittedNotes(ctx, all[0], "the pipeline", files)
	if err != nil {
		return err
	}
	notes = append(uncommitted, notes...)
	content, err := o.render(o.System)
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = filepath.Join(topOf(o.Root), filepath.FromSlash(pipelineFiles()[o.System]))
	}
	if err := outdir.WriteFile(o.Out, "runner export ci "+o.System, content); err != nil {
		return err
	}
	document := pipelineDocument{ciVersion, o.Out, o.Waves, append([]string{}, o.Secrets...), notes}
	text := fmt.Sprintf("wrote %s\n\nNext, in the CI system:\n- %s\n", o.Out, strings.Join(notes, "\n- "))
	return o.Show(d, document, text)
}

// describe completes the pipeline, and returns notes for the user. Its error lists the problems
// of all environments.
func (o *ciOptions) describe(all []environment) ([]string, error) {
	dir, err := filepath.Rel(topOf(o.Root), o.Root)
	if err != nil {
		return nil, err
	}
	o.Directory = filepath.ToSlash(dir)
	problems := lists.Map(all, func(e environment) error { return e.addTo(&o.pipeline) })
	o.Secrets = slices.Compact(slices.Sorted(slices.Values(o.Secrets)))
	o.Variables = slices.Compact(slices.Sorted(slices.Values(o.Variables)))
	return o.notes(), errors.Join(problems...)
}

// addTo adds what an environment needs to the options of a pipeline.
func (e environment) addTo(p *pipeline) error {
	if e.Provider.InfraType() == "kind" {
		return &failure.Environment{Text: e.name() + " is on kind: its cluster would end with its CI job", Next: "remove it"}
	}
	passphrase, err := e.needsPassphrase()
	if err != nil {
		return err
	}
	if passphrase {
		p.Secrets = append(p.Secrets, encryption.PassphraseVariable)
	}
	for _, project := range e.Provider.Own() {
		if encryption.HasPassphrase(e.Env, project.Name) {
			p.Secrets = append(p.Secrets, encryption.PassphraseVariableOf(project.Name))
		}
	}
	if e.Settings.Managed() {
		p.Secrets = append(p.Secrets, config.TokenVariable)
	}
	p.Secrets = append(p.Secrets, e.tokens()...)
	if source := e.Settings.Backend.Origin.Source; source == config.FromProcess || source == config.FromLogin {
		p.Variables = append(p.Variables, config.BackendVariable)
	}
	if !e.usesAWS() {
		return nil
	}
	if p.AWSRole == "" {
		return &failure.Usage{Text: e.name() + " needs AWS, but --aws-role is missing",
			Next: "name a role that trusts the CI system's OIDC provider"}
	}
	p.AWSRegion = cmp.Or(p.AWSRegion, e.Settings.Config.Text("aws:region").Text, "us-east-1") // any will do for logging in
	return nil
}

// notes lists what to set up in the CI system.
func (o *ciOptions) notes() (notes []string) {
	for _, name := range o.Secrets {
		notes = append(notes, "make the secret "+name)
	}
	for _, name := range o.Variables {
		notes = append(notes, "make the variable "+name)
	}
	if o.AWSRole != "" {
		notes = append(notes, "let "+o.AWSRole+" trust the OIDC provider of the CI system, for this repository alone")
	}
	if o.System == "gitlab" {
		return append(notes, "make the secret COMMENT_TOKEN, a project access token with the scope api",
			"make a pipeline schedule for "+o.Nightly)
	}
	environments := strings.Join(o.Environments(), ", ")
	return append(notes, "make the environments "+environments+", with reviewers where an up needs an approval")
}

// topOf returns the top of the repository that contains a directory, or the directory itself.
func topOf(dir string) string {
	top, _ := gomodule.Above(dir, ".git")
	return top
}

// ciVersion changes when a field changes its meaning or is removed.
const ciVersion = 1

type pipelineDocument struct {
	Version int        `json:"version"`
	File    string     `json:"file"`
	Waves   [][]string `json:"waves"`
	Secrets []string   `json:"secrets"` // by name
	Notes   []string   `json:"notes"`   // what is left to do
}

// templates are the pipelines, with as little logic as possible: jobs call the runner. They
// preview on a pull request, with one comment about all environments; they bring environments
// up on a merge, in waves; and they check for drift every night.
//
//go:embed *.yml
var templates embed.FS

// pipelineFiles maps the supported CI systems to the path of their pipeline in a repository.
func pipelineFiles() map[string]string {
	return map[string]string{"github": ".github/workflows/runner.yml", "gitlab": ".gitlab-ci.yml"}
}

// pipeline has the values of a pipeline.
type pipeline struct {
	Waves     [][]string // environments; each wave waits for the one before
	Image     string     // with the runner
	Directory string     // of the root in the repository; "." for the top
	Branch    string     // whose merges trigger an up
	Nightly   string     // cron schedule of the drift check
	// AWSRole is the role that jobs assume by OIDC in AWSRegion; "" without AWS.
	AWSRole, AWSRegion string
	Secrets            []string // secret variables of the CI system
	Variables          []string // its other variables
}

// Environments lists the environments of all waves.
func (p pipeline) Environments() []string { return slices.Concat(p.Waves...) }

// render renders the pipeline for a CI system.
func (p pipeline) render(system string) ([]byte, error) {
	quote := func(text string) string { return fmt.Sprintf("%q", text) } // as in YAML
	functions := template.FuncMap{
		"quote": quote, "inside": path.Join,
		"join": func(texts []string) string { return strings.Join(texts, " ") },
		"inc":  func(n int) int { return n + 1 },
		// In YAML, on one line.
		"list": func(texts []string) string { return "[" + strings.Join(lists.Map(texts, quote), ", ") + "]" },
	}
	// Both systems use braces themselves.
	t, err := template.New("").Delims("[[", "]]").Funcs(functions).ParseFS(templates, system+".yml")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, system+".yml", p)
	return b.Bytes(), err
}
