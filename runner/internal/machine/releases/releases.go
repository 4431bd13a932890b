// Package releases fetches the version of the newest release of the runner, from a
// web server with the paths of GitHub's releases.
package releases

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/blang/semver"
)

// patience bounds the request.
const patience = 10 * time.Second

// latest is the path of the file with the newest version. scripts/dist.sh writes
// it, scripts/install.sh reads it.
const latest = "/latest/download/VERSION"

// Newest fetches the version of the newest release.
func Newest(ctx context.Context, address string) (semver.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+latest, nil)
	if err != nil {
		return semver.Version{}, err
	}
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
		return semver.Version{}, fmt.Errorf("%s has no version: %w", request.URL.Redacted(), err)
	}
	return version, nil
}
