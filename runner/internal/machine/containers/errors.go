package containers

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ExitError is the error of a command that has failed, with its stderr.
type ExitError struct {
	Command string // program and verb
	Code    int
	Stderr  string
}

// Error returns the line in which the runtime reports the reason.
func (e *ExitError) Error() string {
	return e.Command + ": " + cmp.Or(e.reason(), fmt.Sprintf("exit code %d", e.Code))
}

// reason returns the last line that is not a hint at --help.
func (e *ExitError) reason() string {
	lines := strings.Split(strings.TrimSpace(e.Stderr), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line == "" || strings.HasPrefix(line, "See '") || strings.HasPrefix(line, "Run '") {
			continue
		}
		line = strings.TrimPrefix(line, "docker: ")
		line = strings.TrimPrefix(line, "Error: ")
		return strings.TrimPrefix(line, "Error response from daemon: ")
	}
	return ""
}

func says(err error, phrases ...string) bool {
	var exit *ExitError
	if !errors.As(err, &exit) {
		return false
	}
	text := strings.ToLower(exit.Stderr)
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// Unreachable reports whether the runtime's daemon does not answer.
func Unreachable(err error) bool {
	return says(err, "cannot connect to the docker daemon", "is the docker daemon running",
		"cannot connect to podman", "failed to connect to", "rootless containerd not running",
		"cannot access containerd socket", "error during connect")
}

// Forbidden reports whether this user may not use the daemon.
func Forbidden(err error) bool {
	return says(err, "permission denied while trying to connect", "permission denied")
}

// missing reports whether a container, network, volume or image does not exist.
func missing(err error) bool {
	return says(err, "no such container", "no such object", "no container with name or id", "no such network",
		"network not found", "no such volume", "no such image", "no such id", "unable to find network", "not found")
}

// unlessMissing returns the error of a removal, or nil if nothing was there to remove.
func unlessMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

// portInError finds the port in an error of docker, Docker Desktop or podman. The
// address before the port may have colons, too.
var portInError = regexp.MustCompile(`:(\d+)(?:: bind| failed)|port tcp \S*?:(\d+) ->` +
	`|host port (?:for )?[^ /]*?:(\d+)[:/]`)

// PortTaken returns the port that another program or container holds, "unknown", or
// "" if the error is about something else.
func PortTaken(err error) string {
	if !says(err, "port is already allocated", "address already in use", "ports are not available") {
		return ""
	}
	var exit *ExitError
	errors.As(err, &exit)
	if match := portInError.FindStringSubmatch(strings.ToLower(exit.Stderr)); match != nil {
		return strings.Join(match[1:], "") // one group has matched
	}
	return "unknown"
}
