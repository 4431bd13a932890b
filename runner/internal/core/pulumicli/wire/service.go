package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
)

// UpdateVariable names the file, in the environment of a request, to which the worker writes which update of Pulumi
// Cloud it has begun, so that a later run can tell its own from others.
const UpdateVariable = "MARA_UPDATE"

// Begun is an update that a worker has begun.
type Begun struct {
	Stack   string `json:"stack"`  // its full name
	Update  string `json:"update"` // its identifier
	Kind    string `json:"kind"`   // update, preview, refresh, destroy
	Version int    `json:"version,omitempty"`
	Link    string `json:"link,omitempty"` // to its page; "" where the server has none
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Started int64  `json:"started"` // milliseconds since 1970
}

// ReadStacks asks `service read` for parts of stacks. Each part takes a request for each stack.
type ReadStacks struct {
	Names []string `json:"names"` // organization/project/stack
	// Tagged has only those read that have the tag; nil for all. The list of stacks with a tag takes one request.
	Tagged  *Tag `json:"tagged,omitempty"`
	Updates bool `json:"updates,omitempty"`
	// Begun are updates that this machine has begun, by the names of their stacks. Some servers do not say which update
	// runs; they are asked about these, which takes a request more.
	Begun   map[string]string `json:"begun,omitempty"`
	States  bool              `json:"states,omitempty"`
	History bool              `json:"history,omitempty"`
}

// Tag is one of a stack at Pulumi Cloud.
type Tag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ServiceStack is a stack at Pulumi Cloud.
type ServiceStack struct {
	Tags   map[string]string `json:"tags,omitempty"`   // read with Update
	Update *ServiceUpdate    `json:"update,omitempty"` // that holds it; nil if none does
	State  json.RawMessage   `json:"state,omitempty"`
	Last   *ServiceHistory   `json:"last,omitempty"` // nil if there was never an update
}

// ServiceHistory is the last update of a stack.
type ServiceHistory struct {
	Kind   string `json:"kind"`
	Result string `json:"result"` // succeeded, failed, in-progress
	Start  int64  `json:"start"`  // seconds since 1970
	End    int64  `json:"end"`
}

// ServiceUpdate is an update that runs, or was cut off.
type ServiceUpdate struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Author  string `json:"author"`
	Started int64  `json:"started"` // seconds since 1970
}

// SealValues asks `service seal` and `service unseal` to encrypt or decrypt values.
type SealValues struct {
	Stack  string       `json:"stack"` // full name of the stack with the key
	Values SealedValues `json:"values"`
	Create bool         `json:"create,omitempty"` // the stack, if it does not exist
}

// SealedValues are values, encrypted or not. Neither fmt nor slog prints them.
type SealedValues [][]byte

// Format implements fmt.Formatter.
func (v SealedValues) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "[%d values]", len(v)) }

// LogValue implements slog.LogValuer.
func (v SealedValues) LogValue() slog.Value { return slog.StringValue(fmt.Sprintf("%v", v)) }

// CancelUpdate asks `service cancel` to cancel an update.
type CancelUpdate struct {
	Stack  string `json:"stack"`
	Update string `json:"update"`
}

// Imports asks `service imports` for the configuration that environments of Pulumi ESC have. They are not opened: what
// only opening them would tell, such as a login, stays unknown.
type Imports struct {
	Organization string `json:"organization"`
	Environments []byte `json:"environments"` // in YAML, as a stack file names them
}

// Imported is a value of an environment of Pulumi ESC.
type Imported struct {
	Text    string `json:"text,omitempty"` // "" of one that is secret or unknown
	Secret  bool   `json:"secret,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
	// Environment and Line are where it is defined.
	Environment string `json:"environment"`
	Line        int    `json:"line,omitempty"`
}

// Shown returns the value for people.
func (i Imported) Shown() string {
	switch {
	case i.Secret:
		return "[secret]"
	case i.Unknown:
		return "[known when it is opened]"
	}
	return i.Text
}

// Place returns where the value is defined, for people.
func (i Imported) Place() string {
	if i.Line == 0 {
		return i.Environment
	}
	return fmt.Sprintf("%s:%d", i.Environment, i.Line)
}

// Known is what Pulumi Cloud has answered to a question whose answer is the same for the whole of a run.
type Known struct {
	Question string `json:"question"`
	Status   int    `json:"status"`
	Body     []byte `json:"body"`
}

// Question names a question of someone who is logged in. It does not tell the token.
func Question(url, authorization string) string {
	sum := sha256.Sum256([]byte(url + "\x00" + authorization))
	return hex.EncodeToString(sum[:])
}
