package exports

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/repo/fleet"
	"mara/runner/internal/repo/request"
)

// Export returns `runner export`, with its subcommands.
func Export(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "have other machines run an environment",
		Description: "Writes files with which other machines run environments. They need a backend that they can " +
			"reach: a state in a directory of this machine is an error. Values of secrets are never written.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{ciCommand(d), operatorCommand(d)},
	}
}

// environment is an environment to export.
type environment struct {
	*session.Session
}

func (e environment) name() string { return e.Settings.Stack.Text }

// resolveAll resolves environments, which the caller closes. Its error lists the problems of
// all environments. With stateCounts other machines must be able to reach their backend.
func resolveAll(d cmd.Deps, requests []session.Options, stateCounts bool) ([]environment, error) {
	var all []environment
	var problems []error
	for _, o := range requests {
		s := session.New(d.Deps, o)
		all = append(all, environment{s})
		if err := s.ResolveToOperate(); err != nil {
			problems = append(problems, err)
			continue
		}
		if stateCounts {
			problems = append(problems, reachable(s))
		}
	}
	return all, errors.Join(problems...)
}

func closeAll(all []environment) error {
	var errs []error
	for _, e := range all {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

// reachable returns an error for state in a directory of this machine.
func reachable(s *session.Session) error {
	if dir, ok := s.Settings.StateDir(); ok {
		return &failure.Environment{
			Text: fmt.Sprintf("the state of %s is in %s, which other machines cannot reach", s.Settings.Stack.Text, dir),
			Next: "set PULUMI_BACKEND_URL to a backend that they can reach, such as s3://..., in " + config.EnvironmentFile,
		}
	}
	return nil
}

// needsPassphrase reports whether a passphrase encrypts the environment's values.
func (e environment) needsPassphrase() (bool, error) {
	header, err := e.Settings.Config.Header()
	return !e.Settings.Managed() && (header.SecretsProvider == "" || header.SecretsProvider == "passphrase"), err
}

// usesAWS reports whether the provider, the backend or the key is on AWS.
func (e environment) usesAWS() bool {
	header, _ := e.Settings.Config.Header() // needsPassphrase reports the error
	return e.Provider.InfraType() == "aws" || strings.HasPrefix(e.Settings.Backend.Text, "s3://") ||
		strings.HasPrefix(header.SecretsProvider, "awskms:")
}

// tokens returns the variables with credentials. AWS uses roles instead.
func (e environment) tokens() []string {
	if e.Provider.InfraType() == "aws" {
		return nil
	}
	var variables []string
	for _, c := range e.Provider.Account.Credentials {
		if c.Variable != "" {
			variables = append(variables, c.Variable)
		}
	}
	return variables
}

// wavesOf returns the selected environments of the fleet in the waves of config/rollout.yaml, or
// in one wave without it. held reports whether a wave has a soak or a gate.
func wavesOf(r request.Request, s fleet.Selection) (waves [][]string, held bool, err error) {
	all, rollout, err := r.Fleet()
	if err != nil {
		return nil, false, err
	}
	chosen, err := fleet.Select(all, s)
	if err != nil {
		return nil, false, err
	}
	members := map[string][]string{}
	for _, e := range chosen {
		wave, err := rollout.WaveOf(e)
		if err != nil {
			return nil, false, err
		}
		members[wave.Name] = append(members[wave.Name], e.Stack)
	}
	if len(rollout.Waves) == 0 {
		return [][]string{members[""]}, false, nil
	}
	for _, wave := range rollout.Waves {
		if len(members[wave.Name]) > 0 {
			waves = append(waves, members[wave.Name])
			held = held || wave.Soak > 0 || len(wave.Gates) > 0
		}
	}
	return waves, held, nil
}

// stackPlaceholder stands for the environment in a namespace.
const stackPlaceholder = "{stack}"

// namespaceOf returns the namespace of an environment.
func namespaceOf(pattern, stack string) string {
	return strings.ReplaceAll(pattern, stackPlaceholder, strings.ToLower(strings.NewReplacer("_", "-", ".",
		"-").Replace(stack)))
}

// checkShared refuses environments that would share objects: the operator names a project after its Program, so that
// environments in one namespace have the same one, and a wave would replace the program of those after it.
func checkShared(all []operatorDocument) error {
	owner := map[string]string{}
	for _, e := range all {
		var objects []string
		for _, name := range e.programs {
			objects = append(objects, "Program "+name)
		}
		for _, name := range e.Stacks {
			objects = append(objects, "Stack "+name)
		}
		for _, object := range objects {
			key := e.Namespace + " " + object
			if other, taken := owner[key]; taken {
				return &failure.Environment{
					Text: fmt.Sprintf("%s and %s would share the %s in the namespace %s", other, e.Stack, object, e.Namespace),
					Next: "give each environment a namespace of its own with -n 'pulumi-" + stackPlaceholder +
						"', or take the programs from --repo or --flux",
				}
			}
			owner[key] = e.Stack
		}
	}
	return nil
}
