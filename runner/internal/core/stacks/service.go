package stacks

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/pulumicli/wire"
)

// Service is Pulumi Cloud, or a server that speaks its protocol, as the engine inside asks it. Of an installed Pulumi
// there is none; its commands ask about one stack at a time.
type Service interface {
	// Read reads stacks by their full names. The answer lacks those that do not exist.
	Read(ctx context.Context, question wire.ReadStacks) (map[string]wire.ServiceStack, error)
	// Seal encrypts values with the key of a stack.
	Seal(ctx context.Context, question wire.SealValues) (wire.SealedValues, error)
	// Cancel cancels an update; ok is false if it has ended meanwhile.
	Cancel(ctx context.Context, question wire.CancelUpdate) (ok bool, err error)
}

// readings are what a service has said about stacks a moment ago. Several questions about a stack follow one another
// at the beginning of a run, and each would be a request.
type readings struct {
	mu     sync.Mutex // guards what follows
	states map[string]reading
	last   map[string]*wire.ServiceHistory
	tags   map[string]map[string]string
}

// reading is a state that was read.
type reading struct {
	state json.RawMessage
	at    time.Time
}

// freshFor is how long a state that was read counts as the one that the service has: others may change it.
const freshFor = 10 * time.Second

// take keeps states.
func (r *readings) take(project string, state json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.states == nil {
		r.states = map[string]reading{}
	}
	r.states[project] = reading{state, time.Now()}
}

// state returns the state of a project if it was just read.
func (r *readings) state(project string) (json.RawMessage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.states[project]
	return found.state, ok && time.Since(found.at) < freshFor
}

// forget forgets a state that may be changed.
func (r *readings) forget(project string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.states, project)
	r.last = nil
}

// readStates reads the states of projects at a service, all at once, and keeps them for a moment. It returns those of
// stacks that exist.
func (c copies) readStates(ctx context.Context, projects []string) (map[string]json.RawMessage, error) {
	found, err := c.askService(ctx, projects, wire.ReadStacks{States: true})
	if err != nil {
		return nil, err
	}
	states := map[string]json.RawMessage{}
	for project, stack := range found {
		states[project] = stack.State
		c.read.take(project, stack.State)
	}
	return states, nil
}

// askService reads stacks by their projects.
func (c copies) askService(ctx context.Context, projects []string, question wire.ReadStacks) (map[string]wire.ServiceStack, error) {
	if len(projects) == 0 {
		return nil, nil
	}
	for _, project := range projects {
		question.Names = append(question.Names, c.qualified(project))
	}
	answer, err := c.options.Service.Read(ctx, question)
	if err != nil {
		return nil, withAdvice(err, "")
	}
	found := map[string]wire.ServiceStack{}
	for i, project := range projects {
		if stack, ok := answer[question.Names[i]]; ok {
			found[project] = stack
		}
	}
	return found, nil
}

// countAtService corrects what the service's list of stacks says about the projects of the environment: its counts are
// missing or late, and the states have the truth.
func (c copies) countAtService(ctx context.Context, summaries map[string]Summary) error {
	var names []string
	for project, summary := range summaries {
		ours := c.options.Projects == nil || slices.Contains(c.options.Projects, project) || project == model.SecretsProject
		if summary.Exists && ours {
			names = append(names, project)
		}
	}
	slices.Sort(names)
	states, err := c.readStates(ctx, names)
	if err != nil {
		return err
	}
	for _, project := range names {
		state, exists := states[project]
		standing := Standing{}
		if exists && len(state) > 0 {
			if standing, err = c.standingOf(state); err != nil {
				return wrapState(project, err)
			}
		}
		summary := summaries[project]
		summary.Exists, summary.Resources = exists, standing.Resources
		summaries[project] = summary
	}
	return nil
}

// Running is an update that holds a stack at a service.
type Running struct {
	Project string
	ID      string
	Kind    string
	Author  string
	Started time.Time
	// Begun is what a worker of this machine has written down about the update; nil if none has begun it.
	Begun *wire.Begun
}

// AtService are the stacks of a Set as a Service has them.
type AtService struct{ *Set }

// Is reports whether the stacks are at a Service.
func (e AtService) Is() bool { return e.options.Service != nil }

// Running returns the updates that hold the stacks of projects; none without a Service.
func (e AtService) Running(ctx context.Context, projects []string) ([]Running, error) {
	if e.options.Service == nil {
		return nil, nil
	}
	existing := slices.DeleteFunc(slices.Clone(projects), func(project string) bool { return !e.Summary(project).Exists })
	question := wire.ReadStacks{Updates: true, Begun: map[string]string{}}
	for _, project := range existing {
		if begun, ok := e.begun(project); ok {
			question.Begun[e.qualified(project)] = begun.Update
		}
	}
	found, err := e.askService(ctx, existing, question)
	if err != nil {
		return nil, fmt.Errorf("asking which updates run: %w", err)
	}
	e.read.takeTags(found)
	var running []Running
	for _, project := range existing {
		update := found[project].Update
		if update == nil {
			continue
		}
		r := Running{Project: project, ID: update.ID, Kind: update.Kind, Author: update.Author,
			Started: time.Unix(update.Started, 0)}
		if begun, ok := e.begun(project); ok && begun.Update == update.ID {
			r.Begun = &begun
		}
		running = append(running, r)
	}
	return running, nil
}

// takeTags keeps the tags of stacks, by their projects.
func (r *readings) takeTags(found map[string]wire.ServiceStack) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tags == nil {
		r.tags = map[string]map[string]string{}
	}
	for project, stack := range found {
		r.tags[project] = stack.Tags
	}
}

// Tag returns a tag of the stack of a project as Running has read it.
func (e AtService) Tag(project, name string) string {
	e.read.mu.Lock()
	defer e.read.mu.Unlock()
	return e.read.tags[project][name]
}

// Tags returns the tags of the stack of a project as Running has read them.
func (e AtService) Tags(project string) map[string]string {
	e.read.mu.Lock()
	defer e.read.mu.Unlock()
	return maps.Clone(e.read.tags[project])
}

// SetTag gives the stack of a project a tag.
func (e AtService) SetTag(ctx context.Context, project string, tag wire.Tag) error {
	if _, err := e.runOn(ctx, project, "stack", "tag", "set", tag.Name, tag.Value); err != nil {
		return fmt.Errorf("tagging the stack of %s with %s: %w", project, tag.Name, err)
	}
	return nil
}

// Tagged returns the states of those of the projects whose stacks have a tag.
func (e AtService) Tagged(ctx context.Context, projects []string, tag wire.Tag) (map[string]json.RawMessage, error) {
	found, err := e.askService(ctx, projects, wire.ReadStacks{Tagged: &tag, States: true})
	if err != nil {
		return nil, fmt.Errorf("asking which stacks are tagged: %w", err)
	}
	states := map[string]json.RawMessage{}
	for project, stack := range found {
		states[project] = stack.State
	}
	return states, nil
}

// Cancel cancels an update that holds a stack.
func (e AtService) Cancel(ctx context.Context, project, id string) error {
	e.read.forget(project)
	_, err := e.options.Service.Cancel(ctx, wire.CancelUpdate{Stack: e.qualified(project), Update: id})
	if err != nil {
		return fmt.Errorf("unlocking %s: %w", project, err)
	}
	return nil
}

// HasBegun lists the projects whose last update on this machine has not ended as far as is known: it runs, or was cut
// off.
func (e AtService) HasBegun(projects []string) []string {
	return slices.DeleteFunc(slices.Clone(projects), func(project string) bool {
		_, ok := e.begun(project)
		return !ok
	})
}

// begunFile is where a worker writes down the update that it begins on a project; "" where nobody asks.
func (c copies) begunFile(project string) string {
	if c.options.Service == nil || c.options.UpdatesDir == "" {
		return ""
	}
	return filepath.Join(c.options.UpdatesDir, project+".json")
}

func (c copies) begun(project string) (begun wire.Begun, ok bool) {
	file := c.begunFile(project)
	if file == "" {
		return begun, false
	}
	content, err := os.ReadFile(file)
	return begun, err == nil && json.Unmarshal(content, &begun) == nil
}

// endUpdate returns the link to an update that has ended, and removes what was written down about it. After a failure
// that stays: the service may not have heard of the end. It counts only while the service says that the update runs.
func (c copies) endUpdate(project string, failed bool) (link string) {
	begun, ok := c.begun(project)
	if ok && !failed {
		_ = os.Remove(c.begunFile(project)) // see above
	}
	return begun.Link
}

// lastUpdate returns the last operation on a stack. The first question about any project is about all.
func (e AtService) lastUpdate(ctx context.Context, project string) (update Update, ok bool, err error) {
	e.read.mu.Lock()
	defer e.read.mu.Unlock()
	if e.read.last == nil {
		found, err := e.askService(ctx, e.existing(), wire.ReadStacks{History: true})
		if err != nil {
			return Update{}, false, fmt.Errorf("reading the history of %s: %w", project, err)
		}
		e.read.last = map[string]*wire.ServiceHistory{}
		for project, stack := range found {
			e.read.last[project] = stack.Last
		}
	}
	last := e.read.last[project]
	if last == nil {
		return Update{}, false, nil
	}
	update = Update{Operation: operationOf(last.Kind), Result: last.Result, Start: time.Unix(last.Start, 0)}
	if last.End > 0 {
		update.End = time.Unix(last.End, 0)
	}
	return update, true, nil
}

// existing lists the projects of the environment that have a stack.
func (e AtService) existing() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var projects []string
	for project, summary := range e.summaries {
		if summary.Exists && (e.options.Projects == nil || slices.Contains(e.options.Projects, project)) {
			projects = append(projects, project)
		}
	}
	slices.Sort(projects)
	return projects
}

func operationOf(kind string) operation.Operation {
	if kind == "update" {
		return operation.Up
	}
	return operation.Operation(kind)
}

// Sealed are values by ciphertexts of another stack's key. Neither fmt nor slog prints them.
type Sealed map[string]string

// Format implements fmt.Formatter.
func (s Sealed) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "[%d secrets]", len(s)) }

// SealFor returns a stack file whose values are encrypted for a stack, by its full name: those that are encrypted with
// the key of another stack are encrypted with its own. It creates the stack if it does not exist.
func SealFor(ctx context.Context, service Service, stack string, file []byte, sealed Sealed) ([]byte, error) {
	var ciphertexts []string
	question := wire.SealValues{Stack: stack, Create: true}
	for _, ciphertext := range slices.Sorted(maps.Keys(sealed)) {
		if bytes.Contains(file, []byte(ciphertext)) {
			ciphertexts = append(ciphertexts, ciphertext)
			question.Values = append(question.Values, []byte(sealed[ciphertext]))
		}
	}
	if len(ciphertexts) == 0 {
		return file, nil
	}
	own, err := service.Seal(ctx, question)
	if err == nil && len(own) != len(ciphertexts) {
		err = fmt.Errorf("it has answered with %d values", len(own))
	}
	if err != nil {
		return nil, fmt.Errorf("encrypting with the key of %s: %w", stack, err)
	}
	for i, ciphertext := range ciphertexts {
		file = bytes.ReplaceAll(file, []byte(ciphertext), []byte(base64.StdEncoding.EncodeToString(own[i])))
	}
	return file, nil
}

// sealCopy encrypts what a project reads of the shared files with the key of its stack, once, in its working copy.
func (e AtService) sealCopy(ctx context.Context, project, path string) error {
	if e.options.Service == nil || e.options.Sealed == nil || project == model.SecretsProject {
		return nil
	}
	sealed, err := e.options.Sealed(ctx)
	if err != nil || len(sealed) == 0 {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	after, err := SealFor(ctx, e.options.Service, e.qualified(project), before, sealed)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return os.WriteFile(path, after, 0o600)
}
