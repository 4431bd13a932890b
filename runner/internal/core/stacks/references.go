package stacks

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"mara/runner/internal/core/pulumicli/wire"
)

// Exports knows what the stacks of an environment export, and by which names programs
// refer to them.
type Exports struct{ *Set }

// Interpolations returns what the variables of Pulumi's own are in a program of the
// project in Pulumi YAML, by name.
func (e Exports) Interpolations(project string) map[string]string {
	return map[string]string{
		"pulumi.organization": e.options.Organization, "pulumi.project": project, "pulumi.stack": e.stackOf(project),
	}
}

// ExportedNames returns the names of the outputs that a project exports, as this run
// has found them by an up or else by a preview; known is false before that.
func (e Exports) ExportedNames(project string) (names []string, known bool) {
	if reported, ok := e.ReportedOutputs(project); ok {
		return slices.Sorted(maps.Keys(reported)), true
	}
	outputs, ok := e.previewedOutputs(project)
	if !ok {
		return nil, false
	}
	for _, output := range outputs {
		if output.Change != wire.Removed {
			names = append(names, output.Name)
		}
	}
	return names, true
}

// DeployedNames returns the names of the outputs in the state of a project's stack;
// known is false if the project is not deployed.
func (e Exports) DeployedNames(ctx context.Context, project string) (names []string, known bool, err error) {
	if !e.IsDeployed(project) {
		return nil, false, nil
	}
	standing, err := e.Standing(ctx, project)
	if err != nil || standing.Digest == "" {
		return nil, false, err
	}
	var outputs map[string]json.RawMessage
	if standing.Outputs != "" {
		if err := json.Unmarshal([]byte(standing.Outputs), &outputs); err != nil {
			return nil, false, err
		}
	}
	return slices.Sorted(maps.Keys(outputs)), true, nil
}

// MissingOutputError says that a program needs an output that a project of the
// environment does not export.
type MissingOutputError struct {
	Err    error  // as the program has reported it
	Owner  string // the project
	Output string
}

func (e *MissingOutputError) Error() string { return e.Err.Error() }

// Unwrap returns the error as the program has reported it.
func (e *MissingOutputError) Unwrap() error { return e.Err }

var (
	// requiredOutput matches what requireOutput of Pulumi's SDKs reports in Node.js,
	// .NET and Java.
	requiredOutput = regexp.MustCompile(`Required output '([^']+)' does not exist on stack '([^']+)'`)
	// typedOutput matches what GetStringOutput and the like of the SDK for Go report.
	typedOutput = regexp.MustCompile(`stack reference output "([^"]+)" does not exist on stack "([^"]+)"`)
	// builtInOutput matches what our own programs report.
	builtInOutput = regexp.MustCompile(`of project "([^"]+)" has no output "([^"]+)"`)
)

// ifOutputMissing marks an error whose diagnostics say that an output is missing.
func (w work) ifOutputMissing(err error, diagnostics string) error {
	for _, pattern := range []*regexp.Regexp{requiredOutput, typedOutput} {
		if match := pattern.FindStringSubmatch(diagnostics); match != nil {
			if owner, ours := w.ProjectOf(match[2]); ours {
				return &MissingOutputError{err, owner, match[1]}
			}
		}
	}
	if match := builtInOutput.FindStringSubmatch(diagnostics); match != nil {
		return &MissingOutputError{err, match[1], match[2]}
	}
	return err
}
