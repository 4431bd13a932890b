package stacks

import "regexp"

// NotReadyError says that an up has waited in vain for Pods to become ready.
type NotReadyError struct{ Cause error }

func (e *NotReadyError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *NotReadyError) Unwrap() error { return e.Cause }

var (
	// awaited are the types of resources for whose Pods the Kubernetes provider
	// waits.
	awaited = regexp.MustCompile(`^kubernetes:(helm\.sh/v[34]:Release|apps/v1:(Deployment|StatefulSet|DaemonSet)|batch/v1:Job|core/v1:Pod)$`)
	// tooLate is how it says that it has waited for too long.
	tooLate = regexp.MustCompile(`(?i)timed out|timeout|deadline exceeded`)
)

// isNotReady reports whether an error of a resource is of this kind.
func isNotReady(resource, message string) bool {
	return awaited.MatchString(resource) && tooLate.MatchString(message)
}
