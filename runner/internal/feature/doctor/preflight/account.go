package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mara/config"
	"mara/projects/model/cloud"
)

// account checks the credentials that the provider's cloud sees. Credentials that it
// refuses are a problem; a cloud that does not answer is a warning.
func account(f Facts) Check {
	limit := cloud.Patience + time.Second // the client must time out first, because its error has a hint
	look := func(ctx context.Context) []Finding {
		ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
		defer cancel()
		if entry, ok := f.ownCredentials(); ok {
			file := f.Config.Origin(entry).File
			return Unseen(fmt.Sprintf("%s in %s:%d is for Pulumi only, and was not tried", entry.Key, file, entry.Line))
		}
		client, err := f.Clouds(ctx, f.Provider.InfraType(), cloud.AccessTo(f.Provider, f.Env, f.configured))
		if err != nil {
			return f.accountError(err)
		}
		who, err := client.Account(ctx)
		if err != nil {
			return f.accountError(err)
		}
		return append(Good(who.String()), clockFindings(who.ClockAhead)...)
	}
	return Check{Title: f.Provider.Name + " account", Group: Cloud, Limit: limit, Look: look}
}

// ownCredentials returns the entry with credentials in the stack file, which are
// encrypted. Pulumi's providers prefer them to all other credentials.
func (f Facts) ownCredentials() (config.Entry, bool) {
	for _, credential := range f.Provider.Account.Credentials {
		if entry, ok := f.Config.Lookup(credential.Key); ok {
			return entry, true
		}
	}
	return config.Entry{}, false
}

// tolerance is the clock error that is not reported: some signatures and
// certificates allow no more.
const tolerance = time.Minute

// clockFindings compares the clock of this machine with the cloud's.
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

// configured returns the value of a configuration key as a string; "" if it is not set.
func (f Facts) configured(key string) string { return f.Config.Text(key).Text }

func (f Facts) accountError(err error) []Finding {
	failed, ok := errors.AsType[*cloud.Error](err)
	switch {
	case !ok:
		return Doubtful(err.Error(), "")
	case failed.Unsure || f.fetchesCredentials():
		return Doubtful(failed.Text, failed.Next)
	}
	return Bad(failed.Text, failed.Next)
}

// fetchesCredentials reports whether a variable names a place to fetch credentials
// from. An SDK reads it from the process environment alone, Pulumi from the
// environment file, too: Pulumi may find credentials that the runner does not.
func (f Facts) fetchesCredentials() bool {
	return slices.ContainsFunc(f.Provider.Account.FetchVariables, func(name string) bool { return f.Env[name] != "" })
}
