package tools

import (
	"context"
	"fmt"

	"github.com/blang/semver"
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/failure"
	"mara/runner/internal/releases"
)

// Version is `runner version`.
func Version(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the versions of the runner and of its embedded Pulumi",
		Description: "The embedded Pulumi is used unless --pulumi names another one. Only --check asks the network anything.\n\n" +
			"Examples:\n  runner version -o json\n  runner version --check\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "check", Usage: "ask for the newest release, too"},
				&cli.StringFlag{Name: "releases", Usage: "ask at `ADDRESS`, a web folder laid out like a GitHub repository's releases", DefaultText: "where this one was published"},
			},
			cmd.OutputFlag("text", "json"), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseVersion, runVersion),
	}
}

type versionOptions struct {
	cmd.Common
	Check    bool
	Releases string
}

func parseVersion(c *cli.Context, d cmd.Deps, common cmd.Common) (versionOptions, error) {
	o := versionOptions{Common: common, Check: c.Bool("check"), Releases: d.Releases}
	if c.IsSet("releases") {
		o.Releases = c.String("releases")
	}
	if o.Check && o.Releases == "" {
		return o, &failure.Environment{
			Text: "this runner was built from source, and does not know where releases are",
			Next: "name the place with --releases, such as https://github.com/OWNER/REPOSITORY/releases",
		}
	}
	return o, nil
}

type versionDocument struct {
	Runner string `json:"runner"`
	Pulumi string `json:"pulumi"`
	Newest string `json:"newest,omitempty"` // release, with --check
	// Outdated says whether the newest release is newer than this; missing
	// without --check, and for what is no release.
	Outdated *bool `json:"outdated,omitempty"`
}

func runVersion(ctx context.Context, d cmd.Deps, o versionOptions) error {
	document := versionDocument{Runner: d.Version, Pulumi: d.PulumiVersion}
	if o.Check {
		newest, err := releases.Newest(ctx, o.Releases)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("asking for the newest release: %w", err)
		}
		document.Newest, document.Outdated = newest.String(), outdated(d.Version, newest)
	}
	return o.Show(d, document, fmt.Sprintf("runner %s\npulumi %s\n%s", document.Runner, document.Pulumi, document.verdict()))
}

// outdated compares a version with the newest release; nil if it is no release.
func outdated(version string, newest semver.Version) *bool {
	own, err := semver.ParseTolerant(version)
	if err != nil {
		return nil
	}
	older := own.LT(newest)
	return &older
}

// verdict is the line about the newest release.
func (v versionDocument) verdict() string {
	switch {
	case v.Newest == "":
		return ""
	case v.Outdated == nil:
		return fmt.Sprintf("newest release %s; this one is no release\n", v.Newest)
	case *v.Outdated:
		return fmt.Sprintf("newest release %s; run the installer again, or your package manager\n", v.Newest)
	}
	return "this is the newest release\n"
}
