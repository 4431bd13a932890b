package hooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"al.essio.dev/pkg/shellescape"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/process"
)

// inputVersion changes when a field of Input changes its meaning or goes away.
const inputVersion = 1

// Input is what the command of a hook reads from stdin, as JSON.
type Input struct {
	Version   int                 `json:"version"`
	Hook      string              `json:"hook"`
	On        model.Moment        `json:"on"`
	Operation operation.Operation `json:"operation"`
	Provider  string              `json:"provider"`
	Stack     string              `json:"stack"`
	Simulated bool                `json:"simulated"`
	Root      string              `json:"root"`
	Project   string              `json:"project,omitempty"` // none of a run
	Title     string              `json:"title,omitempty"`
	Directory string              `json:"directory,omitempty"`
	Result    event.Result        `json:"result,omitempty"` // none before
	Error     string              `json:"error,omitempty"`
	Changes   event.Changes       `json:"changes"`
	// Outputs are those of the project as far as it has any. Secret ones read
	// "[secret]".
	Outputs map[string]any `json:"outputs,omitempty"`
}

// variables returns the most used fields of the input as environment variables.
func (i Input) variables() []string {
	return []string{
		"MARA_HOOK=" + i.Hook, "MARA_ON=" + string(i.On), "MARA_OPERATION=" + string(i.Operation),
		"MARA_PROVIDER=" + i.Provider, "MARA_STACK=" + i.Stack, "MARA_SIMULATED=" + strconv.FormatBool(i.Simulated),
		"MARA_ROOT=" + i.Root, "MARA_PROJECT=" + i.Project, "MARA_RESULT=" + string(i.Result),
	}
}

// How long a command that is to stop may take to do so, and the wait before it
// is tried again.
const (
	stopTime  = 10 * time.Second
	retryWait = 2 * time.Second
)

// runCommand runs a command of the user, and retries it as often as configured.
func (h Hooks) runCommand(ctx context.Context, op operation.Operation, call executor.HookCall,
	emit func(event.Event)) error {
	hook := call.Hook
	name := shellescape.QuoteCommand(hook.Command)
	if h.Simulated && !hook.Simulate {
		event.Say(emit, event.Info, "SIMULATED: not run: %s", name)
		return nil
	}
	input := h.input(ctx, op, call)
	show := func(line string) string { event.Say(emit, event.Info, "%s", line); return line }
	if err := h.learnSecrets(ctx, input); err != nil {
		event.Say(emit, event.Warning, "the output of the hook is not shown: it may have secret outputs, which cannot be "+
			"read: %s", h.Masker.Mask(err.Error()))
		show = func(string) string { return "" }
	}
	for attempt := 0; ; attempt++ {
		err := h.attempt(ctx, hook, input, show)
		if err == nil || ctx.Err() != nil || attempt >= hook.Retry {
			return err
		}
		event.Say(emit, event.Warning, "hook %s: %v; trying again", hook.Name, err)
		if err := interrupt.Sleep(ctx, retryWait); err != nil {
			return err
		}
	}
}

// input returns the input of a command.
func (h Hooks) input(ctx context.Context, op operation.Operation, call executor.HookCall) Input {
	project := call.Step.Project
	i := Input{
		Version: inputVersion, Hook: call.Hook.Name, On: call.Hook.On, Operation: op,
		Provider: h.Provider.Name, Stack: h.Stack,
		Simulated: h.Simulated, Root: h.Root, Project: project.Name, Title: project.Title,
		Result: call.Result.Result, Changes: call.Result.Changes,
	}
	if call.Result.Err != nil {
		i.Error = h.Masker.Mask(call.Result.Err.Error())
	}
	if project.Name == "" {
		return i
	}
	i.Directory = project.Directory()
	if outputs, err := h.Stacks.Outputs(ctx, project.Name, false); err == nil {
		i.Outputs = outputs
	}
	return i
}

// learnSecrets masks the secret outputs of the project from here on: the command can read
// and print them.
func (h Hooks) learnSecrets(ctx context.Context, input Input) error {
	if !holds(input.Outputs, stacks.Secret) {
		return nil
	}
	outputs, err := h.Stacks.Outputs(ctx, input.Project, true)
	if err != nil {
		return err
	}
	for name, value := range outputs {
		if holds(input.Outputs[name], stacks.Secret) {
			h.Masker.Add(texts(value)...)
		}
	}
	return nil
}

// holds reports whether a value is text, or a list or map that contains it.
func holds(value any, text string) bool { return slices.Contains(texts(value), text) }

// texts lists the strings in a JSON value, and its numbers as strings.
func texts(value any) []string {
	var found []string
	switch v := value.(type) {
	case string:
		found = append(found, v)
	case float64, json.Number:
		found = append(found, fmt.Sprint(v))
	case []any:
		for _, item := range v {
			found = append(found, texts(item)...)
		}
	case map[string]any:
		for _, item := range v {
			found = append(found, texts(item)...)
		}
	}
	return found
}

// attempt runs the command once. It passes on each line of the output; the error has
// the last line that was shown.
func (h Hooks) attempt(ctx context.Context, hook model.Hook, input Input, say func(line string) (shown string)) error {
	limit := cmp.Or(hook.Timeout, model.DefaultHookTimeout)
	late := fmt.Errorf("timed out after %s", event.FormatDuration(limit))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	path, err := process.Find(hook.Command[0], hook.Dir, h.Env["PATH"])
	if err != nil {
		return err
	}
	content, err := json.Marshal(input)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, path, hook.Command[1:]...)
	command.Dir, command.Stdin, command.WaitDelay = hook.Dir, bytes.NewReader(content), stopTime
	env := h.Env
	if own, ok := lists.Find(h.Provider.Projects(), func(p model.Project) bool { return p.Name == input.Project }); ok &&
		h.Variables != nil {
		env = maps.Clone(h.Env)
		maps.Copy(env, h.Variables(own))
	}
	command.Env = append(process.Environ(env), input.variables()...)
	process.OwnGroup(command) // a terminal's Ctrl-C is the runner's to handle
	command.Cancel = func() error { return process.Terminate(command.Process.Pid) }
	last := "" // is what an error tells
	lines := &process.Lines{Emit: func(line string) { last = say(line) }}
	command.Stdout, command.Stderr = lines, lines
	err = command.Run()
	lines.Close()
	if ctx.Err() != nil && command.Process != nil {
		process.Kill(command.Process.Pid) // what it has started may not have heard either
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it has left a process behind that keeps its output open
	case last != "":
		return fmt.Errorf("%w: %s", err, h.Masker.Mask(last))
	}
	return err
}
