// Package cloud defines the runner's questions to the clouds: the account of the
// credentials, lists of choices, existing resources. The packages below answer them with
// the clouds' SDKs. They are linked into pulumi-language-mara, which the runner asks (see
// package programhost).
package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects/model"
)

// Patience bounds how long a question to a cloud may take.
const Patience = 10 * time.Second

// Access holds the settings to reach a cloud.
type Access struct {
	Env     map[string]string // the environment file over the process environment
	Region  string            // "" if not known yet
	Profile string            // from the configuration; "" for that of the environment

	// Of a cluster that is there already; "" if not known yet.
	Kubeconfig, Context string
}

// Choice is one value of a list.
type Choice struct {
	Value string `json:"value"`
	Note  string `json:"note,omitempty"` // description: "2 vCPU, 8 GiB"
}

// Account is the owner of the credentials.
type Account struct {
	ID   string `json:"id,omitempty"`   // of the account; "" if only the name is known
	Name string `json:"name,omitempty"` // of the user or role
	// ClockAhead is how far the clock of this machine is ahead of the cloud's; 0 if
	// unknown.
	ClockAhead time.Duration `json:"clock_ahead,omitempty"`
}

// String returns the account for a sentence.
func (a Account) String() string {
	if a.ID == "" {
		return a.Name
	}
	return fmt.Sprintf("account %s as %s", a.ID, a.Name)
}

// Client asks one cloud.
type Client interface {
	Account(ctx context.Context) (Account, error)
	Choices(ctx context.Context, list model.List) ([]Choice, error)
}

// Catalogue is a client that lists all names that its cloud offers, more than the choices of a first run. A type of
// nodes is offered if all of the places have it, a region or zones of one; without a place, if the cloud has it.
type Catalogue interface {
	Offers(ctx context.Context, list model.List, places []string) ([]string, error)
}

// Inventory is a client that lists the resources of an environment in its cloud by their
// tags.
type Inventory interface {
	Remains(ctx context.Context, stack string) ([]string, error)
}

// Resource is a resource of an environment in a cloud.
type Resource struct {
	Type string `json:"type"`           // Pulumi's
	ID   string `json:"id"`             // for Pulumi's import
	Name string `json:"name,omitempty"` // in the cloud
	URN  string `json:"urn,omitempty"`  // in a simulation only
}

// Located lists the resources of an environment in a cloud.
type Located struct {
	// Types lists the types that were searched completely: a resource of these types
	// that is not in Resources does not exist. Every means all types.
	Types     []string   `json:"types,omitempty"`
	Every     bool       `json:"every,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
}

// Describe returns the resources by their names, after the word for their type.
func (l Located) Describe(words map[string]string) []string {
	return lists.Map(l.Resources, func(r Resource) string { return words[r.Type] + " " + r.Name })
}

// Locator is a client that finds the resources of an environment by name or tag, to
// recover resources whose creation was interrupted.
type Locator interface {
	Locate(ctx context.Context, stack string) (Located, error)
}

// Clients makes the client of a provider; it returns nil for a provider without a cloud.
type Clients func(ctx context.Context, provider string, access Access) (Client, error)

// Connect makes the client of one cloud.
type Connect func(ctx context.Context, access Access) (Client, error)

// AccessTo returns the access to a provider's cloud, given the values of configuration keys.
func AccessTo(p model.Provider, env map[string]string, value func(key string) string) Access {
	access := Access{Env: env, Region: value(p.Account.Region), Profile: value(p.Account.Profile)}
	if p.Existing != nil {
		access.Kubeconfig, access.Context = value(p.Existing.Kubeconfig), value(p.Existing.Context)
	}
	return access
}

// Lists maps the lists of choices of a cloud to their queries.
type Lists map[model.List]func(context.Context) ([]Choice, error)

// Names returns the values of choices.
func Names(choices []Choice) []string {
	return lists.Map(choices, func(choice Choice) string { return choice.Value })
}

// ByValue sorts choices by their values.
func ByValue(choices []Choice) []Choice {
	slices.SortFunc(choices, func(a, b Choice) int { return strings.Compare(a.Value, b.Value) })
	return choices
}

// NewestFirst sorts versions: 1.9 is older than 1.10.
func NewestFirst(choices []Choice) []Choice {
	slices.SortFunc(choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(len(b.Value), len(a.Value)), strings.Compare(b.Value, a.Value))
	})
	return choices
}

// Choices queries a list; explain turns errors into sentences.
func (l Lists) Choices(ctx context.Context, list model.List, explain func(error) error) ([]Choice, error) {
	ask := l[list]
	if ask == nil {
		return nil, fmt.Errorf("no list of %s", list)
	}
	choices, err := ask(ctx)
	if err != nil {
		return nil, explain(err)
	}
	if len(choices) == 0 {
		return nil, &Error{Text: fmt.Sprintf("the list of %s is empty", list), Unsure: true}
	}
	return choices, nil
}

// Error says in a sentence why a cloud gave no answer.
type Error struct {
	Text   string `json:"text"`
	Err    error  `json:"-"`
	Next   string `json:"next,omitempty"`   // what to do about it
	Unsure bool   `json:"unsure,omitempty"` // the cloud was not reached, or failed: the credentials may be good
	// Unreachable says that another question will have no answer either.
	Unreachable bool `json:"unreachable,omitempty"`
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NextStep returns the advice what to do about the error.
func (e *Error) NextStep() string { return e.Next }

// Late returns the error for a cloud that did not answer in time, or nil for other errors.
func Late(name string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return &Error{Text: name + " did not answer in time", Err: err, Next: checkNetwork, Unsure: true, Unreachable: true}
}

// Answer is a cloud's answer that is an error.
type Answer struct {
	Cloud, Reason string
	Code          string // the cloud's own; "" for the status
	Status        int
	Header        http.Header // may be nil
}

// Error returns the error in a sentence, with the advice when to ask again. A server error
// refuses nothing, and a page, of a proxy perhaps, gives no reason.
func (a Answer) Error(err error) *Error {
	verb, next := "refuses", ""
	if a.Status >= http.StatusInternalServerError {
		verb, next = "failed", "try again in a few minutes"
	}
	if a.Status == http.StatusTooManyRequests {
		next = "try again in a minute"
	}
	if wait := a.wait(time.Now()); next != "" && wait > 0 {
		next = "try again in " + wait.String()
	}
	if a.Reason == "" || strings.Contains(a.Reason, "<") {
		a.Reason = http.StatusText(a.Status)
	}
	if a.Code == "" {
		a.Code = strconv.Itoa(a.Status)
	}
	return &Error{Text: fmt.Sprintf("%s %s: %s (%s)", a.Cloud, verb, a.Reason, a.Code), Err: err, Next: next}
}

// wait returns how long the server asks to wait, or 0.
func (a Answer) wait(now time.Time) time.Duration {
	text := a.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return until.Sub(now).Round(time.Second)
}

const checkNetwork = "check the network and its proxy"

// Garbled returns the error for a cloud that could not be reached, or whose answer could not
// be parsed. It does not quote a page, of a proxy perhaps.
func Garbled(name string, err error, cause string) error {
	if strings.Contains(cause, "<") {
		cause = "it is a page instead of JSON, perhaps of a proxy"
	}
	return &Error{Text: name + " gave no answer: " + cause, Err: err, Next: checkNetwork, Unsure: true, Unreachable: true}
}
