package preflight

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers"
)

// fakeCloud has one account, or an error.
type fakeCloud struct{ err error }

func (c fakeCloud) Account(context.Context) (cloud.Account, error) {
	return cloud.Account{ID: "1234", Name: "ann"}, c.err
}

func (fakeCloud) Choices(context.Context, model.List) ([]cloud.Choice, error) {
	return nil, errors.New("a check has nothing to choose")
}

// known returns a provider by its name.
func known(t *testing.T, name string) model.Provider {
	t.Helper()
	p, err := providers.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAccount: credentials that are refused are a problem, a cloud that does not
// answer is a warning.
func TestAccount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		open, answer error
		want         Finding
	}{
		"good":          {nil, nil, Finding{Status: OK, Text: "account 1234 as ann"}},
		"no profile":    {&cloud.Error{Text: "no profile", Next: "make one"}, nil, Finding{Problem, "no profile", "make one", "", ""}},
		"refused":       {nil, &cloud.Error{Text: "refused", Next: "log in"}, Finding{Problem, "refused", "log in", "", ""}},
		"not reached":   {nil, &cloud.Error{Text: "late", Next: "wait", Unsure: true}, Finding{Warning, "late", "wait", "", ""}},
		"anything else": {nil, errors.New("odd"), Finding{Warning, "odd", "", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := config.ParseStack("f", []byte("config: {aws:region: eu-north-1, aws:profile: me}"))
			if err != nil {
				t.Fatal(err)
			}
			extended := known(t, "aws")
			extended.Name, extended.Extends = "acme", "aws"
			check := account(Facts{Provider: extended, Config: file, Env: map[string]string{"X": "y"}, Clouds: func(_ context.Context, provider string, access cloud.Access) (cloud.Client, error) {
				if diff := cmp.Diff(cloud.Access{Env: map[string]string{"X": "y"}, Region: "eu-north-1", Profile: "me"}, access); diff != "" || provider != "aws" {
					t.Errorf("%s: %s", provider, diff)
				}
				return fakeCloud{test.answer}, test.open
			}})
			if diff := cmp.Diff([]Finding{test.want}, check.Look(t.Context())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAccountInTheStackFile: its credentials are encrypted, and no others are tried.
func TestAccountInTheStackFile(t *testing.T) {
	t.Parallel()
	for provider, text := range map[string]string{"aws": "aws:accessKey: {secure: x}", "linode": "linode:token: {secure: x}"} {
		check := account(Facts{Provider: known(t, provider), Config: stackFile(t, "config:\n  "+text+"\n")})
		if got := check.Look(t.Context()); worst(got) != Skipped || len(got) != 1 {
			t.Errorf("%s: got %v", provider, got)
		}
	}
}

// TestAccountElsewhere: where credentials are fetched, Pulumi may find some that
// the runner does not.
func TestAccountElsewhere(t *testing.T) {
	t.Parallel()
	facts := Facts{Provider: known(t, "aws"), Env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "x"}, Clouds: func(context.Context, string, cloud.Access) (cloud.Client, error) {
		return fakeCloud{&cloud.Error{Text: "none"}}, nil
	}}
	if got := account(facts).Look(t.Context()); worst(got) != Warning {
		t.Errorf("got %v", got)
	}
}

func TestClockFindings(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]string{
		0: "", time.Minute: "", -time.Minute: "",
		2*time.Minute + 400*time.Millisecond: "the clock of this machine is 2m0s ahead of the cloud's",
		-time.Hour:                           "the clock of this machine is 1h0m0s behind the cloud's",
	} {
		got := clockFindings(ahead)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].Text != want || got[0].Status != Warning) {
			t.Errorf("%s: got %v", ahead, got)
		}
	}
}
