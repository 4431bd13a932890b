package kindprovider

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"github.com/pulumi/pulumi-go-provider/infer"

	"mara/runner/internal/containers"
)

// incomplete says that something exists, but not as it should: the state keeps
// it, and the next run repairs it. Without causes it is nil.
func incomplete(causes ...error) error {
	if len(causes) == 0 {
		return nil
	}
	return &incompleteError{slice.Map(causes, explain)}
}

// incompleteError tells the causes, where infer's own error says only that there
// are some.
type incompleteError struct{ causes []error }

func (e *incompleteError) Error() string { return errors.Join(e.causes...).Error() }

// Unwrap lets infer find what it looks for.
func (e *incompleteError) Unwrap() []error {
	return append(slices.Clone(e.causes), infer.ResourceInitFailedError{Reasons: texts(e.causes)})
}

// texts are what errors say, and what to do about them.
func texts(errs []error) []string {
	return slice.Map(errs, func(err error) string { return explain(err).Error() })
}

// explain adds what to do to errors that runtimes report in their own words.
func explain(err error) error {
	var before explainedError
	switch {
	case err == nil || errors.As(err, &before):
		return err
	case containers.Unreachable(err):
		return explainedError{fmt.Errorf("the container runtime does not answer: start its daemon (%w)", err)}
	case containers.PortTaken(err) != "":
		return explainedError{fmt.Errorf("port %s of this machine is taken: stop what holds it, or choose another port "+
			"(kind:http_port, kind:https_port, kind:api_server_port, kind:registry_port) (%w)", containers.PortTaken(err), err)}
	}
	return err
}

// explainedError is not to be explained again.
type explainedError struct{ error }

func (e explainedError) Unwrap() error { return e.error }
