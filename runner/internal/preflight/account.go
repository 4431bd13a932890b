package preflight

import (
	"context"
	"errors"

	"mara/runner/internal/cloud"
)

// account is whose credentials the provider's cloud sees. Those that it refuses
// are a problem; a cloud that does not answer may do so later.
func account(f Facts) Check {
	return Check{Title: f.Provider + " account", Group: Cloud, Limit: cloud.Patience, Look: func(ctx context.Context) []Finding {
		client, err := f.Clouds(ctx, f.Provider, f.access())
		if err != nil {
			return accountError(err)
		}
		who, err := client.Account(ctx)
		if err != nil {
			return accountError(err)
		}
		return Good(who.String())
	}}
}

// access is how the programs reach the cloud.
func (f Facts) access() cloud.Access {
	return cloud.Access{
		Env:    f.Env,
		Region: f.Config.Text("aws:region").Text, Profile: f.Config.Text("aws:profile").Text,
	}
}

func accountError(err error) []Finding {
	var told *cloud.Error
	if !errors.As(err, &told) {
		return Doubtful(err.Error(), "")
	}
	if told.Unsure {
		return Doubtful(told.Text, told.Next)
	}
	return Bad(told.Text, told.Next)
}
