// Package wire is the protocol between the runner and a mara-engine worker:
// JSON values, one after the other, over two inherited pipes.
//
// The worker says Hello once. Then, again and again, the runner sends one
// Request and the worker answers with any number of Replies that carry output
// and a last one that carries the exit code. A worker does one request at a
// time. When the request pipe closes, the worker cancels what it is doing the
// graceful way and exits.
package wire

import (
	"fmt"
	"log/slog"
)

// Version is the protocol's version; a worker of another version is refused.
const Version = 6

// The file descriptors a worker finds its pipes at.
const (
	RequestFD = 3 // the worker reads requests here
	ReplyFD   = 4 // the worker writes replies here
)

// QuestionsVariable names the file, in the environment of a request, to which the
// worker writes what the program has asked of its cloud: a JSON list of functions,
// and of types of resources.
const QuestionsVariable = "MARA_QUESTIONS"

// RootVariable has the root of the repository, for language hosts that name files from there.
const RootVariable = "MARA_ROOT"

// ParentVariable has the process number of a runner that waits for a command it has started by hand.
const ParentVariable = "MARA_PARENT"

// NoJournalVariable, if true in the environment of a request, has operations write whole states, as Pulumi does.
const NoJournalVariable = "RUNNER_NO_JOURNAL"

// ForgetJournalVariable, if true in the environment of a request, drops the journal of a state that it does not belong to.
const ForgetJournalVariable = "MARA_FORGET_JOURNAL"

// Hello is the first value a worker writes.
type Hello struct {
	Protocol int    `json:"protocol"`
	Pulumi   string `json:"pulumi"` // version of the Pulumi inside, such as "3.250.0"
}

// Request asks for one Pulumi command.
type Request struct {
	Dir   string   `json:"dir"`             // working directory
	Env   []string `json:"env"`             // the whole environment, as KEY=VALUE
	Args  []string `json:"args"`            // without the program's name
	Stdin []byte   `json:"stdin,omitempty"` // the command's standard input

	// Keys are the keys that the command may need, so that the worker need not derive
	// them. They replace the keys of the worker; none keeps them.
	Keys []Key `json:"keys,omitempty"`

	// Preview makes the command, a preview, read foreseen outputs, and the last reply
	// say what the preview has found. Nil leaves the command as Pulumi has it.
	Preview *Preview `json:"preview,omitempty"`

	// Known are answers of Pulumi Cloud that other workers got, which this one need not ask for.
	Known []Known `json:"known,omitempty"`
}

// Preview is what a preview is given.
type Preview struct {
	// Foreseen are the outputs that earlier previews have found, by the full names of
	// their stacks. A program that reads one of these stacks gets them instead of the
	// outputs in the stack's state.
	Foreseen map[string]Values `json:"foreseen,omitempty"`
}

// Values are the outputs of a stack as Pulumi encodes properties, with unknown
// values and with secrets in the clear. They live in memory and in this protocol
// only. Neither fmt nor slog prints them.
type Values []byte

// Format implements fmt.Formatter.
func (v Values) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "[%d bytes of outputs]", len(v)) }

// LogValue implements slog.LogValuer.
func (v Values) LogValue() slog.Value { return slog.StringValue(fmt.Sprintf("%v", v)) }

// Found is what a preview has found.
type Found struct {
	// Values are the outputs of the stack, for Preview.Foreseen; nil if the program has
	// not registered any.
	Values Values `json:"values,omitempty"`
	// Outputs describe the outputs, and additional outputs in the state of the stack,
	// by name.
	Outputs []Output `json:"outputs,omitempty"`
	// Reads are the full names of the stacks that the program has read, sorted.
	Reads []string `json:"reads,omitempty"`
}

// Output describes an output without its value.
type Output struct {
	Name    string `json:"name"`
	Unknown bool   `json:"unknown,omitempty"` // the value or a part of it is not known yet
	Secret  bool   `json:"secret,omitempty"`  // the value or a part of it is secret
	Change  Change `json:"change,omitempty"`
}

// Change says how an output differs from the one in the stack's state.
type Change string

// The changes of an output. An output whose value is not known yet may be the same
// in the end; it counts as changed unless the rest of it proves that it is.
const (
	Same    Change = ""
	Changed Change = "changed"
	Added   Change = "added"
	Removed Change = "removed"
)

// Key is the key of a passphrase.
type Key struct {
	Salt string `json:"salt"` // encryptionsalt of a stack file
	Raw  []byte `json:"raw"`
}

// Reply is a piece of output, or the end of the request.
type Reply struct {
	Stdout []byte  `json:"stdout,omitempty"`
	Stderr []byte  `json:"stderr,omitempty"`
	Exit   *int    `json:"exit,omitempty"`  // set in the last reply only
	Found  *Found  `json:"found,omitempty"` // of a preview that has succeeded; in the last reply only
	Known  []Known `json:"known,omitempty"` // answers of Pulumi Cloud that the command got; in the last reply only
}
