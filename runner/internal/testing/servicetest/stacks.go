package servicetest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// stacks serves stacks.
type stacks struct{ *Server }

// stack is one stack.
type stack struct {
	id            string
	organization  string
	project, name string
	tags          map[apitype.StackTagName]string
	key           []byte // of its secrets
	deployment    apitype.UntypedDeployment
	versions      []apitype.UntypedDeployment // after each update, from 1
	history       []apitype.UpdateInfo
	active        string // update, also after its end
	entries       []apitype.JournalEntry
	beforeEntries json.RawMessage
	lastUpdate    int64
}

// empty is the state of a new stack.
func empty() apitype.UntypedDeployment {
	return apitype.UntypedDeployment{Version: 3, Deployment: json.RawMessage(`{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""}}`)}
}

// handleStack serves a path of a stack that there is, for users who see it.
func (s *Server) handleStack(pattern string, handler func(r request, on *stack) (any, error)) {
	s.handle(pattern, func(r request) (any, error) {
		organization := r.PathValue("org")
		if !r.user.isMember(organization) && r.update == nil {
			return nil, refuse(http.StatusNotFound, "Not Found: Organization '%s' not found", organization)
		}
		on := s.stacks[stackName(r)]
		if on == nil {
			return nil, refuse(http.StatusNotFound, "Not Found: Stack '%s' not found", stackName(r))
		}
		return handler(r, on)
	})
}

// stackName returns the full name of the stack in a request's path.
func stackName(r request) string {
	return r.PathValue("org") + "/" + r.PathValue("project") + "/" + r.PathValue("stack")
}

func (s stacks) projectExists(r request) (any, error) {
	for _, on := range s.stacks {
		if on.organization == r.PathValue("org") && on.project == r.PathValue("project") {
			return struct{}{}, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "Not Found")
}

func (s stacks) createStack(r request) (any, error) {
	var wanted apitype.CreateStackRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	organization, project := r.PathValue("org"), r.PathValue("project")
	if !r.user.isMember(organization) {
		return nil, refuse(http.StatusNotFound, "Not Found: Organization '%s' not found", organization)
	}
	name := organization + "/" + project + "/" + wanted.StackName
	if s.stacks[name] != nil {
		return nil, refuse(http.StatusConflict, "Conflict: Stack '%s' already exists", name)
	}
	s.stacks[name] = &stack{id: s.newID("stack"), organization: organization, project: project, name: wanted.StackName,
		tags: wanted.Tags, key: newKey(), deployment: empty()}
	if wanted.State != nil {
		s.stacks[name].deployment = *wanted.State
	}
	return apitype.CreateStackResponse{}, nil
}

func (s stacks) getStack(_ request, on *stack) (any, error) {
	answer := apitype.Stack{ID: on.id, OrgName: on.organization, ProjectName: on.project, StackName: tokens.QName(on.name),
		Tags: on.tags, ActiveUpdate: on.active, Version: len(on.versions)}
	if running := s.runningOn(on); running != nil {
		answer.CurrentOperation = &apitype.OperationStatus{Kind: running.kind, Author: running.author,
			Started: running.started.Unix()}
	}
	return answer, nil
}

func (s stacks) deleteStack(r request, on *stack) (any, error) {
	if s.runningOn(on) != nil {
		return nil, refuse(http.StatusConflict, "Conflict: Another update is currently in progress.")
	}
	if on.resources() > 0 && r.URL.Query().Get("force") != "true" {
		return nil, refuse(http.StatusBadRequest, "Bad Request: Stack still contains resources.")
	}
	delete(s.stacks, stackName(r))
	return nil, nil
}

// renameStack leaves the names of resources in the state as they are, as some servers do.
func (s stacks) renameStack(r request, on *stack) (any, error) {
	var wanted apitype.StackRenameRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	project, name := cmp.Or(wanted.NewProject, on.project), cmp.Or(wanted.NewName, on.name)
	renamed := on.organization + "/" + project + "/" + name
	if s.stacks[renamed] != nil {
		return nil, refuse(http.StatusConflict, "Conflict: Stack '%s' already exists", renamed)
	}
	delete(s.stacks, stackName(r))
	on.project, on.name = project, name
	s.stacks[renamed] = on
	return nil, nil
}

func setTags(r request, on *stack) (any, error) {
	tags := map[apitype.StackTagName]string{}
	if err := r.decode(&tags); err != nil {
		return nil, err
	}
	on.tags = tags
	return nil, nil
}

// listStacks lists the stacks that a user sees, by name, in pages.
func (s stacks) listStacks(r request) (any, error) {
	query := r.URL.Query()
	filters := query.Get("tagName") != "" && !s.options.NoTags
	var names []string
	for name, on := range s.stacks {
		_, tagged := on.tags[query.Get("tagName")]
		switch {
		case !r.user.isMember(on.organization),
			query.Get("organization") != "" && query.Get("organization") != on.organization,
			query.Get("project") != "" && query.Get("project") != on.project,
			filters && !tagged,
			filters && query.Get("tagValue") != "" && on.tags[query.Get("tagName")] != query.Get("tagValue"),
			name <= query.Get("continuationToken"):
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	answer := apitype.ListStacksResponse{Stacks: []apitype.StackSummary{}}
	if s.options.Page > 0 && len(names) > s.options.Page {
		names = names[:s.options.Page]
		answer.ContinuationToken = &names[len(names)-1]
	}
	for _, name := range names {
		answer.Stacks = append(answer.Stacks, s.summaryOf(s.stacks[name]))
	}
	return answer, nil
}

func (s stacks) summaryOf(on *stack) apitype.StackSummary {
	summary := apitype.StackSummary{ID: on.id, OrgName: on.organization, ProjectName: on.project, StackName: on.name}
	if on.lastUpdate > 0 {
		summary.LastUpdate = &on.lastUpdate
	}
	if count := on.resources(); !s.options.NoCounts && on.lastUpdate > 0 {
		summary.ResourceCount = &count
	}
	return summary
}

// resources counts the resources of a stack as Pulumi Cloud does: with the stack's own.
func (on *stack) resources() int {
	var deployment struct {
		Resources []json.RawMessage `json:"resources"`
	}
	if json.Unmarshal(on.deployment.Deployment, &deployment) != nil {
		return 0
	}
	return len(deployment.Resources)
}

func exportStack(r request, on *stack) (any, error) {
	text := r.PathValue("version")
	if text == "" {
		return apitype.ExportStackResponse(on.deployment), nil
	}
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 || version > len(on.versions) {
		return nil, refuse(http.StatusNotFound, "Not Found: version %s", text)
	}
	return apitype.ExportStackResponse(on.versions[version-1]), nil
}

func getOutputs(_ request, on *stack) (any, error) {
	var deployment apitype.DeploymentV3
	if err := json.Unmarshal(on.deployment.Deployment, &deployment); err != nil {
		return nil, err
	}
	answer := apitype.StackOutputsResponse{SecretsProviders: deployment.SecretsProviders}
	for _, resource := range deployment.Resources {
		if resource.Type == "pulumi:pulumi:Stack" {
			answer.Outputs = resource.Outputs
		}
	}
	return answer, nil
}

func (s stacks) importStack(r request, on *stack) (any, error) {
	var wanted apitype.UntypedDeployment
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	if s.runningOn(on) != nil {
		return nil, refuse(http.StatusConflict, "Conflict: Another update is currently in progress.")
	}
	now := time.Now()
	u := &update{id: s.newID("update"), stack: on, kind: apitype.StackImportUpdate, author: r.user.login, started: now,
		ended: now, status: apitype.UpdateStatusSucceeded, version: len(on.versions) + 1}
	s.updates[u.id] = u
	on.deployment = wanted
	on.record(u)
	return apitype.ImportStackResponse{UpdateID: u.id}, nil
}

// Tags returns the tags of a stack: organization/project/name.
func (s *Server) Tags(name string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tags := map[string]string{}
	if on := s.stacks[name]; on != nil {
		for name, value := range on.tags {
			tags[name] = value
		}
	}
	return tags
}

// Tag tags a stack: organization/project/name.
func (s *Server) Tag(stack, name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stacks[stack].tags[name] = value
}

// Stacks lists the full names of all stacks with the number of their resources.
func (s *Server) Stacks() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]int{}
	for name, on := range s.stacks {
		counts[name] = on.resources()
	}
	return counts
}

// Updates returns the history of a stack, the newest first.
func (s *Server) Updates(name string) []apitype.UpdateInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on := s.stacks[name]; on != nil {
		return slices.Clone(on.history)
	}
	return nil
}

// State returns the state of a stack.
func (s *Server) State(name string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on := s.stacks[name]; on != nil {
		return on.deployment.Deployment
	}
	return nil
}
