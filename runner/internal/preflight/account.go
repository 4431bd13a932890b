package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mara/config"
	"mara/providers/cloud"
)

// account is whose credentials the provider's cloud sees. Those that it refuses
// are a problem; a cloud that does not answer may do so later.
func account(f Facts) Check {
	limit := cloud.Patience + time.Second // who runs out of patience first says what to do
	return Check{Title: f.Provider.Name + " account", Group: Cloud, Limit: limit, Look: func(ctx context.Context) []Finding {
		ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
		defer cancel()
		if entry, ok := f.ownCredentials(); ok {
			return Unseen(fmt.Sprintf("%s in %s:%d is for Pulumi only, and was not tried", entry.Key, f.Config.Origin(entry).File, entry.Line))
		}
		client, err := f.Clouds(ctx, f.Provider.Name, cloud.AccessTo(f.Provider, f.Env, f.configured))
		if err != nil {
			return f.accountError(err)
		}
		who, err := client.Account(ctx)
		if err != nil {
			return f.accountError(err)
		}
		return append(Good(who.String()), clockFindings(who.ClockAhead)...)
	}}
}

// ownCredentials are those in the stack file, which are encrypted. Pulumi's
// providers take them before anything else.
func (f Facts) ownCredentials() (config.Entry, bool) {
	for _, credential := range f.Provider.Account.Credentials {
		if entry, ok := f.Config.Lookup(credential.Key); ok {
			return entry, true
		}
	}
	return config.Entry{}, false
}

// tolerance is how wrong a clock may be: some signatures and certificates do not
// stand more.
const tolerance = time.Minute

// clockFindings holds the clock of this machine against the cloud's.
func clockFindings(ahead time.Duration) []Finding {
	direction := "ahead of"
	if ahead < 0 {
		ahead, direction = -ahead, "behind"
	}
	if ahead <= tolerance {
		return nil
	}
	return Doubtful(fmt.Sprintf("the clock of this machine is %s %s the cloud's", ahead.Round(time.Second), direction),
		"set the clock: signatures and certificates depend on it")
}

// configured is the text of a configuration key; "" when it is not set.
func (f Facts) configured(key string) string { return f.Config.Text(key).Text }

func (f Facts) accountError(err error) []Finding {
	var told *cloud.Error
	if !errors.As(err, &told) {
		return Doubtful(err.Error(), "")
	}
	if told.Unsure || f.isElsewhere() {
		return Doubtful(told.Text, told.Next)
	}
	return Bad(told.Text, told.Next)
}

// isElsewhere says that the environment tells where to fetch credentials. An SDK
// reads that from the process environment alone, Pulumi from the environment
// file, too: it may find what the runner does not.
func (f Facts) isElsewhere() bool {
	return slices.ContainsFunc(f.Provider.Account.FetchVariables, func(name string) bool { return f.Env[name] != "" })
}
