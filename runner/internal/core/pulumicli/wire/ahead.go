package wire

// AheadFlag makes mara-engine start the program of one project before its turn. It finds the same two pipes as a worker:
// the runner sends one Ahead, and then any number of AheadOrders; the process answers with AheadNews. It ends, with all
// that it has started, when the pipe closes.
const AheadFlag = "--mara-ahead"

// Ahead is the command that will run a program when its turn has come: as a worker would get it.
type Ahead struct {
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	Args []string `json:"args"`
	Keys []Key    `json:"keys,omitempty"`
}

// AheadOrder asks whether the program still waits, right before its turn.
type AheadOrder struct {
	Ask bool `json:"ask"`
}

// AheadNews is what has happened to a program that waits. Each has one field.
type AheadNews struct {
	Serves  *AheadServes `json:"serves,omitempty"`  // first, if the program could be started
	Refused string       `json:"refused,omitempty"` // first, why the program cannot be started ahead
	Ready   bool         `json:"ready,omitempty"`   // it has come to its first resource, and is held there
	Ended   bool         `json:"ended,omitempty"`   // it has ended before its turn
	Anew    string       `json:"anew,omitempty"`    // why it was started anew when its engine came
	Waits   *bool        `json:"waits,omitempty"`   // the answer to an order: whether it still waits
}

// AheadServes says where an engine finds the language host that has started a program.
type AheadServes struct {
	Runtime string `json:"runtime"`
	Port    int    `json:"port"`
}
