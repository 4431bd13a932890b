package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// allowAccount is what --allow takes to work with the credentials of another account.
const allowAccount = "other-account"

// accountGuard refuses to change a project with the credentials of another account than the one it was deployed to: an up
// would create everything a second time there, and a refresh would take for deleted what it cannot see.
type accountGuard struct{ *job }

// check compares the accounts of the projects with the recorded ones, and notes those that this run is to record.
func (j accountGuard) check(ctx context.Context) error {
	j.accounts = nil
	if j.d.Accounts == nil || j.s.Unchanged != nil || !j.Operation.Writes() && j.Operation != operation.Preview {
		return nil
	}
	selected, err := j.w.plan, error(nil) // of stacks that no project claims
	if !j.Removal.Orphans {
		selected, err = plan.Select(j.s.Plan, j.Selection)
	}
	if err != nil {
		return err
	}
	recorded, err := record.AccountsOf(ctx, j.s.Resolved)
	if err != nil {
		return err
	}
	known := j.tagged(recorded, selected.Names())
	names := slices.DeleteFunc(selected.Names(), func(name string) bool {
		return !j.Operation.Deploys() && (known[name] == nil || !j.s.Stacks.IsDeployed(name))
	})
	if len(names) == 0 {
		return nil
	}
	ctx, done := j.s.Options.Waiting.Until(ctx)
	defer done()
	var others []session.Account
	for _, account := range j.d.Accounts(ctx, j.s.Resolved, names) {
		isOther, err := j.isOther(ctx, known, account)
		if err != nil {
			return err
		}
		if isOther {
			others = append(others, account)
		}
		j.note(recorded, known, account)
	}
	if len(others) == 0 || slices.Contains(j.Allow, allowAccount) {
		return nil
	}
	text, next := refuseAccounts(j.s.Settings.Stack.Text, known, others)
	if j.Operation == operation.Preview {
		j.warn("%s; %s", text, next)
		return nil
	}
	return refusal.By(refusal.Account, &failure.Environment{Text: text + "; nothing was changed", Next: next})
}

// accountTag is the tag of a stack at Pulumi Cloud with the account at a cloud, before the name of the cloud.
const accountTag = "mara:account:"

// tagged returns the recorded accounts with those of the tags at Pulumi Cloud, which all machines share.
func (j accountGuard) tagged(recorded record.Accounts, projects []string) record.Accounts {
	at := stacks.AtService{Set: j.s.Stacks}
	if !at.Is() {
		return recorded
	}
	known := record.Accounts{}
	for project, accounts := range recorded {
		known[project] = maps.Clone(accounts)
	}
	for _, project := range projects {
		for name, id := range at.Tags(project) {
			if cloud, ok := strings.CutPrefix(name, accountTag); ok {
				if known[project] == nil {
					known[project] = map[string]string{}
				}
				known[project][cloud] = id
			}
		}
	}
	return known
}

// tag gives the stacks of projects that an up has worked on the tags of their recorded accounts.
func (j accountGuard) tag(ctx context.Context, worked []string) error {
	at := stacks.AtService{Set: j.s.Stacks}
	if !at.Is() || !j.Operation.Deploys() || j.d.Accounts == nil || j.s.Unchanged != nil {
		return nil
	}
	recorded, err := record.AccountsOf(ctx, j.s.Resolved)
	errs := []error{err}
	for _, project := range worked {
		for _, cloud := range slices.Sorted(maps.Keys(recorded[project])) {
			if tag := (wire.Tag{Name: accountTag + cloud, Value: recorded[project][cloud]}); at.Tag(project, tag.Name) != tag.Value {
				errs = append(errs, at.SetTag(ctx, project, tag))
			}
		}
	}
	return errors.Join(errs...)
}

// OtherAccounts says whose credentials a command of plain Pulumi has on a project, where they are of another account than
// the recorded one; "" where they are not, or where that is not known.
func OtherAccounts(ctx context.Context, s *session.Resolved, project string) string {
	recorded, err := record.AccountsOf(ctx, s)
	if err != nil || s.Deps.Accounts == nil || len(recorded[project]) == 0 {
		return ""
	}
	var others []session.Account
	for _, account := range s.Deps.Accounts(ctx, s, []string{project}) {
		if before := recorded[project][account.Cloud]; before != "" && account.ID != "" && account.ID != before {
			others = append(others, account)
		}
	}
	if len(others) == 0 {
		return ""
	}
	text, _ := refuseAccounts(s.Settings.Stack.Text, recorded, others)
	return text
}

// isOther reports whether a project was deployed to another account. Where its program gives credentials to a provider,
// those of the environment say nothing.
func (j accountGuard) isOther(ctx context.Context, known record.Accounts, account session.Account) (bool, error) {
	before := known[account.Project][account.Cloud]
	if before == "" || before == account.ID || !j.s.Stacks.IsDeployed(account.Project) {
		return false, nil
	}
	chooses, err := stacks.ChoosesCredentials(ctx, j.s.Stacks, account.Project, account.Cloud, account.Keys)
	return !chooses, err
}

// note has an up record the account of a project that has none, or that is not deployed any more, or whose other account
// is allowed.
func (j accountGuard) note(recorded, known record.Accounts, account session.Account) {
	before := known[account.Project][account.Cloud]
	isSame := account.ID == before
	isHeld := before != "" && j.s.Stacks.IsDeployed(account.Project) && !slices.Contains(j.Allow, allowAccount)
	switch {
	case !j.Operation.Deploys() || isHeld && !isSame || isSame && recorded[account.Project][account.Cloud] == before:
		return
	case account.ID == "":
		if !j.s.Stacks.IsDeployed(account.Project) {
			j.warn("the account at %s that %s is deployed to is not held: %s", account.Cloud, account.Project, account.Unknown)
		}
		return
	case j.accounts == nil:
		j.accounts = record.Accounts{}
	}
	if j.accounts[account.Project] == nil {
		j.accounts[account.Project] = map[string]string{}
		for cloud, id := range known[account.Project] {
			j.accounts[account.Project][cloud] = id
		}
	}
	j.accounts[account.Project][account.Cloud] = account.ID
}

// refuseAccounts says to which accounts projects were deployed, and whose credentials there are.
func refuseAccounts(stack string, known record.Accounts, others []session.Account) (text, next string) {
	type pair struct{ cloud, before, now string }
	projects := map[pair][]string{}
	var pairs []pair
	for _, o := range others {
		p := pair{o.Cloud, known[o.Project][o.Cloud], "the credentials are of " + o.ID}
		if o.ID == "" {
			p.now = "whose the credentials are is not known: " + o.Unknown
		}
		if projects[p] == nil {
			pairs = append(pairs, p)
		}
		projects[p] = append(projects[p], o.Project)
	}
	text = strings.Join(lists.Map(pairs, func(p pair) string {
		return fmt.Sprintf("%s of %s was deployed to the account %s at %s, and %s",
			typeset.Few(projects[p], 4), stack, p.before, p.cloud, p.now)
	}), "; ")
	return text, fmt.Sprintf("use the credentials of %s, in the shell or with  env:  in mara.yaml; if it is to be another "+
		"account from now on, add --allow %s", pairs[0].before, allowAccount)
}
