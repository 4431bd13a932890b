package model

import (
	"slices"
	"time"

	"mara/projects/model/operation"
)

// Hook is work around a step or a run: a command of the user's, or what the
// runner itself can do.
type Hook struct {
	Name       string
	On         Moment
	Operations []operation.Operation // that have it
	Command    []string              // with its arguments; nil for what the runner itself does
	Dir        string                // where the command runs
	Timeout    time.Duration         // of each attempt; 0 for DefaultHookTimeout
	Retry      int                   // how often the command is tried again
	Simulate   bool                  // a simulation runs the command, too
}

// Moment is when a hook runs.
type Moment string

// The moments, as mara.yaml writes them.
const (
	Before    Moment = "before"
	OnSuccess Moment = "success"
	OnFailure Moment = "failure"
	Always    Moment = "always" // after success and failure
)

// DefaultHookTimeout is how long the command of a hook may take.
const DefaultHookTimeout = 10 * time.Minute

// The names of the hooks that the runner has.
const (
	HookKubeconfig = "kubeconfig" // merges the output "kubeconfig" into the user's kubeconfig
	HookReachable  = "answers"    // waits until the output "application_url" answers
)

// BuiltInHooks returns the hooks of the runner.
func BuiltInHooks() []Hook { return []Hook{KubeconfigHook(), ReachableHook()} }

// KubeconfigHook returns the hook that merges the kubeconfig. A destroy has it as well, to undo the merge.
func KubeconfigHook() Hook {
	return Hook{Name: HookKubeconfig, On: OnSuccess, Operations: []operation.Operation{operation.Up, operation.Destroy}}
}

// ReachableHook returns the hook that waits until the application answers.
func ReachableHook() Hook {
	return Hook{Name: HookReachable, On: OnSuccess, Operations: []operation.Operation{operation.Up}}
}

// For reports whether an operation has the hook.
func (h Hook) For(op operation.Operation) bool { return slices.Contains(h.Operations, op) }
