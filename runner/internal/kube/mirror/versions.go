package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// isExact reports whether a string is a version and not a range of versions, as Helm defines them. "" is the range of
// all versions except pre-releases. A string that is neither, such as an unusual tag, is a version.
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

// choose returns the version that Helm would install: the wanted version if it is available, else the newest version
// in the wanted range, or "" if there is none.
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

// newest lists the tags of a chart in its registry, and returns the version that Helm would install.
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
	for i, tag := range tags {
		tags[i] = strings.ReplaceAll(tag, "_", "+")
	}
	version := choose(wanted, tags)
	if version == "" {
		return "", fmt.Errorf("the registry does not have it: no version of the chart is in the range %q", wanted)
	}
	return version, nil
}
