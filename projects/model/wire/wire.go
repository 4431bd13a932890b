// Package wire is what pulumi-language-mara says to a runner that has started
// it: JSON values on its standard output, Hello first. The runner says nothing;
// when it closes the standard input, the host ends. A question about a cloud is
// asked of a process of its own: a Question on its standard input, an Answer on its
// standard output.
package wire

import (
	"time"

	"mara/projects/model"
	"mara/projects/model/cloud"
)

// Version is the protocol's version; a host of another version is refused.
const Version = 1

// The flags with which the runner starts the host.
const (
	RunnerFlag   = "runner"   // serve a runner, not one engine
	RootFlag     = "root"     // where relative paths in the configuration start
	ProviderFlag = "provider" // for a configuration that does not name it
	CloudFlag    = "cloud"    // answer one question about a cloud
)

// Hello says that programs are served.
type Hello struct {
	Protocol int    `json:"protocol"`
	Pulumi   string `json:"pulumi"` // version of Pulumi's SDK inside, such as "3.250.0"
	Port     int    `json:"port"`   // of this machine
}

// Ran says that a program has run.
type Ran struct {
	Project string        `json:"project"`
	Took    time.Duration `json:"took"`
}

// Question asks about a cloud. Credentials are found in the
// environment, where the cloud's own tools find them.
type Question struct {
	Provider string     `json:"provider"`
	Region   string     `json:"region,omitempty"`
	Profile  string     `json:"profile,omitempty"`
	List     model.List `json:"list,omitempty"`   // "" asks whose credentials they are
	Offers   bool       `json:"offers,omitempty"` // asks for all names of List
	In       []string   `json:"in,omitempty"`     // region or zones of these names
	// Remains is a stack; if set, the question asks for its remaining resources instead.
	Remains string    `json:"remains,omitempty"`
	Locate  string    `json:"locate,omitempty"` // the same, as resources of Pulumi
	Until   time.Time `json:"until,omitzero"`   // when the runner loses patience
}

// Answer is what the cloud has said.
type Answer struct {
	Account cloud.Account  `json:"account"`
	Choices []cloud.Choice `json:"choices,omitempty"`
	Offers  []string       `json:"offers,omitempty"`
	Remains []string       `json:"remains,omitempty"`
	Located cloud.Located  `json:"located,omitzero"`
	Error   *cloud.Error   `json:"error,omitempty"`
}
