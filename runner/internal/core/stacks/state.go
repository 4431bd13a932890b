package stacks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/parallel"
)

// deployment is the part of a stack's state that matters here.
type deployment struct {
	Resources []stored `json:"resources"`
	interrupted
}

// interrupted is the part of a stack's state that says which operations were cut off.
type interrupted struct {
	Pending []struct {
		Resource struct {
			URN string `json:"urn"`
		} `json:"resource"`
		Type string `json:"type"`
	} `json:"pending_operations"`
}

// stored is a resource with what only this package reads of it.
type stored struct {
	Resource
	Outputs map[string]value `json:"outputs"`
	// The resources that each input was made of.
	MadeOf map[string][]string `json:"propertyDependencies"`
}

// Pending is an operation on a resource that was cut off. Whether it was done is
// unknown.
type Pending struct {
	Project  string `json:"project"`
	URN      string `json:"urn"`
	Resource string `json:"resource"`
	Action   string `json:"action"` // creating, updating, deleting, ...
}

// String names the resource and what was being done to it.
func (p Pending) String() string { return p.Resource + " (" + p.Action + ")" }

// Blocks reports whether the user has to look. An update or a deletion is simply
// done again, but a resource that was being created may exist and is not known.
func (p Pending) Blocks() bool {
	return (p.Action == "creating" || p.Action == "importing") && !p.isInternal()
}

// Lingers reports whether the next operation would keep it although nothing can
// exist: the creation of something that is only in the state.
func (p Pending) Lingers() bool { return p.Action == "creating" && p.isInternal() }

// isInternal reports whether its resource is only in the state, as a provider is.
func (p Pending) isInternal() bool { return strings.HasPrefix(p.Resource, "pulumi:") }

// Pending lists the operations on a project's resources that were cut off.
func (e *Set) Pending(ctx context.Context, project string) ([]Pending, error) {
	state, err := decodeState[interrupted](ctx, e, project) // every run asks: resources would take most of the time
	return state.pending(project), err
}

// Resource is a resource in a state. Components have no ID.
type Resource struct {
	URN       string `json:"urn"`
	Type      string `json:"type"`
	ID        string `json:"id"`
	Protected bool   `json:"protect"`        // Pulumi refuses to delete it
	Retained  bool   `json:"retainOnDelete"` // Pulumi forgets it instead of deleting it
	External  bool   `json:"external"`       // only read, such as a reference to a stack
}

// Name returns the name that the program gives to it.
func (r Resource) Name() string { return resourceOf(r.URN).Name }

// Resources lists the resources in a project's state.
func (e *Set) Resources(ctx context.Context, project string) ([]Resource, error) {
	state, err := e.state(ctx, project)
	return state.resources(), err
}

// ResourcesIn decodes the resources of an exported state.
func ResourcesIn(content json.RawMessage) ([]Resource, error) {
	var state deployment
	err := json.Unmarshal(content, &state)
	return state.resources(), err
}

func (d deployment) resources() []Resource {
	return lists.Map(d.Resources, func(r stored) Resource { return r.Resource })
}

// Cancel removes the lock of a project's stack.
func (e *Set) Cancel(ctx context.Context, project string) error {
	if _, err := e.runOn(ctx, project, "cancel", "--yes"); err != nil {
		return fmt.Errorf("unlocking %s: %w", project, err)
	}
	return nil
}

// TakeOver puts the state of a project's stack in order that was cut off with a journal: what the journal has is in the
// state then. With forget, a journal that does not belong to the state is dropped. Nobody may work on the stack.
func (e *Set) TakeOver(ctx context.Context, project string, forget bool) error {
	env := map[string]string{wire.ForgetJournalVariable: strconv.FormatBool(forget)}
	if _, err := e.executeOn(ctx, project, nil, env, "cancel", "--yes"); err != nil {
		return fmt.Errorf("taking over what was cut off in %s: %w", project, err)
	}
	if lags, err := e.Lags(project); err != nil || !lags {
		return err
	}
	return fmt.Errorf("taking over what was cut off in %s: %w", project, errLags) // by an installed Pulumi
}

// Lags reports whether the state of a project, in a file, lags behind a journal.
func (e *Set) Lags(project string) (bool, error) {
	if !e.options.States.Of(project).IsFile() {
		return false, nil
	}
	content, err := e.options.States.Read(project)
	return statefiles.Lags(content), wrapState(project, err)
}

// Export exports the state of a project's stack. Secrets stay encrypted.
func (c copies) Export(ctx context.Context, project string) ([]byte, error) {
	output, err := c.runOn(ctx, project, "stack", "export")
	if err != nil {
		return nil, fmt.Errorf("exporting the state of %s: %w", project, err)
	}
	return []byte(output), nil
}

// exportState exports a state without the envelope that Pulumi puts around it.
func (c copies) exportState(ctx context.Context, project string) (json.RawMessage, error) {
	content, err := c.Export(ctx, project)
	if err != nil {
		return nil, err
	}
	var exported struct {
		Deployment json.RawMessage `json:"deployment"`
	}
	if err := json.Unmarshal(content, &exported); err != nil {
		return nil, fmt.Errorf("reading the state of %s: pulumi answered with something else than JSON: %w", project, err)
	}
	return exported.Deployment, nil
}

// state reads the state of a project's stack. A stack that does not exist has an
// empty one.
func (e *Set) state(ctx context.Context, project string) (deployment, error) {
	return decodeState[deployment](ctx, e, project)
}

// decodeState reads a part of the state of a project's stack.
func decodeState[Part any](ctx context.Context, e *Set, project string) (part Part, err error) {
	content, err := e.rawState(ctx, project)
	if err == nil && len(content) > 0 {
		err = wrapState(project, json.Unmarshal(content, &part))
	}
	return part, err
}

// rawState reads the state of a project's stack as JSON: from its file, which
// takes no command, or through Pulumi, as where the state lags behind a journal. It
// is empty for a stack that does not exist.
func (e *Set) rawState(ctx context.Context, project string) (json.RawMessage, error) {
	if err := e.Reach(project); err != nil {
		return nil, err
	}
	if e.options.States.Of(project).IsFile() {
		content, err := e.options.States.Read(project)
		if err != nil || !statefiles.Lags(content) {
			return content, wrapState(project, err)
		}
		return e.exportState(ctx, project)
	}
	if !e.Summary(project).Exists {
		return nil, nil
	}
	if e.options.Service == nil {
		return e.exportState(ctx, project)
	}
	if state, ok := e.read.state(project); ok {
		return state, nil
	}
	states, err := e.readStates(ctx, []string{project})
	return states[project], err
}

// MadeOf says for each resource of a project, by its URN, what resources its inputs
// were made of.
func (e *Set) MadeOf(ctx context.Context, project string) (map[string]map[string][]string, error) {
	state, err := e.state(ctx, project)
	if err != nil {
		return nil, err
	}
	made := map[string]map[string][]string{}
	for _, r := range state.Resources {
		made[r.URN] = r.MadeOf
	}
	return made, nil
}

func (i interrupted) pending(project string) []Pending {
	var pending []Pending
	for _, operation := range i.Pending {
		urn := operation.Resource.URN
		pending = append(pending, Pending{Project: project, URN: urn, Resource: resourceOf(urn).String(),
			Action: operation.Type})
	}
	return pending
}

// inCluster counts the resources that are in a cluster.
func (d deployment) inCluster() int {
	n := 0
	for _, r := range d.Resources {
		if isInCluster(r.Type) {
			n++
		}
	}
	return n
}

// outsideCluster lists the resources that exist elsewhere than in a cluster.
func (d deployment) outsideCluster() []string {
	var elsewhere []string
	for _, r := range d.Resources {
		nowhere := r.Type == stackType || strings.HasPrefix(r.Type, providerType) || r.ID == ""
		if name := resourceOf(r.URN).String(); !nowhere && r.Type != referenceType && !isInCluster(r.Type) &&
			!slices.Contains(elsewhere, name) {
			elsewhere = append(elsewhere, name)
		}
	}
	return elsewhere
}

func isInCluster(token string) bool { return strings.HasPrefix(token, "kubernetes:") }

// Rename makes the stack of a project that of another, which has none or an empty one. After an interruption it
// continues.
func (e *Set) Rename(ctx context.Context, from, to string) error {
	if e.Summary(from).Exists {
		if err := e.renameStack(ctx, from, to); err != nil {
			return err
		}
	}
	if e.options.Service == nil {
		return nil // Pulumi renames the resources as well
	}
	if err := e.renameResources(ctx, from, to); err != nil {
		return fmt.Errorf("renaming the resources of %s: %w", from, err)
	}
	return nil
}

func (e *Set) renameStack(ctx context.Context, from, to string) error {
	if summary := e.Summary(to); summary.Exists {
		if summary.Resources > 0 {
			return fmt.Errorf("%s is deployed already", to)
		}
		if _, err := e.runOn(ctx, to, "stack", "rm", "--yes", "--preserve-config"); err != nil {
			return fmt.Errorf("removing the empty stack of %s: %w", to, err)
		}
	}
	if _, err := e.runOn(ctx, from, "stack", "rename", e.qualified(to)); err != nil {
		return fmt.Errorf("renaming the stack of %s: %w", from, err)
	}
	return e.List(ctx)
}

// renameResources gives the resources in the state of a renamed stack the names of its project. Pulumi leaves that to the
// service, and not all servers do it.
func (e *Set) renameResources(ctx context.Context, from, to string) error {
	e.read.forget(to)
	content, err := e.Export(ctx, to)
	if err != nil {
		return err
	}
	was, is := e.stackOf(from), e.stackOf(to)
	renamed := bytes.ReplaceAll(content, []byte("urn:pulumi:"+was+"::"+from+"::"), []byte("urn:pulumi:"+is+"::"+to+"::"))
	renamed = bytes.ReplaceAll(renamed, []byte("::pulumi:pulumi:Stack::"+from+"-"+was+`"`), []byte("::pulumi:pulumi:Stack::"+to+"-"+is+`"`))
	if bytes.Equal(renamed, content) {
		return nil
	}
	return e.restore(ctx, to, nil, renamed)
}

// ReadAll reads the states on the backend without a key, by environment and then
// by project. wanted chooses from the projects that have a stack there. Options
// need no stack.
func ReadAll(ctx context.Context, options Options, wanted func(environment string,
	projects []string) []string) (map[string]map[string]json.RawMessage, error) {
	all, incomplete := ListAll(ctx, options)
	if _, partly := errors.AsType[*UnreachedError](incomplete); incomplete != nil && !partly {
		return nil, incomplete
	}
	var err error
	states := map[string]map[string]json.RawMessage{}
	for _, stack := range slices.Sorted(maps.Keys(all)) {
		names := wanted(stack, slices.Sorted(maps.Keys(all[stack])))
		if len(names) == 0 {
			continue
		}
		if states[stack], err = exportAll(ctx, options, stack, names); err != nil {
			return nil, err
		}
	}
	return states, incomplete
}

// exportAll exports the states of an environment.
func exportAll(ctx context.Context, options Options, stack string, projects []string) (map[string]json.RawMessage,
	error) {
	options.Stack, options.WorkDir = stack, filepath.Join(options.WorkDir, stack)
	if options.Service != nil {
		return newCopies(options).readStates(ctx, projects)
	}
	found, err := parallel.Each(ctx, projects, newCopies(options).exportState)
	if err != nil {
		return nil, err
	}
	states := map[string]json.RawMessage{}
	for i, project := range projects {
		states[project] = found[i]
	}
	return states, nil
}

// ChoosesCredentials reports whether the program of a project gives credentials to a provider of a package, by its state.
// keys are the inputs that do.
func ChoosesCredentials(ctx context.Context, e *Set, project, name string, keys []string) (bool, error) {
	type provider struct {
		Resource
		Inputs map[string]any `json:"inputs"`
	}
	state, err := decodeState[struct {
		Resources []provider `json:"resources"`
	}](ctx, e, project)
	return slices.ContainsFunc(state.Resources, func(p provider) bool {
		isOwn := p.Type == "pulumi:providers:"+name && !strings.HasPrefix(p.Name(), "default")
		return isOwn && slices.ContainsFunc(keys, func(key string) bool { return p.Inputs[key] != nil })
	}), err
}
