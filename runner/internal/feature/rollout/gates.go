package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/hooks"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/reach"
)

// pass waits until the environments of a wave pass a gate.
func (r *rollout) pass(ctx context.Context, w fleet.Wave, gate fleet.Gate, emit func(event.Event)) error {
	switch gate.Kind {
	case fleet.DriftGate:
		return r.each(ctx, w, func(ctx context.Context, stack string) error { return r.hasNoDrift(ctx, stack, emit) })
	case fleet.AnswersGate:
		return r.each(ctx, w, func(ctx context.Context, stack string) error { return r.answers(ctx, gate, stack, emit) })
	case fleet.RunGate:
		return r.runGate(ctx, w, gate, emit)
	case fleet.AskGate:
		return r.ask(ctx, w, gate)
	}
	return fmt.Errorf("unknown gate %q", gate.Kind)
}

func (r *rollout) members(w fleet.Wave) []string {
	return slices.DeleteFunc(lists.Keys(r.plan.Environments), func(name string) bool {
		return r.plan.Waves[name].Name != w.Name
	})
}

// each calls do for all environments of a wave, and returns all errors.
func (r *rollout) each(ctx context.Context, w fleet.Wave, do func(ctx context.Context, stack string) error) error {
	call := func(ctx context.Context, stack string) (failed, _ error) { // the others continue
		if failed = do(ctx, stack); failed != nil {
			failed = fmt.Errorf("%s: %w", stack, failed)
		}
		return failed, nil
	}
	errs, _ := parallel.Limited(ctx, r.o.AtOnce, r.members(w), call)
	return errors.Join(errs...)
}

func (r *rollout) hasNoDrift(ctx context.Context, stack string, emit func(event.Event)) error {
	p, err := r.operate(ctx, r.request(operation.Drift, stack), event.WithoutResources(emit))
	if err != nil {
		return err
	}
	return checkDrift(p.summary)
}

// checkDrift returns an error if a drift has found changes, or has compared nothing.
func checkDrift(s event.Summary) error {
	switch {
	case s.Changes.Any():
		return fmt.Errorf("differs from its state: %s; run %s", s.Changes.Words(operation.Drift), s.Run)
	case s.Results.Succeeded == 0:
		return fmt.Errorf(
			"no project of it was compared with its state; run %s; --skip-gate %s continues without", s.Run, fleet.DriftGate,
		)
	}
	return nil
}

// runGate runs the command of a gate as a hook.
func (r *rollout) runGate(ctx context.Context, w fleet.Wave, gate fleet.Gate, emit func(event.Event)) error {
	h := hooks.Hooks{
		Stack: fleet.PlanName, Root: r.Root, Directory: r.Directory(), Simulated: r.Simulation.On,
		Env: r.Sources.File.Merge(r.Sources.Process), Masker: r.masker, Log: slog.New(slog.DiscardHandler),
	}
	command := gate.Words
	if gate.Command != "" {
		command = []string{"sh", "-c", gate.Command}
	}
	h.Provider.Name = fleet.PlanName
	h.Env["MARA_WAVE"], h.Env["MARA_ENVIRONMENTS"] = w.Name, strings.Join(r.members(w), " ")
	return h.Hook(r.Operation)(ctx, executor.HookCall{
		Hook: model.Hook{
			Name: w.Name, Command: command, Dir: r.Root, Simulate: gate.Simulate,
			On: model.OnSuccess,
		},
	}, emit)
}

// ask asks the user whether the rollout continues.
func (r *rollout) ask(ctx context.Context, w fleet.Wave, gate fleet.Gate) error {
	if r.Yes {
		return nil
	}
	terminal, ok := r.Terminal(r.d)
	if !ok {
		return fmt.Errorf("%q needs confirmation, and this is not a terminal; resume with --resume on a terminal, or "+
			"with --resume --yes", gate.Text)
	}
	yes, err := terminal.Confirm(ctx, gate.Text)
	if err == nil && !yes {
		err = &prompt.Declined{Text: "not confirmed after wave " + w.Name}
	}
	return err
}

const (
	gateEvery = 2 * time.Second // between two requests to one address
	// gateLimit is how long a gate waits for all addresses of an environment unless it says otherwise.
	gateLimit = 2 * time.Minute
)

// answers waits until the addresses among the outputs of an environment answer. No address is a failure.
func (r *rollout) answers(ctx context.Context, gate fleet.Gate, stack string, emit func(event.Event)) error {
	outputs, err := r.lastOutputs(stack)
	if err != nil {
		return err
	}
	addresses, err := r.addresses(gate, outputs)
	if err != nil {
		return err
	}
	if r.Simulation.On {
		event.Say(emit, event.Info, "SIMULATED: not asked: %s", strings.Join(addresses, ", "))
		return nil
	}
	proxy := cloud.Proxy(r.Sources.Looking())
	ask := reach.Verified(proxy)
	if gate.AnyCertificate {
		ask = reach.Through(proxy)
	}
	ctx, done := session.Waiting{Stop: r.stop}.Until(ctx)
	defer done()
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(gate.Within, gateLimit), errNoTime)
	defer cancel()
	for _, address := range addresses {
		if err := await(ctx, address, ask); err != nil {
			return err
		}
	}
	return nil
}

// errNoTime is the cause with which the waiting of a gate ends.
var errNoTime = errors.New("the time of the gate is over")

// await waits until an address answers or the time of the gate is over. The error is that of the last request.
func await(ctx context.Context, address string, ask func(ctx context.Context, address string) error) error {
	var last error
	for {
		err := ask(ctx, address)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-time.After(gateEvery):
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errNoTime) {
				return cause
			}
			hint := ""
			if reach.IsCertificate(last) {
				hint = "; {answers: [...], certificates: any} accepts every certificate"
			}
			return fmt.Errorf("%s does not answer: %w%s", address, last, hint)
		}
	}
}

// lastOutputs returns the newest outputs of each project of an environment, from its ups since it was destroyed.
func (r *rollout) lastOutputs(stack string) (journal.Outputs, error) {
	runs, err := journal.List(r.Directory().Runs())
	if err != nil {
		return nil, err
	}
	all := journal.Outputs{}
	for _, run := range runs {
		meta, err := run.Meta()
		switch {
		case err != nil || meta.Stack != stack:
			continue
		case meta.Operation.Destroys():
			return all, nil
		case !meta.Operation.Deploys():
			continue
		}
		outputs, err := run.Outputs()
		if err != nil {
			return nil, err
		}
		for project, values := range outputs {
			if all[project] == nil {
				all[project] = values
			}
		}
		if len(outputs) > 0 && len(meta.Selection) == 0 {
			return all, nil
		}
	}
	return all, nil
}

// addresses returns the web addresses that a gate asks: the outputs that it names, else all outputs that look like
// an address.
func (r *rollout) addresses(gate fleet.Gate, outputs journal.Outputs) ([]string, error) {
	if len(gate.Outputs) > 0 {
		return namedAddresses(gate.Outputs, outputs)
	}
	var found []string
	for name, values := range outputs {
		project, isKnown := r.Known().Project(name)
		isBuiltIn := isKnown && project.Own == nil
		for output, value := range values {
			if address, isPublic := webAddress(value); isPublic && isAddressOf(project, isBuiltIn, output) {
				found = append(found, address)
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New("none of its outputs is an address to ask: name outputs in the gate, as {answers: " +
			"[PROJECT/OUTPUT]}; --skip-gate answers continues without")
	}
	return slices.Compact(slices.Sorted(slices.Values(found))), nil
}

// namedAddresses returns the addresses in the outputs that match patterns. Each pattern has to match one.
func namedAddresses(patterns []string, outputs journal.Outputs) (found []string, err error) {
	for _, pattern := range patterns {
		before := len(found)
		for project, values := range outputs {
			for output, value := range values {
				address, _ := webAddress(value)
				if matched, _ := path.Match(pattern, project+"/"+output); matched && address != "" {
					found = append(found, address)
				}
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("no output %s is an address that begins with http:// or https://; --skip-gate answers "+
				"continues without", pattern)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(found))), nil
}

// webAddress returns an output that is an address of the web, "" for others, and whether it can be reached from outside
// of a cluster.
func webAddress(value any) (text string, isPublic bool) {
	text, _ = value.(string)
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return "", false
	}
	return text, !strings.HasSuffix(strings.TrimSuffix(address.Hostname(), ".cluster.local"), ".svc")
}

// isAddressOf reports, by the name of an output, whether the project answers there. Projects of the catalogue also have
// endpoints of API servers, which have certificates of their own.
func isAddressOf(project model.Project, isBuiltIn bool, output string) bool {
	name := strings.ToLower(output)
	if isBuiltIn {
		declared, _ := project.Output(output)
		return strings.HasSuffix(name, "url") && declared.Highlight
	}
	return slices.ContainsFunc(
		[]string{"url", "uri", "endpoint", "address"}, func(end string) bool { return strings.HasSuffix(name, end) },
	)
}
