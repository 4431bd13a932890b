package kindprovider

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi-go-provider/infer"

	"mara/runner/internal/containers"
)

// incomplete says that something exists, but not as it should: the state keeps
// it, and the next run repairs it.
func incomplete(causes ...error) error {
	var reasons []string
	for i, cause := range causes {
		causes[i] = explain(cause)
		reasons = append(reasons, causes[i].Error())
	}
	return &incompleteError{cause: errors.Join(causes...), reasons: reasons}
}

// incompleteError tells the cause where infer's own error says only that there
// is one.
type incompleteError struct {
	cause   error
	reasons []string
}

func (e *incompleteError) Error() string { return e.cause.Error() }

// Unwrap lets infer find what it looks for.
func (e *incompleteError) Unwrap() []error {
	return []error{e.cause, infer.ResourceInitFailedError{Reasons: e.reasons}}
}

// explain adds what to do to errors that runtimes report in their own words.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case containers.Unreachable(err):
		return fmt.Errorf("the container runtime does not answer: start its daemon (%w)", err)
	case containers.PortTaken(err) != "":
		return fmt.Errorf("port %s of this machine is taken: stop what holds it, or choose another port "+
			"(kind:http_port, kind:https_port, kind:api_server_port, kind:registry_port) (%w)", containers.PortTaken(err), err)
	}
	return err
}
