package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/packages"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/parallel"
)

// holder is a project at a cloud, with what it reaches it with.
type holder struct {
	project model.Project
	cloud   model.Provider
	access  cloud.Access
	unknown string // why the cloud cannot be asked
}

// Accounts asks the clouds whose credentials projects deploy with: a built-in project its provider's cloud, an own
// project the clouds whose packages it uses. Simulated clouds have an account for each profile.
func Accounts(ctx context.Context, s *session.Resolved, projects []string) []session.Account {
	if s.Deps.CloudClients == nil && !s.Options.Simulation.On || s.Deps.BuiltIn == nil {
		return nil
	}
	var holders []holder
	for _, step := range s.Plan.Steps {
		if slices.Contains(projects, step.Project.Name) {
			holders = append(holders, holdersOf(s, step.Project)...)
		}
	}
	holders = append(holders, holdersOfOrphans(ctx, s, projects)...)
	var asked []holder // one for each account that may differ
	for _, h := range holders {
		if !slices.ContainsFunc(asked, h.isSame) {
			asked = append(asked, h)
		}
	}
	answers, err := parallel.Each(ctx, asked, func(ctx context.Context, h holder) (session.Account, error) {
		return h.ask(ctx, s), ctx.Err()
	})
	if err != nil {
		return nil // the operation was ended
	}
	return lists.Map(holders, func(h holder) session.Account {
		account := answers[slices.IndexFunc(asked, h.isSame)]
		account.Project = h.project.Name
		return account
	})
}

// holdersOf returns the clouds of a project.
func holdersOf(s *session.Resolved, project model.Project) (holders []holder) {
	env := maps.Clone(s.Env)
	maps.Copy(env, s.Checkouts().Variables(project))
	file := s.Settings.Config
	if own, err := s.Checkouts().Files.Of(project); err == nil && project.Own != nil && own.File != "" {
		file = own
	}
	for _, provider := range s.Deps.BuiltIn().Providers {
		if len(provider.Account.Credentials) == 0 || !isAt(s, project, provider) {
			continue
		}
		value := func(key string) string { return cmp.Or(file.Text(key).Text, s.Settings.Config.Text(key).Text) }
		h := holder{project: project, cloud: provider, access: cloud.AccessTo(provider, env, value)}
		for _, f := range []config.StackFile{s.Settings.Config, file} {
			h.lookFor(f)
		}
		holders = append(holders, h)
	}
	return holders
}

// holdersOfOrphans returns the clouds of stacks that no project claims, as the record names them: their programs may not be
// there any more.
func holdersOfOrphans(ctx context.Context, s *session.Resolved, projects []string) (holders []holder) {
	orphans := slices.DeleteFunc(slices.Clone(projects), func(name string) bool { return slices.Contains(s.Plan.Names(), name) })
	if len(orphans) == 0 {
		return nil
	}
	recorded, err := record.AccountsOf(ctx, s)
	if err != nil {
		return nil // the guard has read it
	}
	value := func(key string) string { return s.Settings.Config.Text(key).Text }
	for _, name := range orphans {
		for _, provider := range s.Deps.BuiltIn().Providers {
			if _, ok := recorded[name][provider.Name]; ok && len(provider.Account.Credentials) > 0 {
				h := holder{project: model.Project{Name: name}, cloud: provider, access: cloud.AccessTo(provider, s.Env, value)}
				h.lookFor(s.Settings.Config)
				holders = append(holders, h)
			}
		}
	}
	return holders
}

// lookFor looks for credentials in a stack file, which are encrypted.
func (h *holder) lookFor(file config.StackFile) {
	for _, credential := range h.cloud.Account.Credentials {
		if entry, ok := file.Lookup(credential.Key); ok {
			at := file.Origin(entry)
			h.unknown = fmt.Sprintf("%s in %s:%d is for Pulumi only, and was not tried", entry.Key, at.File, at.Line)
		}
	}
}

// isAt reports whether a project deploys to the cloud of a provider.
func isAt(s *session.Resolved, project model.Project, provider model.Provider) bool {
	if project.Own == nil || project.Own.Generated {
		names, _ := s.Provider.NeededFor(s.Options.Operation, []string{project.Name})
		return s.Provider.InfraType() == provider.Name && slices.Contains(names, "account")
	}
	return slices.ContainsFunc(packages.By(project.Own.Dir), func(used packages.Used) bool {
		return used.Name == provider.Name || strings.HasPrefix(used.Name, provider.Name+"-")
	})
}

// isSame reports whether the cloud gives two projects the same answer.
func (h holder) isSame(other holder) bool {
	return h.cloud.Name == other.cloud.Name && h.unknown == other.unknown && h.access.Region == other.access.Region &&
		h.access.Profile == other.access.Profile && maps.Equal(h.access.Env, other.access.Env)
}

// ask asks the cloud.
func (h holder) ask(ctx context.Context, s *session.Resolved) session.Account {
	at := h.cloud.Account
	account := session.Account{Cloud: h.cloud.Name, Keys: h.keys()}
	if s.Options.Simulation.On {
		account.ID = "SIMULATED"
		if profile := cmp.Or(h.access.Profile, h.access.Env[at.ProfileVariable]); profile != "" {
			account.ID += "-" + profile
		}
		return account
	}
	if account.Unknown = h.unknown; h.unknown != "" {
		return account
	}
	ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
	defer cancel()
	client, err := s.Deps.CloudClients(ctx, h.cloud.Name, h.access)
	if err == nil && client != nil {
		var who cloud.Account
		who, err = client.Account(ctx)
		account.ID = who.ID
	}
	if err != nil {
		account.Unknown = s.Masker.Mask(err.Error())
	} else if account.ID == "" {
		account.Unknown = "the credentials may not ask for it"
	}
	return account
}

// keys returns the inputs of the cloud's provider that choose credentials.
func (h holder) keys() []string {
	keys := lists.Map(h.cloud.Account.Credentials, func(c model.Credential) string { return c.Key })
	keys = append(keys, h.cloud.Account.Profile)
	return lists.Map(keys, func(key string) string {
		_, name, _ := strings.Cut(key, ":")
		return name
	})
}
