package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"mara/projects/model"
	"mara/providers/cloud"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/reach"
	"mara/runner/internal/repo/fleet"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
)

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
		emit(event.Event{
			Type: event.StepLog, Severity: event.Info, Message: "SIMULATED: not asked: " + strings.Join(addresses, ", "),
		})
		return nil
	}
	proxy := cloud.Proxy(r.Sources.File.Merge(r.Sources.Process))
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
			return fmt.Errorf("%s does not answer: %w%s", address, last, certificateHint(last))
		}
	}
}

func certificateHint(err error) string {
	if reach.IsCertificate(err) {
		return "; {answers: [...], certificates: any} accepts every certificate"
	}
	return ""
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
			if address := webAddress(value); address != "" && isPublic(address) && isAddressOf(project, isBuiltIn, output) {
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
				if matched, _ := path.Match(pattern, project+"/"+output); matched && webAddress(value) != "" {
					found = append(found, webAddress(value))
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

// webAddress returns an output that is an address of the web; "" for others.
func webAddress(value any) string {
	text, _ := value.(string)
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return ""
	}
	return text
}

// isPublic reports whether an address can be reached from outside of a cluster.
func isPublic(address string) bool {
	parsed, err := url.Parse(address)
	host := strings.TrimSuffix(parsed.Hostname(), ".cluster.local")
	return err == nil && !strings.HasSuffix(host, ".svc")
}

// isAddressOf reports, by the name of an output, whether the project answers there. Projects of the catalogue also have
// endpoints of API servers, which have certificates of their own.
func isAddressOf(project model.Project, isBuiltIn bool, output string) bool {
	name := strings.ToLower(output)
	if isBuiltIn {
		return strings.HasSuffix(name, "url") && slices.ContainsFunc(
			project.Outputs, func(o model.Output) bool { return o.Name == output && o.Highlight },
		)
	}
	return slices.ContainsFunc(
		[]string{"url", "uri", "endpoint", "address"}, func(end string) bool { return strings.HasSuffix(name, end) },
	)
}
