package kindprovider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// keptLogs is the directory with the logs of the nodes of a failed creation; "" if there are none.
type keptLogs string

// logsLimit is how long the nodes may take to hand out their logs.
const logsLimit = time.Minute

// keepLogs collects the logs of the nodes of a cluster, which are about to be removed: journals, containers, versions.
// It replaces those of an earlier failure. A node that does not answer has none.
func (l Library) keepLogs(ctx context.Context, cluster string) keptLogs {
	dir, err := logsDirectory(cluster)
	if err != nil {
		return ""
	}
	done := make(chan struct{})
	go func() {
		_ = l.provider(ctx).CollectLogs(cluster, dir) // what could be collected stays
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(logsLimit):
	}
	if os.Remove(dir) == nil { // it is empty
		return ""
	}
	return keptLogs(dir)
}

// logsDirectory makes an empty directory for the logs of a cluster, which only this user can read.
func logsDirectory(cluster string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "mara", "kind", cluster)
	return dir, errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
}

// mention adds to an error where the logs are.
func (k keptLogs) mention(err error) error {
	if err == nil || k == "" {
		return err
	}
	return fmt.Errorf("%w; the logs of its nodes are in %s", err, string(k))
}
