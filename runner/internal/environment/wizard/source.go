package wizard

import (
	"context"
	"errors"
	"time"

	"mara/providers"
	"mara/providers/cloud"
	"mara/runner/internal/machine/prompt"
)

// source is the state of the cloud that choices come from.
type source struct {
	greeted bool // its account was shown
	givenUp bool // it has failed, and is not asked again
	warned  string
}

// choices lists the options that the cloud offers. If the cloud does not answer, it
// reports why, and the question is for free text.
func (i *interview) choices(ctx context.Context, list providers.List) []prompt.Option {
	if i.Clouds == nil || i.cloud.givenUp {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
	defer cancel()
	client, err := i.Clouds(ctx, i.provider.Name, cloud.AccessTo(i.provider, i.Env, i.known))
	if err != nil || client == nil {
		i.warn(ctx, err)
		return nil
	}
	patience := time.AfterFunc(time.Second, func() { i.printf("asking %s ...", i.provider.Title) })
	defer patience.Stop()
	i.greet(ctx, client)
	choices, err := client.Choices(ctx, list)
	if err != nil {
		i.warn(ctx, err)
		i.cloud.givenUp = true
		return nil
	}
	var options []prompt.Option
	for _, choice := range choices {
		options = append(options, prompt.Option{Value: choice.Value, Note: choice.Note})
	}
	return options
}

// known returns the answer to a key, or its value in the file; "" if it is no string.
func (i *interview) known(key string) string {
	value, ok := i.answers[key]
	if !ok {
		entry, _ := i.file.Lookup(key)
		value = entry.Value
	}
	text, _ := value.(string)
	return text
}

// greet prints the account once, so that the user notices a wrong one in time.
func (i *interview) greet(ctx context.Context, client cloud.Client) {
	if i.cloud.greeted {
		return
	}
	i.cloud.greeted = true
	account, err := client.Account(ctx)
	if err != nil {
		i.report(ctx, err, "")
		return
	}
	i.printf("%s: %s", i.provider.Title, account)
}

// warn reports why a cloud does not answer, and the consequence.
func (i *interview) warn(ctx context.Context, err error) {
	if err != nil {
		i.report(ctx, err, "; there is no list to choose from")
	}
}

// report prints an error once. It ignores errors after a cancellation by the user.
func (i *interview) report(ctx context.Context, err error, consequence string) {
	if i.cloud.warned == err.Error() || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	i.cloud.warned = err.Error()
	i.printf("warning: %s%s", err, consequence)
	var next interface{ NextStep() string }
	if errors.As(err, &next) && next.NextStep() != "" {
		i.printf("hint: %s", next.NextStep())
	}
}
