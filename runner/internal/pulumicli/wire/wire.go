// Package wire is the protocol between the runner and a mara-engine worker:
// JSON values, one after the other, over two inherited pipes.
//
// The worker says Hello once. Then, again and again, the runner sends one
// Request and the worker answers with any number of Replies that carry output
// and a last one that carries the exit code. A worker does one request at a
// time. When the request pipe closes, the worker cancels what it is doing the
// graceful way and exits.
package wire

// Version is the protocol's version; a worker of another version is refused.
const Version = 4

// The file descriptors a worker finds its pipes at.
const (
	RequestFD = 3 // the worker reads requests here
	ReplyFD   = 4 // the worker writes replies here
)

// QuestionsVariable names the file, in the environment of a request, to which the
// worker writes what the program has asked of its cloud: a JSON list of functions,
// and of types of resources.
const QuestionsVariable = "MARA_QUESTIONS"

// Hello is the first value a worker writes.
type Hello struct {
	Protocol int    `json:"protocol"`
	Pulumi   string `json:"pulumi"` // version of the Pulumi inside, such as "3.250.0"
}

// Request asks for one Pulumi command.
type Request struct {
	Dir   string   `json:"dir"`             // working folder
	Env   []string `json:"env"`             // the whole environment, as KEY=VALUE
	Args  []string `json:"args"`            // without the program's name
	Stdin []byte   `json:"stdin,omitempty"` // the command's standard input

	// Keys are the keys that the command may need, so that the worker need not derive
	// them. They take the place of those that it has; none leaves these.
	Keys []Key `json:"keys,omitempty"`
}

// Key is the key of a passphrase.
type Key struct {
	Salt string `json:"salt"` // encryptionsalt of a stack file
	Raw  []byte `json:"raw"`
}

// Reply is a piece of output, or the end of the request.
type Reply struct {
	Stdout []byte `json:"stdout,omitempty"`
	Stderr []byte `json:"stderr,omitempty"`
	Exit   *int   `json:"exit,omitempty"` // set in the last reply only
}
