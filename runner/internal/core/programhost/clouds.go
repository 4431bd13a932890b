package programhost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/model/wire"
	"mara/runner/internal/machine/process"
)

// Clouds returns clients that ask the clouds through the host, which has their SDKs. Each
// question starts a process. find returns the path of the host,
// of the infrastructure of a provider.
func Clouds(find func() (string, error), of func(name string) (model.Infrastructure, bool)) cloud.Clients {
	return func(_ context.Context, provider string, access cloud.Access) (cloud.Client, error) {
		infrastructure, ok := of(provider)
		if !ok || len(infrastructure.Account.Credentials) == 0 {
			return nil, nil
		}
		return client{find: find, cloud: infrastructure, access: access}, nil
	}
}

// client is the client of one cloud.
type client struct {
	find   func() (string, error)
	cloud  model.Infrastructure
	access cloud.Access
}

// answerTime is how long before the deadline the host has to answer.
const answerTime = 300 * time.Millisecond

// Account implements cloud.Client.
func (c client) Account(ctx context.Context) (cloud.Account, error) {
	said, err := c.ask(ctx, wire.Question{})
	return said.Account, err
}

// Choices implements cloud.Client.
func (c client) Choices(ctx context.Context, list model.List) ([]cloud.Choice, error) {
	said, err := c.ask(ctx, wire.Question{List: list})
	return said.Choices, err
}

// Offers implements cloud.Catalogue.
func (c client) Offers(ctx context.Context, list model.List, places []string) ([]string, error) {
	said, err := c.ask(ctx, wire.Question{List: list, Offers: true, In: places})
	return said.Offers, err
}

// Remains implements cloud.Inventory.
func (c client) Remains(ctx context.Context, stack string) ([]string, error) {
	said, err := c.ask(ctx, wire.Question{Remains: stack})
	return said.Remains, err
}

// Locate implements cloud.Locator.
func (c client) Locate(ctx context.Context, stack string) (cloud.Located, error) {
	said, err := c.ask(ctx, wire.Question{Locate: stack})
	return said.Located, err
}

func (c client) ask(ctx context.Context, asked wire.Question) (said wire.Answer, err error) {
	path, err := c.find()
	if err != nil {
		return said, err
	}
	question, err := json.Marshal(c.question(ctx, asked))
	if err != nil {
		return said, err
	}
	var stdout bytes.Buffer
	var stderr process.Output
	command := exec.CommandContext(ctx, path, "--"+wire.CloudFlag)
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(question), &stdout, &stderr
	command.Env, command.WaitDelay = append(os.Environ(), process.Environ(c.access.Env)...), time.Second
	process.OwnGroup(command) // Ctrl-C ends it through ctx
	err = command.Run()
	if late := cloud.Late(c.cloud.Title, ctx.Err()); late != nil {
		return said, late
	}
	if err == nil {
		err = json.Unmarshal(stdout.Bytes(), &said)
	}
	switch {
	case ctx.Err() != nil:
		return said, context.Cause(ctx)
	case err != nil:
		return said, fmt.Errorf("asking %s with %s: %w%s", c.cloud.Title, path, err, stderr.Note())
	case said.Error != nil:
		return said, said.Error
	}
	return said, nil
}

// question completes a question.
func (c client) question(ctx context.Context, q wire.Question) wire.Question {
	q.Provider, q.Region, q.Profile = c.cloud.Name, c.access.Region, c.access.Profile
	if end, ok := ctx.Deadline(); ok {
		q.Until = end.Add(-answerTime)
	}
	return q
}
