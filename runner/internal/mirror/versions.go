package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// isExact reports whether a text is a version, and not a range of versions as Helm takes them; "" is the range of all
// versions that are no pre-releases. A text that is neither, such as an odd tag, is a version.
func isExact(version string) bool {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err == nil {
		return true
	}
	if version == "" {
		return false
	}
	_, err := semver.NewConstraint(version)
	return err != nil
}

// choose returns the version that Helm would install: the wanted one itself if it is available, else the newest one
// in the range that is wanted. It returns "" if there is none.
func choose(wanted string, available []string) string {
	if slices.Contains(available, wanted) || isExact(wanted) {
		return wanted
	}
	if wanted == "" {
		wanted = "*"
	}
	allowed, err := semver.NewConstraint(wanted)
	if err != nil {
		return ""
	}
	var newest *semver.Version
	for _, text := range available {
		v, err := semver.NewVersion(text)
		if err == nil && allowed.Check(v) && (newest == nil || v.GreaterThan(newest)) {
			newest = v
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Original()
}

// newest asks a registry for the tags of a chart, and returns the version that Helm would install.
func (n Network) newest(ctx context.Context, at, wanted string) (string, error) {
	repository, err := name.NewRepository(at)
	if err != nil {
		return "", err
	}
	tags, err := remote.List(repository, n.options(ctx)...)
	if err != nil {
		return "", fmt.Errorf("listing the versions: %w", err)
	}
	// A tag cannot have the + of a version.
	versions := slice.Map(tags, func(tag string) string { return strings.ReplaceAll(tag, "_", "+") })
	version := choose(wanted, versions)
	if version == "" {
		return "", fmt.Errorf("the registry does not have it: no version of the chart is in the range %q", wanted)
	}
	return version, nil
}
