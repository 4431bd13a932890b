package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/blang/semver"
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
)

// Version returns `runner version`.
func Version(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the versions of the runner and of its embedded Pulumi",
		Description: "The runner uses the embedded Pulumi unless --pulumi names another one. Only --check uses the " +
			"network.\n\n" +
			"Examples:\n  runner version -o json\n  runner version --check\n  runner version\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "check", Usage: "look for a newer release"},
				&cli.StringFlag{Name: "releases",
					Usage:       "look at `ADDRESS`, which is laid out like a GitHub repository's releases",
					DefaultText: "where this release was published"},
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
			Text: "this runner was built from source, and does not know where releases are published",
			Next: "name the address with --releases, such as https://github.com/OWNER/REPOSITORY/releases",
		}
	}
	return o, nil
}

type versionDocument struct {
	Runner string `json:"runner"`
	Pulumi string `json:"pulumi"`
	Newest string `json:"newest,omitempty"` // release, with --check
	// Outdated says whether the newest release is newer than this one. It is missing without
	// --check, and for versions that are not releases.
	Outdated *bool `json:"outdated,omitempty"`
}

func runVersion(ctx context.Context, d cmd.Deps, o versionOptions) error {
	document := versionDocument{Runner: d.Version, Pulumi: d.PulumiVersion}
	if o.Check {
		newest, err := newestRelease(ctx, o.Releases, "mara/"+d.Version)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			shown := o.Show(d, document, document.text())
			return errors.Join(shown, fmt.Errorf("looking for the newest release: %w", err))
		}
		document.Newest, document.Outdated = newest.String(), outdated(d.Version, newest)
	}
	return o.Show(d, document, document.text())
}

func (v versionDocument) text() string {
	return fmt.Sprintf("runner %s\npulumi %s\n%s", v.Runner, v.Pulumi, v.verdict())
}

// newestLimit bounds the request for the newest release.
const newestLimit = 10 * time.Second

// newestPath is the path of the file with the newest version. scripts/dist.sh writes
// it, scripts/install.sh reads it.
const newestPath = "/latest/download/VERSION"

// newestRelease fetches the version of the newest release, from a web server with the paths of GitHub's releases.
func newestRelease(ctx context.Context, address, agent string) (semver.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, newestLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+newestPath, nil)
	if err != nil {
		return semver.Version{}, err
	}
	request.Header.Set("User-Agent", agent)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return semver.Version{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return semver.Version{}, fmt.Errorf("%s answers %s", request.URL.Redacted(), response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err != nil {
		return semver.Version{}, err
	}
	version, err := semver.ParseTolerant(strings.TrimSpace(string(text)))
	if err != nil {
		return semver.Version{}, fmt.Errorf("%s has no version such as 1.2.3, but %.20q", request.URL.Redacted(), text)
	}
	return version, nil
}

// outdated reports whether a version is older than the newest release, or nil if it is not a release.
func outdated(version string, newest semver.Version) *bool {
	own, err := semver.ParseTolerant(version)
	if err != nil {
		return nil
	}
	older := own.LT(newest)
	return &older
}

// verdict returns the line about the newest release.
func (v versionDocument) verdict() string {
	switch {
	case v.Newest == "":
		return ""
	case v.Outdated == nil:
		return fmt.Sprintf("newest release %s; this version is not a release\n", v.Newest)
	case *v.Outdated:
		return fmt.Sprintf("newest release %s; update with the installer or your package manager\n", v.Newest)
	}
	return "this is the newest release\n"
}
