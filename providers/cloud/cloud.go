// Package cloud says what the runner asks the clouds themselves: whose
// credentials these are, and what there is to choose from. The answers come from
// the clouds' own SDKs, in the packages below. pulumi-language-mara has them; the
// runner asks through that (see package programhost).
package cloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mara/providers"
)

// Patience bounds how long a question to a cloud may take.
const Patience = 10 * time.Second

// Access is how a cloud is reached.
type Access struct {
	Env     map[string]string // the environment file over the process environment
	Region  string            // "" when it is not known yet
	Profile string            // of the configuration; "" for the one of the environment
}

// Choice is one of the values that there are to choose from.
type Choice struct {
	Value string `json:"value"`
	Note  string `json:"note,omitempty"` // what it is: "2 vCPU, 8 GiB"
}

// Account is whose credentials they are.
type Account struct {
	ID   string `json:"id,omitempty"`   // of the account; "" where there is only a name
	Name string `json:"name,omitempty"` // of the user or role
	// ClockAhead is how far the clock of this machine is ahead of the cloud's; 0
	// where that has not told its time.
	ClockAhead time.Duration `json:"clock_ahead,omitempty"`
}

// String is the account in a sentence.
func (a Account) String() string {
	if a.ID == "" {
		return a.Name
	}
	return fmt.Sprintf("account %s as %s", a.ID, a.Name)
}

// Client asks one cloud.
type Client interface {
	Account(ctx context.Context) (Account, error)
	Choices(ctx context.Context, list providers.List) ([]Choice, error)
}

// Inventory is a client that can tell what there is of an environment in its cloud,
// as far as tags say so.
type Inventory interface {
	Remains(ctx context.Context, stack string) ([]string, error)
}

// Resource is something that a cloud has of an environment.
type Resource struct {
	Type string `json:"type"`           // Pulumi's
	ID   string `json:"id"`             // by which Pulumi imports it
	Name string `json:"name,omitempty"` // what the cloud calls it
	URN  string `json:"urn,omitempty"`  // where the cloud knows it: in a simulation
}

// Located is what a cloud has of an environment.
type Located struct {
	// Types are those of which all resources were listed: what is not among Resources
	// does not exist. Every means all types.
	Types     []string   `json:"types,omitempty"`
	Every     bool       `json:"every,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
}

// Locator is a client that finds the resources of an environment by their names or
// tags, for those whose creation was cut off.
type Locator interface {
	Locate(ctx context.Context, stack string) (Located, error)
}

// Clients makes the client of a provider; nil where there is no cloud to ask.
type Clients func(ctx context.Context, provider string, access Access) (Client, error)

// Connect makes the client of one cloud.
type Connect func(ctx context.Context, access Access) (Client, error)

// AccessTo is how a provider's cloud is reached, given the values of
// configuration keys.
func AccessTo(p providers.Provider, env map[string]string, value func(key string) string) Access {
	return Access{Env: env, Region: value(p.Account.Region), Profile: value(p.Account.Profile)}
}

// Lists are the lists of choices that a cloud has.
type Lists map[providers.List]func(context.Context) ([]Choice, error)

// Choices asks for a list; explain says in a sentence why there was no answer.
func (l Lists) Choices(ctx context.Context, list providers.List, explain func(error) error) ([]Choice, error) {
	ask := l[list]
	if ask == nil {
		return nil, fmt.Errorf("there is no list of %s", list)
	}
	choices, err := ask(ctx)
	if err != nil {
		return nil, explain(err)
	}
	if len(choices) == 0 {
		return nil, fmt.Errorf("the list of %s is empty", list)
	}
	return choices, nil
}

// Error is why a cloud gave no answer, in a sentence.
type Error struct {
	Text   string `json:"text"`
	Err    error  `json:"-"`
	Next   string `json:"next,omitempty"`   // what to do about it
	Unsure bool   `json:"unsure,omitempty"` // the cloud was not reached, or is in trouble: the credentials may be good
}

// Error is the sentence.
func (e *Error) Error() string { return e.Text }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// NextStep is what to do about it.
func (e *Error) NextStep() string { return e.Next }

// Late is the error for a cloud that did not answer in time; nil when that is not
// what happened.
func Late(name string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return &Error{Text: name + " did not answer in time", Err: err, Next: checkNetwork, Unsure: true}
}

const checkNetwork = "check the network and its proxy"

// Garbled is the error for a cloud that could not be reached, or whose answer
// could not be understood.
func Garbled(name string, err error, cause string) error {
	return &Error{Text: name + " gave no answer: " + cause, Err: err, Next: checkNetwork, Unsure: true}
}
