package journal

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack/snapshot"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	utilenv "github.com/pulumi/pulumi/sdk/v3/go/common/util/env"
)

// replay returns the state that an operation has left, by its journal. Operations on resources that had begun are
// pending in it, as Pulumi writes them.
func replay(j journal) (apitype.TypedDeployment, error) {
	var none apitype.TypedDeployment
	base, err := decodeContent(j.base)
	if err != nil {
		return none, fmt.Errorf("replaying the journal %s: %w", j.Epoch, err)
	}
	deployment, err := base.deployment()
	if err != nil {
		return none, fmt.Errorf("replaying the journal %s: %w", j.Epoch, err)
	}
	replayer := backend.NewJournalReplayer(deployment)
	for _, entry := range j.entries {
		if err := replayer.Add(entry); err != nil {
			return none, fmt.Errorf("replaying the journal %s: %w", j.Epoch, err)
		}
	}
	result, _, err := generate(replayer)
	if err != nil {
		return none, fmt.Errorf("replaying the journal %s: %w", j.Epoch, err)
	}
	return result, nil
}

// generate returns the state of an operation so far, and what is wrong with it. As in Pulumi, a state with an error
// says so itself, and is written all the same: it may be all that is known of resources.
func generate(replayer *backend.JournalReplayer) (d apitype.TypedDeployment, integrity, err error) {
	if d, err = replayer.GenerateDeployment(); err != nil {
		return d, nil, fmt.Errorf("making the state: %w", err)
	}
	slices.SortStableFunc(d.Deployment.PendingOperations, func(a, b apitype.OperationV2) int {
		return cmp.Compare(a.Resource.URN, b.Resource.URN)
	})
	d.Deployment.Metadata.IntegrityErrorMetadata = nil
	if integrity = snapshot.VerifyIntegrity(d.Deployment); integrity != nil {
		d.Deployment.Metadata.IntegrityErrorMetadata = &apitype.SnapshotIntegrityErrorMetadataV1{
			Version: strconv.Itoa(d.Version), Command: strings.Join(os.Args, " "), Error: integrity.Error(),
			EnvVars: utilenv.ConfiguredVariables(),
		}
	}
	return d, integrity, nil
}

// mostNamed is how many resources an error names.
const mostNamed = 5

// unknownTo lists resources that an operation has made or changed and a state does not have.
func (j journal) unknownTo(now content) string {
	known := map[string]bool{}
	if now.checkpoint.Latest != nil {
		for _, r := range now.checkpoint.Latest.Resources {
			known[string(r.URN)+" "+string(r.ID)] = true
		}
	}
	var unknown []string
	for _, e := range j.entries {
		if r := e.State; e.Kind == apitype.JournalEntryKindSuccess && r != nil && r.Custom && r.ID != "" &&
			!known[string(r.URN)+" "+string(r.ID)] {
			unknown = append(unknown, fmt.Sprintf("%s (%s)", r.URN.Name(), r.ID))
		}
	}
	switch {
	case len(unknown) == 0:
		return ""
	case len(unknown) > mostNamed:
		unknown = append(unknown[:mostNamed], fmt.Sprintf("%d more", len(unknown)-mostNamed))
	}
	return "; the state does not have " + strings.Join(unknown, ", ") + ", which it worked on"
}

// finding is what is to be done about the journals of a stack.
type finding struct {
	drop   []string // journals that no state needs any more
	replay *journal // the one that the state lags behind; nil if it does not
}

// UnclearError says that a state and its journals do not belong together, so that nothing is replayed.
type UnclearError struct{ Stack, Text string }

// Error says what is wrong.
func (e *UnclearError) Error() string {
	return fmt.Sprintf("the journal of the state of %s: %s; if the state is right as it is, `runner repair --forget-journal` "+
		"drops the journal", e.Stack, e.Text)
}

// judge compares the journals of a stack with its state.
func judge(name string, journals []stored, now content) (f finding, err error) {
	unclear := func(format string, args ...any) (finding, error) {
		return finding{}, &UnclearError{name, fmt.Sprintf(format, args...)}
	}
	fencedBy := now.fencedBy()
	for _, files := range journals {
		j, begun, err := parse(files)
		switch {
		case err != nil:
			return unclear("%s", err)
		case !begun && files.epoch == fencedBy:
			return unclear("the state needs the journal %s, whose beginning is gone", files.epoch)
		case !begun || fencedBy == "" && now.digest == j.last:
			f.drop = append(f.drop, files.epoch)
		case fencedBy == "" && !j.knows(now.digest) && j.records == 1:
			f.drop = append(f.drop, files.epoch) // it ended before the state was fenced, so that no step relied on it
		case !j.knows(now.digest) || fencedBy != "" && files.epoch != fencedBy:
			return unclear("%s of %s has ended in the middle, and something else has written the state since, so that its %d entries "+
				"are not taken over%s", j.Owner.Operation, j.Owner, len(j.entries), j.unknownTo(now))
		case f.replay != nil:
			return unclear("two operations have ended in the middle, %s and %s", f.replay.Epoch, j.Epoch)
		default:
			f.replay = &j
		}
	}
	if fencedBy != "" && f.replay == nil {
		return unclear("the state lags behind the journal %s, which is gone", fencedBy)
	}
	return f, nil
}
