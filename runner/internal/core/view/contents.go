package view

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
)

// Contents is what an environment consists of: its plan, and what its states say. Values that are secret read
// "[secret]".
type Contents struct {
	Steps    []event.Project            // of the plan, in order
	Backends []string                   // that have states, without credentials
	Projects map[string]ProjectContents // that have a state
	Read     time.Time
	Local    bool // the states are files
}

// ProjectContents is what the state of a project says.
type ProjectContents struct {
	Outputs   map[string]any
	Resources []Resource
}

// Resource is a resource in a state.
type Resource struct {
	Type     string
	Name     string
	ID       string
	Protect  bool
	External bool      // read, not created
	Created  time.Time // zero if the state does not say
	Modified time.Time
}

// Readers returns the projects that read outputs of a project, in plan order.
func (c Contents) Readers(project string) (names []string) {
	for _, step := range c.Steps {
		if slices.Contains(step.Reads, project) {
			names = append(names, step.Name)
		}
	}
	return names
}

// Counted returns how many resources there are as operations and `runner status` count them: the stack itself is one, and what only was
// read is none.
func Counted(all []Resource) (n int) {
	for _, r := range all {
		if !r.External {
			n++
		}
	}
	return n
}

// Resources returns the number of resources.
func (c Contents) Resources() (n int) {
	for _, p := range c.Projects {
		n += Counted(p.Resources)
	}
	return n
}

// ContentsOf reads what an environment consists of.
func ContentsOf(ctx context.Context, d session.Deps, o session.Options, name string) (c Contents, err error) {
	o.Request, o.Operation = o.Of(name), operation.Up // the projects that up would run
	err = session.Use(d, o, session.ResolveStack, func(s *session.Resolved) error {
		backends := lists.Map(s.Settings.InEach(), func(settings config.Settings) string { return event.MaskURLs(settings.Backend.Text) })
		c = Contents{Backends: backends, Projects: map[string]ProjectContents{},
			Read: d.Now(), Local: s.States().IsFile()}
		for _, step := range s.Plan.Steps {
			c.Steps = append(c.Steps, event.Project{Name: step.Project.Name, Title: step.Project.Title,
				Needs: step.Needs})
		}
		if !s.States().MayHaveStates() {
			return nil
		}
		states, err := inventory.OfEnvironment(ctx, s)
		if err != nil {
			return err
		}
		for _, project := range slices.Sorted(maps.Keys(states)) {
			if c.Projects[project], err = projectContents(project, states[project]); err != nil {
				return err
			}
		}
		return nil
	})
	return c, err
}

// projectContents reads a state.
func projectContents(project string, state json.RawMessage) (p ProjectContents, err error) {
	contents, err := query.ContentsOf(project, state)
	if err != nil {
		return p, err
	}
	p.Outputs = contents.Outputs
	resources, err := resourcesIn(state)
	if err != nil {
		return p, err
	}
	for _, r := range resources {
		if stacks.IsDefaultProvider(r.URN) {
			continue
		}
		id, isText := r.ID.(string)
		if !isText && r.ID != nil {
			id = query.Secret
		}
		p.Resources = append(p.Resources, Resource{Type: r.Type,
			Name: r.URN[strings.LastIndex(r.URN, "::")+len("::"):], ID: id,
			Protect: r.Protect, External: r.External, Created: r.Created, Modified: r.Modified})
	}
	slices.SortFunc(p.Resources, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name))
	})
	return p, nil
}

// stateResource is a resource as a state has it.
type stateResource struct {
	URN      string    `json:"urn"`
	Type     string    `json:"type"`
	ID       any       `json:"id"`
	Protect  bool      `json:"protect"`
	External bool      `json:"external"`
	Created  time.Time `json:"created"`
	Modified time.Time `json:"modified"`
}

// resourcesIn returns the resources in a state; none if there is no state.
func resourcesIn(state json.RawMessage) ([]stateResource, error) {
	var content struct {
		Resources []stateResource `json:"resources"`
	}
	if len(state) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(state, &content)
	return content.Resources, err
}

// answer is what reading an environment has found. It is kept, so that several pages ask once.
type answer struct {
	mu       sync.Mutex // holds what follows
	at       time.Time
	contents Contents
	err      error
}

const (
	localAge  = 2 * time.Second // of answers from files
	remoteAge = time.Minute     // of answers from a backend that has to be asked
	failedAge = 5 * time.Second // of errors
)

// Contents returns what an environment consists of, as it was a moment ago. States in a backend that has to be asked
// may be a minute old.
func (r *Reader) Contents(ctx context.Context, name string) (Contents, error) {
	now := r.deps.Now()
	r.mu.Lock()
	a := r.contents[name]
	if a == nil {
		a = &answer{}
		r.contents[name] = a
	}
	r.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := remoteAge
	if a.contents.Local {
		oldest = localAge
	}
	if a.err != nil {
		oldest = min(oldest, failedAge)
	}
	if a.at.IsZero() || now.Sub(a.at) > oldest {
		a.at = now
		a.contents, a.err = ContentsOf(context.WithoutCancel(ctx), r.deps, r.options, name)
	}
	return a.contents, a.err
}
