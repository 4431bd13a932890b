package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mara/config"
	"mara/projects/model/cloud"
	"mara/projects/model/wire"
)

// answer answers one question about a cloud.
func answer(ctx context.Context, clouds map[string]cloud.Connect, environ []string, in io.Reader, out io.Writer) error {
	var question wire.Question
	if err := json.NewDecoder(in).Decode(&question); err != nil {
		return fmt.Errorf("reading the question: %w", err)
	}
	said, err := ask(ctx, clouds, environ, question)
	if err != nil && !errors.As(err, &said.Error) {
		said.Error = &cloud.Error{Text: err.Error(), Unsure: true}
	}
	return json.NewEncoder(out).Encode(said)
}

func ask(
	ctx context.Context, clouds map[string]cloud.Connect, environ []string, q wire.Question,
) (said wire.Answer, err error) {
	if !q.Until.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, q.Until)
		defer stop()
	}
	connect, ok := clouds[q.Provider]
	if !ok {
		return said, fmt.Errorf("%s has no cloud that could be asked", q.Provider)
	}
	access := cloud.Access{Env: config.Environment{}.Merge(environ), Region: q.Region, Profile: q.Profile}
	client, err := connect(ctx, access)
	switch {
	case err != nil:
		return said, err
	case q.Remains != "":
		inventory, ok := client.(cloud.Inventory)
		if !ok {
			return said, fmt.Errorf("%s cannot tell what remains", q.Provider)
		}
		said.Remains, err = inventory.Remains(ctx, q.Remains)
	case q.Locate != "":
		locator, ok := client.(cloud.Locator)
		if !ok {
			return said, fmt.Errorf("%s cannot locate resources", q.Provider)
		}
		said.Located, err = locator.Locate(ctx, q.Locate)
	case q.Offers:
		catalogue, ok := client.(cloud.Catalogue)
		if !ok {
			return said, fmt.Errorf("%s cannot list what it offers", q.Provider)
		}
		said.Offers, err = catalogue.Offers(ctx, q.List, q.In)
	case q.List == "":
		said.Account, err = client.Account(ctx)
	default:
		said.Choices, err = client.Choices(ctx, q.List)
	}
	return said, err
}
