package main

import (
	"regexp"
	"strings"
	"sync"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// told is the log of a program, to which the interpreter writes its findings with an excerpt of the file, and each error
// a second time as "Error registering". Errors are kept for the answer, which names file, line and column of each.
type told struct {
	pulumi.Log

	mu     sync.Mutex // guards errors: parts of a program are evaluated at the same time
	errors []string
}

var (
	excerpt = regexp.MustCompile(`(?s)^(.*?)\n\n  on (\S+) line (\d+)(?:, in [^\n]*)?:\n`)
	echo    = regexp.MustCompile(`^Error registering (config|variable|resource|output) \[.*\]: no diagnostics$`)
)

// Warn writes a warning on one line, with its place.
func (t *told) Warn(message string, args *pulumi.LogArgs) error {
	return t.Log.Warn(oneLine(message), args)
}

// Error keeps the errors that the interpreter returns as well.
func (t *told) Error(message string, args *pulumi.LogArgs) error {
	switch {
	case echo.MatchString(message):
		return nil
	case excerpt.MatchString(message):
		t.mu.Lock()
		defer t.mu.Unlock()
		t.errors = append(t.errors, message)
		return nil
	}
	return t.Log.Error(message, args)
}

// oneLine returns a finding without its excerpt, and with its place before it.
func oneLine(message string) string {
	at := excerpt.FindStringSubmatch(message)
	if at == nil {
		return message
	}
	return at[2] + ":" + at[3] + ": " + strings.Join(strings.Fields(at[1]), " ")
}

// answer reports how a template has ended, without errors that have reached the engine already.
func (t *told) answer(err error) *pulumirpc.RunResponse {
	if err == nil {
		return &pulumirpc.RunResponse{}
	}
	found, ok := pulumiyaml.HasDiagnostics(err)
	if !ok {
		return &pulumirpc.RunResponse{Error: err.Error()}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, diagnostic := range found { // those that were kept from the log are not shown yet
		for _, kept := range t.errors {
			diagnostic.Shown = diagnostic.Shown && !strings.HasPrefix(kept, diagnostic.Summary)
		}
	}
	untold := texts(*found.Unshown())
	for _, kept := range t.errors {
		if summary := excerpt.FindStringSubmatch(kept)[1]; !strings.Contains(untold, strings.Join(strings.Fields(summary), " ")) {
			untold = strings.TrimPrefix(untold+"\n"+oneLine(kept), "\n")
		}
	}
	if untold != "" {
		return &pulumirpc.RunResponse{Error: untold}
	}
	return &pulumirpc.RunResponse{Bail: found.HasErrors()}
}
