package identity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// CheckPlace returns an error if files say that the environment exists in another backend than the one in use, where
// nothing of it is deployed: an up would create everything a second time. It asks the backend only if files and
// variables disagree, or if nobody names a backend although the environment exists.
func CheckPlace(ctx context.Context, s *session.Resolved) error {
	if s.Options.Simulation.On {
		return nil
	}
	text, next := otherPlace(s)
	if text == "" {
		return nil
	}
	set, err := readStacks(ctx, s)
	if err != nil {
		return err
	}
	if len(deployedProjects(s, set.Summary)) > 0 {
		return nil
	}
	return refusal.By(refusal.Backend, &Refusal{Environment: failure.Environment{Text: text, Next: next}})
}

// Refusal refuses to deploy to the wrong place, or under a wrong name: whatever else is missing there does not matter.
type Refusal struct {
	failure.Environment
	question string // what a person can answer instead, "" for nothing
}

// Unwrap returns it as a matter of the environment.
func (r *Refusal) Unwrap() error { return &r.Environment }

// otherPlace says what speaks against the backend in use, "" if nothing does. That nothing is deployed there is still
// to be found out.
func otherPlace(s *session.Resolved) (text, next string) {
	stack, backend := s.Settings.Stack.Text, s.Settings.Backend
	if named := s.Settings.Named; named.IsSet() {
		return fmt.Sprintf("%s is in %s (%s), and %s is %s, which has nothing of it: up would create it a second time",
				stack, event.MaskURLs(named.Text), named.Origin, backend.Origin, placeOf(s)),
			fmt.Sprintf("unset %s; or, if it is to be deployed a second time, add --new-backend", config.BackendVariable)
	}
	isFallback := backend.Origin.Source == config.FromDefault || backend.Origin.Source == config.FromLogin
	if !isFallback || wasDeployedHere(s) {
		return "", ""
	}
	evidence := deployedElsewhere(s)
	if evidence == "" {
		return "", ""
	}
	return fmt.Sprintf("no backend is named, and %s (%s) has nothing of %s, although %s: up would create it a second time",
			placeOf(s), backend.Origin, stack, evidence),
		fmt.Sprintf("name the backend with  backend: URL  in %s, with %s, or with `runner login`; for a first deployment, "+
			"add --new-backend", config.MaraFile, config.BackendVariable)
}

// wasDeployedHere reports whether the environment was deployed from this root to the backend in use.
func wasDeployedHere(s *session.Resolved) bool {
	if _, err := os.Stat(s.Directory.Backend(s.Settings.Stack.Text)); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	recorded, err := recordedBackend(s)
	return err == nil && recorded.Backend == placeOf(s)
}

// deployedElsewhere returns a sign that the environment was deployed before: a stack file of a project with a key that
// was not made here, or the list in mara.yaml; "" without any.
func deployedElsewhere(s *session.Resolved) string {
	stack := s.Settings.Stack.Text
	made, recorded := request.RememberedKeys(s.Directory, stack)
	for _, file := range environments.OwnFiles(s.Settings.Root, stack, s.Options.Known()) {
		header, err := file.Header()
		if err != nil || s.Settings.Config.Exists { // a shared stack file is the runner's own: it was configured here
			continue
		}
		if key := header.EncryptionSalt + header.EncryptedKey; key != "" && !slices.Contains(made, key) {
			return file.File + " was made for one"
		}
	}
	if recorded {
		return ""
	}
	for _, name := range s.Options.Known().Environments {
		if name.Text == stack {
			return fmt.Sprintf("%s:%d lists it", s.Options.Known().File, name.Line)
		}
	}
	return ""
}

// rememberKeys records the keys of the stack files next to the projects, once the environment is deployed from here.
func rememberKeys(s *session.Resolved) error {
	if s.Options.Simulation.On {
		return nil
	}
	keys := environments.OwnKeys(s.Settings.Root, s.Settings.Stack.Text, s.Options.Known())
	if len(keys) == 0 && s.Options.Known().Environments == nil {
		return nil
	}
	return request.RememberKeys(s.Directory, s.Settings.Stack.Text, keys...)
}

// CheckNew refuses an environment that neither files nor the backend know, because its name is most likely a typing
// error: always if the root names its environments, or keeps stack files next to its projects, and else if a known
// name is near. It returns a warning for another new one.
func CheckNew(ctx context.Context, s *session.Resolved) (warning string, err error) {
	if s.Options.Simulation.On || len(s.Options.Overrides) > 0 || len(s.Options.Secrets.Sources) > 0 {
		return "", nil
	}
	recorded, err := s.Directory.Stacks()
	if err != nil {
		return "", failure.RunnerDir(err)
	}
	isKnown := func() (bool, error) {
		if slices.Contains(recorded, s.Settings.Stack.Text) {
			return true, nil
		}
		if !s.States().MayHaveStates() {
			return false, nil
		}
		set, err := readStacks(ctx, s)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(knownProjects(s), func(p string) bool { return set.Summary(p).Exists }), nil
	}
	return checkNew(s.Options.Request, s.Settings.Stack.Text, isKnown)
}

// CheckNewFile refuses to write the first file of an environment with such a name.
func CheckNewFile(r request.Request, stack string) error {
	recorded, err := r.Directory().Stacks()
	if err != nil {
		return failure.RunnerDir(err)
	}
	_, err = checkNew(r, stack, func() (bool, error) { return slices.Contains(recorded, stack), nil })
	return err
}

func checkNew(r request.Request, stack string, isKnown func() (bool, error)) (warning string, err error) {
	names, err := r.Environments()
	if err != nil || len(names) == 0 || slices.Contains(names, stack) {
		return "", nil // other code reports the error
	}
	if known, err := isKnown(); err != nil || known {
		return "", err
	}
	near := config.Suggest(stack, names)
	if withoutDigits(near) == withoutDigits(stack) { // eu-2 is another one than eu-1
		near = ""
	}
	known := r.Known()
	text := fmt.Sprintf("there is no environment %q; there are %s", stack, strings.Join(names, ", "))
	if near == "" && known.Environments == nil && !environments.HasOwnFiles(known) {
		return text + ": up makes it", nil
	}
	question := fmt.Sprintf("Nothing knows the environment %q; there are %s. Is it new?", stack, strings.Join(names, ", "))
	if near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
		question = fmt.Sprintf("Nothing knows the environment %q, and %s is near. Is it new?", stack, near)
	}
	next := "to make it, add --new"
	if known.Environments != nil {
		next += fmt.Sprintf(", and %s to environments in %s", stack, known.File)
	}
	return "", refusal.By(refusal.NewStack, &Refusal{failure.Environment{Text: text, Next: next}, question})
}

// Unlisted warns of an environment that is to be made and is not in the list of mara.yaml, which is complete: what goes
// through all environments leaves it out. It is "" where there is no list, or the environment is in it.
func Unlisted(r request.Request, stack string) string {
	known := r.Known()
	isIt := func(name config.Word) bool { return name.Text == stack }
	if known.Environments == nil || slices.ContainsFunc(known.Environments, isIt) {
		return ""
	}
	return fmt.Sprintf("%s is not among the environments of %s; add it, so that check, fleets and CI know it", stack, known.File)
}

// AskNew asks on a terminal whether an environment that was refused is to be made. It returns the refusal unless the
// answer is yes.
func AskNew(ctx context.Context, terminal prompt.Terminal, refused error) error {
	r, ok := errors.AsType[*Refusal](refused)
	if !ok || r.question == "" {
		return refused
	}
	yes, err := terminal.Confirm(ctx, r.question)
	if err == nil && !yes {
		return refused
	}
	return err
}

func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}
