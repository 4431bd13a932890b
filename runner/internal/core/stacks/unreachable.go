package stacks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// The Kubernetes provider reports a cluster that is gone or out of reach at each
// of its resources, in several ways, and advises to drop the resource from the
// state. An operation reports it once, with its reason.

// forgetAdvice is what to do where a destroy cannot reach the cluster.
const forgetAdvice = "if the cluster is gone for good, `runner destroy --force-forget` drops what was in it from " +
	"the state"

var (
	// providerAdvice follows what the provider says of one resource.
	providerAdvice = regexp.MustCompile(`(?s)\.? If the cluster was deleted, .*`)
	// setUpAdvice stands between the provider's words and the cause.
	setUpAdvice = regexp.MustCompile(`(?s)\. Make sure you have:.*\n\s*`)
	// unreachableFrame is what stands before the reason.
	unreachableFrame = regexp.MustCompile(`(?is)^.*?(Kubernetes cluster (?:is )?unreachable|with unreachable cluster` +
		`|due to unreachable cluster)(: |\. Reason: )?`)
)

// unreachable is what the diagnostics of an operation say about a cluster that
// cannot be reached.
type unreachable struct {
	messages []string
	reason   string // of the first message that has one
}

// note keeps a diagnostic and reports whether it is about such a cluster.
func (u *unreachable) note(message string) bool {
	if _, ok := diagnose(message, isUnreachable); !ok {
		return false
	}
	u.messages = append(u.messages, message)
	reason := unreachableFrame.ReplaceAllString(providerAdvice.ReplaceAllString(message, ""), "")
	if plain, err := strconv.Unquote(reason); err == nil {
		reason = plain
	}
	u.reason = cmp.Or(u.reason, strings.Join(strings.Fields(setUpAdvice.ReplaceAllString(reason, ": ")), " "))
	return true
}

// String says that the cluster cannot be reached, and why.
func (u *unreachable) String() string {
	if u.reason == "" {
		return "the Kubernetes cluster is unreachable"
	}
	return "the Kubernetes cluster is unreachable: " + u.reason
}

// withoutCluster deals with a destroy that has failed because the cluster cannot
// be reached: it says how to go on or, if the task says so, drops what was in the
// cluster from the state.
func (w work) withoutCluster(ctx context.Context, cause error) error {
	if !w.Forget {
		return failure.Advise(cause, forgetAdvice)
	}
	state, err := w.state(ctx, w.project)
	if err != nil {
		return errors.Join(cause, err)
	}
	if elsewhere := state.outsideCluster(); len(elsewhere) > 0 {
		return fmt.Errorf("%w; nothing is forgotten, because %s is not in the cluster", cause, strings.Join(elsewhere, ", "))
	}
	if _, err := w.runOn(ctx, w.project, "state", "delete", "--all", "--force", "--yes"); err != nil {
		return errors.Join(cause, fmt.Errorf("forgetting the resources of %s: %w", w.project, err))
	}
	in := state.inCluster()
	w.emit(warning("the cluster cannot be reached: %s in it %s dropped from the state, not destroyed",
		typeset.Counted(in, "resource"), typeset.Are(in)))
	return nil
}
