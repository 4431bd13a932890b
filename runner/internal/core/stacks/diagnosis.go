package stacks

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mara/config/lists"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/machine/failure"
)

// diagnosis is an error that is known by its text. Pulumi's commands, providers
// and clouds report errors in no other way.
type diagnosis struct {
	kind      string
	pattern   *regexp.Regexp
	advice    string                     // what to do about it
	transient bool                       // trying again helps
	explain   func(match []string) error // replaces the error
}

// ErrPassphrase says that the passphrase does not open what was encrypted.
var ErrPassphrase = errors.New("the passphrase is wrong: it does not open this environment's secrets; set " +
	"PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the one they were encrypted with")

// ErrLogin says that the backend does not know who asks.
var ErrLogin = errors.New("not logged in to the backend: set PULUMI_ACCESS_TOKEN, log in with `pulumi login`, " +
	"or name another backend with PULUMI_BACKEND_URL")

var (
	errNoPassphrase = errors.New("no passphrase is set: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE")
	errLags         = errors.New("the state lags behind the journal of a run that was cut off, or that goes on: " +
		"`runner repair`, without --pulumi, takes over what is in it")
	errOldLayout = failure.Advise(errors.New("the backend has the layout of before 2023, which Pulumi no longer reads"),
		"make a copy of it; then `runner pulumi PROJECT -s STACK -- state upgrade --yes` upgrades all its stacks")
	errNewerState = errors.New("the state was written by a newer Pulumi; use an installed one of that version with " +
		"--pulumi PATH")
)

// LockedError says that another update holds a stack's lock.
type LockedError struct{ Detail string }

func (e *LockedError) Error() string {
	return "the stack is locked by another update: " + e.Detail
}

// RefusedBy returns the guard.
func (*LockedError) RefusedBy() refusal.Guard { return refusal.Lock }

// Locked reports whether an operation has failed before it began, because another
// update holds the stack's lock.
func Locked(err error) bool {
	_, is := errors.AsType[*LockedError](err)
	return is
}

// unreachableCluster is the kind of an error that says that a cluster is gone or
// out of reach.
const unreachableCluster = "unreachable cluster"

// diagnoses lists the errors that are known, the particular ones before the
// general. Anything else is not tried again: repeating what is wrong wastes time
// and hides the cause. They are compiled when the first error comes: that takes longer than some commands.
var diagnoses = sync.OnceValue(func() []diagnosis {
	return []diagnosis{
		{kind: "passphrase", pattern: regexp.MustCompile(`incorrect passphrase`), explain: always(ErrPassphrase)},
		{kind: "locked", pattern: regexp.MustCompile(`(?s)the stack is currently locked by \d+ lock\(s\)\.[^\n]*\n\s*(\S[^\n]*)`),
			explain: func(match []string) error { return &LockedError{Detail: strings.TrimSpace(match[1])} }},
		{kind: "locked", pattern: regexp.MustCompile(`Another update is currently in progress`),
			explain: always(&LockedError{Detail: "an update is in progress"})},
		{kind: "no passphrase", pattern: regexp.MustCompile(`passphrase must be set with PULUMI_CONFIG_PASSPHRASE`),
			explain: always(errNoPassphrase)},
		{kind: "no login", pattern: regexp.MustCompile(`PULUMI_ACCESS_TOKEN must be set for login`),
			explain: always(ErrLogin)},
		{kind: "cut off", pattern: regexp.MustCompile(`this state is in the middle of an operation of`),
			explain: always(errLags)},
		{kind: "old layout", pattern: regexp.MustCompile(`(?i)legacy DIY state`), explain: always(errOldLayout)},
		{kind: "newer state", pattern: regexp.MustCompile(`newer than what this version of the Pulumi CLI understands` +
			`|not supported by this version of the Pulumi CLI|deployment version is too new` +
			`|deployment needs support for the following features`),
			explain: always(errNewerState)},
		{kind: "states of others", pattern: regexp.MustCompile(`unable to open state directory [^\n]*permission denied`),
			advice: "the states belong to another user, or were written in a run with sudo: check owner and permissions, or work in a " +
				"checkout of your own"},
		{kind: "few files", pattern: regexp.MustCompile(`(?i)too many open files`), advice: failure.FewFiles + ", and continue with --resume"},
		{kind: "missing plugin", pattern: regexp.MustCompile(`no resource plugin '([^']+)' found` +
			`|Could not automatically download and install resource plugin '([^']+)'` +
			`|the plugin (\S+) is not installed and could not be downloaded`),
			explain: func(match []string) error {
				return fmt.Errorf("the plugin %s is not installed and could not be downloaded", match[1]+match[2]+match[3])
			},
			advice: "install it where there is a network (`runner doctor up` shows the command), put it on the PATH, or " +
				"name a mirror of plugins with PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"},
		{kind: "missing chart", pattern: regexp.MustCompile(`(?i)is not a valid chart repository or cannot be reached` +
			`|failed to (fetch|download|pull|locate) (the )?chart|failed to download "|chart "[^"]*" .{0,60}not found` +
			`|could not (find|locate|download) (the )?chart`),
			advice: "the chart cannot be had from here: check the network and its version, or take it from a mirror " +
				"(kubernetes:mirror, `runner mirror sync`, docs/mirror.md)"},

		{kind: "throttling", transient: true,
			pattern: regexp.MustCompile(`(?i)throttl|rate exceeded|rate[- ]limit|too many requests|TooManyRequests` +
				`|RequestLimitExceeded|SlowDown|\b429\b`)},
		{kind: "timeout", transient: true,
			pattern: regexp.MustCompile(`(?i)timed out|i/o timeout|TLS handshake timeout|Client\.Timeout exceeded` +
				`|context deadline exceeded|RequestTimeout|gateway time-?out|\b504\b`)},
		{kind: "conflict", transient: true,
			pattern: regexp.MustCompile(`(?i)another operation \(install/upgrade/rollback\) is in progress`),
			advice: "an earlier installation of this chart was cut off: `helm rollback` or `helm uninstall` it, then " +
				"continue with --resume"},
		{kind: "conflict", transient: true,
			pattern: regexp.MustCompile(`(?i)the object has been modified|ConflictException|OperationAborted` +
				`|ConcurrentModification|ResourceInUse|another operation .{0,40}in progress|\b409 Conflict`)},
		{kind: "connection", transient: true,
			pattern: regexp.MustCompile(`(?i)connection reset|broken pipe|connection refused|unexpected EOF` +
				`|client connection lost|transport is closing|temporary failure in name resolution|service unavailable` +
				`|bad gateway|\b50[23] |\[50[23]\]|\(50[23]\)`)},
		{kind: "server error", transient: true,
			pattern: regexp.MustCompile(`(?i)internal server error|InternalFailure|InternalError\b|ServiceUnavailable|\[500\]` +
				`|\b500 Internal|StatusCode: 500`),
			advice: "the cloud has failed, not the configuration: try again with --resume, or let --retry do it"},

		{kind: "lost update",
			pattern: regexp.MustCompile(`(?i)(failed to save snapshot|writing snapshot|failed to complete update|lease)` +
				`.{0,200}\[(401|403|409)\]`),
			advice: "Pulumi Cloud has ended this update: someone has cancelled it, or its lease was not renewed in time; " +
				"`runner status` shows what there is, and --resume continues"},
		{kind: "not understood", pattern: regexp.MustCompile(`unmarshalling response object|reading response from API`),
			advice: "what answers at the backend's address does not speak the protocol of Pulumi Cloud, or was cut off: check " +
				"PULUMI_BACKEND_URL and proxies, and try again"},
		{kind: "not logged in", pattern: regexp.MustCompile(`this command requires logging in` +
			`|Unauthorized: No credentials provided or are invalid`),
			advice: "Pulumi Cloud wants a valid access token: set PULUMI_ACCESS_TOKEN, or log in with `runner login`"},
		{kind: "expired credentials",
			pattern: regexp.MustCompile(`(?i)ExpiredToken|token (is|has) expired` +
				`|security token included in the request is expired|SSO session .{0,40}(expired|invalid)`),
			advice: "the credentials have expired: sign in again (for AWS `aws sso login`), then continue with --resume"},
		{kind: "no credentials", pattern: regexp.MustCompile(`(?i)NoCredentialProviders|no valid credential sources` +
			`|failed to refresh cached credentials|Unable to locate credentials`),
			advice: "there are no credentials: `runner doctor` checks where they are looked for"},
		{kind: "refused credentials", pattern: regexp.MustCompile(`(?i)Invalid Token|\[401\]|\b401 Unauthorized` +
			`|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|Unable to authenticate you`),
			advice: "the credentials are refused: they are wrong, expired or revoked; `runner doctor` says whose they are"},
		{kind: "not allowed", pattern: regexp.MustCompile(`(?i)AccessDenied|UnauthorizedOperation` +
			`|is not authorized to perform|forbidden: User|not authorized to use this endpoint|\[403\]` +
			`|You are not authorized to perform this operation`),
			advice: "the credentials are valid but may not do this: the message names the permission to ask for"},
		{kind: "quota", pattern: regexp.MustCompile(`(?i)LimitExceeded|quota exceeded|exceeded quota|VcpuLimitExceeded` +
			`|maximum number of .{0,40}(has been )?reached|account limit`),
			advice: "a limit of the account is reached: delete what is not needed any more, or ask the provider to raise it"},
		{kind: "no capacity", pattern: regexp.MustCompile(`(?i)InsufficientInstanceCapacity|insufficient capacity` +
			`|UnsupportedAvailabilityZone`),
			advice: "the provider has no machines of this kind left here: choose another type, zone or region"},
		{kind: "skipped Kubernetes version", pattern: regexp.MustCompile(`(?i)unsupported kubernetes minor version update` +
			`|invalid upgrade path|to the next minor version`),
			advice: "a control plane goes up by one minor version at a time, and never down: set the next version with " +
				"`runner config set`, run `runner up`, and repeat"},
		{kind: "unknown Kubernetes version",
			pattern: regexp.MustCompile(`(?i)\[k8s_version\]|(kubernetes|k8s)[ _]version .{0,60}(is )?(not (valid|supported)` +
				`|invalid|unsupported)|unsupported (kubernetes|k8s) version|validation error: invalid version slug`),
			advice: "the cloud does not have this version of Kubernetes any more, or not yet: choose another with `runner " +
				"config set` (lke:k8s_version, doks:k8s_version, eks:k8s_version)"},
		{kind: "taken name", pattern: regexp.MustCompile(`(?i)AlreadyExists|already exists|EntityAlreadyExists` +
			`|BucketAlreadyOwnedByYou|cannot re-use a name that is still in use|must be unique among your`),
			advice: "something of this name exists already, and this environment has not made it: if it is somebody else's, give " +
				"yours another name, or leave the project out; if it is this environment's own, `runner pulumi PROJECT -- import` " +
				"takes it into the state, and `destroy` deletes it from then on"},
		{kind: "image pull", pattern: regexp.MustCompile(`(?i)ImagePullBackOff|ErrImagePull|manifest unknown` +
			`|pull access denied`),
			advice: "a container's image cannot be pulled: check its name and tag, and that the cluster may read the registry"},
		{kind: "no room", pattern: regexp.MustCompile(`(?i)insufficient (cpu|memory)|FailedScheduling|nodes are available`),
			advice: "the cluster has no room for the pods: add nodes, or larger ones"},
		{kind: "docker", pattern: regexp.MustCompile(`(?i)cannot connect to the docker daemon|error during connect` +
			`|docker\.sock: connect`),
			advice: "Docker does not answer: start it, or set DOCKER_HOST to where it is"},
		{kind: "full disk", pattern: regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`),
			advice: "the disk is full: make room, then continue with --resume"},
		{kind: "read-only disk", pattern: regexp.MustCompile(`(?i)read-only file system`),
			advice: "the directory cannot be written: check its rights and where it is mounted, then continue with --resume"},
		{kind: unreachableCluster, pattern: regexp.MustCompile(`(?i)Kubernetes cluster (is )?unreachable|(with` +
			`|due to) unreachable cluster|Kubernetes API server .{0,200}is unreachable` +
			`|unable to load Kubernetes client configuration|unable to load schema information from the API server` +
			`|failed to fetch OpenAPI schema from the API server`),
			advice: "the cluster does not answer: check the network, a VPN and that it runs; `runner refresh` shows whether " +
				"it still exists"},
		{kind: "chart's schema", pattern: regexp.MustCompile(`raw\.githubusercontent\.com\S*/kubernetes-json-schema/`),
			advice: "Helm loads schemas from GitHub to check the chart's values: take the chart from a mirror that `runner " +
				"mirror sync` has filled (docs/mirror.md)"},
		{kind: "no such host", pattern: regexp.MustCompile(`(?i)no such host|name resolution`),
			advice: "a name is not known: check the network, DNS and the name"},
		{kind: "cut off", pattern: regexp.MustCompile(`ended in the middle of the operation|error reading from server: EOF`),
			advice: "what it was doing is cut off: continue with --resume, which says what has to be looked at first"},
	}
})

// always makes an explanation that does not depend on the text.
func always(err error) func([]string) error { return func([]string) error { return err } }

// diagnose returns the first diagnosis that fits and whose pattern matches the
// text.
func diagnose(text string, fits func(diagnosis) bool) (diagnosis, bool) {
	return lists.Find(diagnoses(), func(d diagnosis) bool { return fits(d) && d.pattern.MatchString(text) })
}

func explained(d diagnosis) bool     { return d.explain != nil }
func advised(d diagnosis) bool       { return d.advice != "" }
func isTransient(d diagnosis) bool   { return d.transient }
func isUnreachable(d diagnosis) bool { return d.kind == unreachableCluster }

// explanation returns the error that replaces a text, nil if there is none.
func explanation(text string) error {
	d, ok := diagnose(text, explained)
	if !ok {
		return nil
	}
	return d.explain(d.pattern.FindStringSubmatch(text))
}

// withAdvice adds to an error what to do about it or about the diagnostics
// behind it, unless the error says so itself.
func withAdvice(err error, diagnostics string) error {
	var has interface{ NextStep() string }
	if err == nil || errors.As(err, &has) {
		return err
	}
	if d, ok := diagnose(err.Error()+"\n"+diagnostics, advised); ok {
		return failure.Advise(err, d.advice)
	}
	return err
}

// TransientKinds names the kinds of errors for which trying again helps.
func TransientKinds() []string {
	transient := slices.DeleteFunc(slices.Clone(diagnoses()), func(d diagnosis) bool { return !d.transient })
	return slices.Compact(lists.Map(transient, func(d diagnosis) string { return d.kind }))
}

// transientError is a failure that trying again may mend.
type transientError struct{ error }

// Unwrap returns the cause.
func (e *transientError) Unwrap() error { return e.error }

// Transient reports whether trying a failed operation again helps.
func Transient(err error) bool {
	_, is := errors.AsType[*transientError](err)
	return is
}

// ifTransient marks an error as transient if every diagnostic behind it is: one
// that is not would come back. The message names the kind of the first.
func ifTransient(err error, diagnostics []string) error {
	kind := ""
	for _, text := range diagnostics {
		d, ok := diagnose(text, isTransient)
		if !ok {
			return err
		}
		kind = cmp.Or(kind, d.kind)
	}
	if kind == "" {
		return err
	}
	return &transientError{fmt.Errorf("%w (%s)", err, kind)}
}
