package kindprovider

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-go-provider/infer"

	"mara/runner/internal/machine/containers"
)

// incomplete returns the error of a resource that exists, but not as it should: the
// state keeps it, and the next run repairs it. It is nil without causes.
func incomplete(causes ...error) error {
	if len(causes) == 0 {
		return nil
	}
	var explained []error
	for _, cause := range causes {
		explained = append(explained, explain(cause))
	}
	return &incompleteError{explained}
}

// incompleteError lists the causes; infer's own error says only that there are some.
type incompleteError struct{ causes []error }

func (e *incompleteError) Error() string { return errors.Join(e.causes...).Error() }

// Unwrap returns the causes and the error that infer looks for.
func (e *incompleteError) Unwrap() []error {
	return append(slices.Clone(e.causes), infer.ResourceInitFailedError{Reasons: texts(e.causes)})
}

// texts returns the messages of errors, with hints.
func texts(errs []error) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, explain(err).Error())
	}
	return texts
}

// explain adds a hint to errors that runtimes report in their own words.
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
