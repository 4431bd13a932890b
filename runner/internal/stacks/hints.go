package stacks

import (
	"errors"
	"regexp"
)

// Hint is what to do about errors that are known: what clouds, clusters and
// tools say when something around a project is not as it has to be.
type Hint struct {
	Name    string
	Advice  string
	pattern *regexp.Regexp
}

// Hints lists the errors that are known. The first that matches counts, so the
// particular ones come before the general.
func Hints() []Hint {
	return []Hint{
		{"expired credentials", "the credentials have expired: sign in again (for AWS `aws sso login`), then carry on with --resume",
			regexp.MustCompile(`(?i)ExpiredToken|token (is|has) expired|security token included in the request is expired|SSO session .{0,40}(expired|invalid)`)},
		{"no credentials", "there are no credentials: `runner doctor` checks where they are looked for",
			regexp.MustCompile(`(?i)NoCredentialProviders|no valid credential sources|failed to refresh cached credentials|Unable to locate credentials|Invalid Token \[401\]|\[401\] Invalid Token`)},
		{"not allowed", "the credentials are valid but may not do this: the message names the permission to ask for",
			regexp.MustCompile(`(?i)AccessDenied|UnauthorizedOperation|is not authorized to perform|forbidden: User`)},
		{"quota", "a limit of the account is reached: delete what is not needed any more, or ask the provider to raise it",
			regexp.MustCompile(`(?i)LimitExceeded|quota exceeded|exceeded quota|VcpuLimitExceeded|maximum number of .{0,40}(has been )?reached|account limit`)},
		{"no capacity", "the provider has no machines of this kind left here: choose another type, zone or region",
			regexp.MustCompile(`(?i)InsufficientInstanceCapacity|insufficient capacity|UnsupportedAvailabilityZone`)},
		{"taken name", "something of this name exists already: import it with `runner pulumi PROJECT -- import`, or delete it",
			regexp.MustCompile(`(?i)AlreadyExists|already exists|EntityAlreadyExists|BucketAlreadyOwnedByYou|cannot re-use a name that is still in use`)},
		{"pending release", "an earlier installation of this chart was cut off: `helm rollback` or `helm uninstall` it, then carry on with --resume",
			regexp.MustCompile(`(?i)another operation \(install/upgrade/rollback\) is in progress`)},
		{"image pull", "a container's image cannot be pulled: check its name and tag, and that the cluster may read the registry",
			regexp.MustCompile(`(?i)ImagePullBackOff|ErrImagePull|manifest unknown|pull access denied`)},
		{"no room", "the cluster has no room for the pods: add nodes, or larger ones",
			regexp.MustCompile(`(?i)insufficient (cpu|memory)|FailedScheduling|nodes are available`)},
		{"docker", "Docker does not answer: start it, or set DOCKER_HOST to where it is",
			regexp.MustCompile(`(?i)cannot connect to the docker daemon|error during connect|docker\.sock: connect`)},
		{"full disk", "the disk is full: make room, then carry on with --resume",
			regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`)},
		{"read-only disk", "the folder cannot be written: check its rights and where it is mounted, then carry on with --resume",
			regexp.MustCompile(`(?i)read-only file system`)},
		{"unreachable cluster", "the cluster does not answer: check the network, a VPN and that it runs; `runner refresh` tells whether it is still there",
			regexp.MustCompile(`(?i)configured Kubernetes cluster is unreachable|unable to load Kubernetes client configuration`)},
		{"no such host", "a name is not known: check the network, DNS and the name",
			regexp.MustCompile(`(?i)no such host|name resolution`)},
		{"cut off", "what it was doing is cut off: carry on with --resume, which says what has to be looked at first",
			regexp.MustCompile(`ended in the middle of the operation`)},
	}
}

// HintedError is an error that is known, with what to do about it.
type HintedError struct {
	Err    error
	Advice string
}

// Error says what went wrong.
func (e *HintedError) Error() string { return e.Err.Error() }

// NextStep says what to do about it.
func (e *HintedError) NextStep() string { return e.Advice }

// Unwrap returns what went wrong.
func (e *HintedError) Unwrap() error { return e.Err }

// withHint adds what is known about an error and the diagnostics behind it,
// unless it says itself what to do.
func withHint(err error, diagnostics string) error {
	var told interface{ NextStep() string }
	if err == nil || errors.As(err, &told) {
		return err
	}
	for _, hint := range Hints() {
		if hint.pattern.MatchString(err.Error()) || hint.pattern.MatchString(diagnostics) {
			return &HintedError{Err: err, Advice: hint.Advice}
		}
	}
	return err
}
