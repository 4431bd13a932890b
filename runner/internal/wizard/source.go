package wizard

import (
	"context"
	"errors"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/providers"
	"mara/providers/cloud"
	"mara/runner/internal/prompt"
)

// source is what is known about the cloud that choices come from.
type source struct {
	greeted bool // its account was shown
	given   bool // up: there is no use in asking on
	warned  string
}

// choices asks the cloud for a list. Without an answer there are none, the user
// is told why, and the question is for free text.
func (i *interview) choices(ctx context.Context, list providers.List) []prompt.Option {
	if i.Clouds == nil || i.cloud.given {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
	defer cancel()
	client, err := i.Clouds(ctx, i.provider.Name, cloud.AccessTo(i.provider, i.Env, i.known))
	if err != nil || client == nil {
		i.warn(ctx, err)
		return nil
	}
	patience := time.AfterFunc(time.Second, func() { i.told("asking %s ...", i.provider.Title) })
	defer patience.Stop()
	i.greet(ctx, client)
	choices, err := client.Choices(ctx, list)
	if err != nil {
		i.warn(ctx, err)
		i.cloud.given = true
		return nil
	}
	return slice.Map(choices, func(choice cloud.Choice) prompt.Option { return prompt.Option{Value: choice.Value, Note: choice.Note} })
}

// known is the answer to a key, or what the file has; "" when neither is text.
func (i *interview) known(key string) string {
	value, ok := i.answers[key]
	if !ok {
		entry, _ := i.file.Lookup(key)
		value = entry.Value
	}
	text, _ := value.(string)
	return text
}

// greet shows once whose credentials these are, before a mistake is expensive.
func (i *interview) greet(ctx context.Context, client cloud.Client) {
	if i.cloud.greeted {
		return
	}
	i.cloud.greeted = true
	account, err := client.Account(ctx)
	if err != nil {
		i.tell(ctx, err, "")
		return
	}
	i.told("%s: %s", i.provider.Title, account)
}

// warn tells why a cloud does not answer, and what that means.
func (i *interview) warn(ctx context.Context, err error) {
	if err != nil {
		i.tell(ctx, err, "; there is no list to choose from")
	}
}

// tell tells a reason once. That the user does not want to wait is none.
func (i *interview) tell(ctx context.Context, err error, consequence string) {
	if i.cloud.warned == err.Error() || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	i.cloud.warned = err.Error()
	i.told("warning: %s%s", err, consequence)
	var next interface{ NextStep() string }
	if errors.As(err, &next) && next.NextStep() != "" {
		i.told("hint: %s", next.NextStep())
	}
}
