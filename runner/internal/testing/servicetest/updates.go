package servicetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// updates serves the updates of stacks.
type updates struct{ *Server }

// update is an update of a stack, which also previews and imports are.
type update struct {
	id      string
	stack   *stack
	kind    apitype.UpdateKind
	program apitype.UpdateProgramRequest
	author  string
	status  apitype.UpdateStatus
	started time.Time
	ended   time.Time
	expires time.Time // its lease
	token   string
	version int
	events  []apitype.EngineEvent

	verbatim json.RawMessage // the last checkpoint as it was sent
	sequence int             // of that checkpoint
	journal  bool
}

// runningOn returns the update that holds a stack, or nil. One whose lease has expired holds it as well, as at Pulumi
// Cloud, until someone cancels it.
func (s *Server) runningOn(on *stack) *update {
	if u := s.updates[on.active]; u != nil && u.status == apitype.StatusRunning && u.kind != apitype.PreviewUpdate {
		return u
	}
	return nil
}

func (s updates) createUpdate(r request, on *stack) (any, error) {
	var program apitype.UpdateProgramRequest
	if err := r.decode(&program); err != nil {
		return nil, err
	}
	u, err := s.newUpdate(r, on, apitype.UpdateKind(r.PathValue("kind")), program)
	if err != nil {
		return nil, err
	}
	return s.created(u), nil
}

func (s updates) newUpdate(r request, on *stack, kind apitype.UpdateKind, program apitype.UpdateProgramRequest) (*update, error) {
	switch kind {
	case apitype.UpdateUpdate, apitype.PreviewUpdate, apitype.RefreshUpdate, apitype.DestroyUpdate, apitype.ResourceImportUpdate:
	default:
		return nil, refuse(http.StatusNotFound, "Not Found: %s %s", r.Method, r.URL.Path)
	}
	u := &update{id: s.newID("update"), stack: on, kind: kind, program: program, author: r.user.login,
		status: apitype.StatusNotStarted}
	if program.Options.DryRun {
		u.kind = apitype.PreviewUpdate
	}
	s.updates[u.id] = u
	return u, nil
}

// created answers the request that has created an update.
func (s updates) created(u *update) apitype.UpdateProgramResponse {
	answer := apitype.UpdateProgramResponse{UpdateID: u.id}
	for _, policy := range s.options.Policies {
		answer.RequiredPolicies = append(answer.RequiredPolicies, s.required(policy))
	}
	return answer
}

func (s updates) startUpdate(r request, on *stack) (any, error) {
	var wanted apitype.StartUpdateRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	u, err := s.updateOf(r, on)
	if err != nil {
		return nil, err
	}
	return s.start(u, wanted)
}

// start starts an update, which holds the stack from then on.
func (s updates) start(u *update, wanted apitype.StartUpdateRequest) (apitype.StartUpdateResponse, error) {
	on := u.stack
	if running := s.runningOn(on); running != nil && u.kind != apitype.PreviewUpdate {
		return apitype.StartUpdateResponse{}, refuse(http.StatusConflict, "Conflict: Another update is currently in progress.")
	}
	u.status, u.started, u.token = apitype.StatusRunning, time.Now(), s.newID("lease")
	u.expires = u.started.Add(cmp.Or(s.options.Lease, 5*time.Minute))
	u.version = len(on.versions)
	if u.kind != apitype.PreviewUpdate {
		on.active = u.id
		u.version++
		on.lastUpdate = u.started.Unix()
	}
	if wanted.Tags != nil {
		on.tags = wanted.Tags
	}
	answer := apitype.StartUpdateResponse{Version: u.version, Token: u.token, TokenExpiration: u.expires.Unix()}
	if s.options.Replay != nil && wanted.JournalVersion > 0 {
		u.journal = true
		answer.JournalVersion = min(wanted.JournalVersion, apitype.LatestJournalVersion)
		on.entries, on.beforeEntries = nil, slices.Clone(on.deployment.Deployment)
	}
	return answer, nil
}

func (s updates) beginUpdate(r request, on *stack) (any, error) {
	var wanted apitype.BeginUpdateRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	if !s.options.BeginUpdate {
		return nil, refuse(http.StatusNotFound, "Not Found: %s %s", r.Method, r.URL.Path)
	}
	u, err := s.newUpdate(r, on, wanted.UpdateKind, wanted.Program)
	if err != nil {
		return nil, err
	}
	started, err := s.start(u, wanted.StartUpdateRequest)
	if err != nil {
		return nil, err
	}
	described, err := stacks{s.Server}.getStack(r, on)
	if err != nil {
		return nil, err
	}
	return apitype.BeginUpdateResponse{StartUpdateResponse: started, UpdateProgramResponse: s.created(u),
		Deployment: &on.deployment, Stack: described.(apitype.Stack)}, nil
}

// updateOf returns the update in a request's path.
func (s updates) updateOf(r request, on *stack) (*update, error) {
	u := s.updates[r.PathValue("update")]
	if u == nil || u.stack != on {
		return nil, refuse(http.StatusNotFound, "Not Found: Update '%s' not found", r.PathValue("update"))
	}
	return u, nil
}

// running serves a request of the update that runs: with its token, while its lease is valid.
func (s updates) running(handler func(r request, u *update) (any, error)) func(r request) (any, error) {
	return func(r request) (any, error) {
		u := r.update
		switch {
		case u == nil || u.id != r.PathValue("update"):
			return nil, refuse(http.StatusForbidden, "Forbidden: the token is not of this update")
		case u.status != apitype.StatusRunning:
			return nil, refuse(http.StatusConflict, "Conflict: The update has already been %s.", u.status)
		case time.Now().After(u.expires):
			return nil, refuse(http.StatusForbidden, "Forbidden: the lease of the update has expired")
		}
		return handler(r, u)
	}
}

func (s updates) renewLease(r request, u *update) (any, error) {
	var wanted apitype.RenewUpdateLeaseRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	u.expires = time.Now().Add(cmp.Or(s.options.Lease, time.Duration(wanted.Duration)*time.Second))
	return apitype.RenewUpdateLeaseResponse{Token: u.token, TokenExpiration: u.expires.Unix()}, nil
}

func saveCheckpoint(r request, u *update) (any, error) {
	var wanted apitype.PatchUpdateCheckpointRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	u.stack.deployment = apitype.UntypedDeployment{Version: wanted.Version, Features: wanted.Features, Deployment: wanted.Deployment}
	return nil, nil
}

func saveVerbatim(r request, u *update) (any, error) {
	var wanted apitype.PatchUpdateVerbatimCheckpointRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	return nil, u.saveBytes(wanted.UntypedDeployment, wanted.SequenceNumber)
}

// saveBytes keeps a checkpoint with its exact bytes, to which differences refer.
func (u *update) saveBytes(checkpoint json.RawMessage, sequence int) error {
	if sequence < u.sequence {
		return refuse(http.StatusConflict, "Conflict: checkpoint %d comes after %d", sequence, u.sequence)
	}
	if err := json.Unmarshal(checkpoint, &u.stack.deployment); err != nil {
		return refuse(http.StatusBadRequest, "Bad Request: the checkpoint is not JSON: %v", err)
	}
	u.verbatim, u.sequence = slices.Clone(checkpoint), sequence
	return nil
}

// edit replaces a part of the last checkpoint.
type edit struct {
	Span struct {
		Start struct{ Offset int } `json:"start"`
		End   struct{ Offset int } `json:"end"`
	}
	NewText string
}

func saveDelta(r request, u *update) (any, error) {
	var wanted apitype.PatchUpdateCheckpointDeltaRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	var edits []edit
	if err := json.Unmarshal(wanted.DeploymentDelta, &edits); err != nil {
		return nil, refuse(http.StatusBadRequest, "Bad Request: %v", err)
	}
	var edited []byte
	at := 0
	for _, e := range edits {
		if e.Span.Start.Offset < at || e.Span.End.Offset > len(u.verbatim) {
			return nil, refuse(http.StatusBadRequest, "Bad Request: the difference does not fit the last checkpoint")
		}
		edited = append(edited, u.verbatim[at:e.Span.Start.Offset]...)
		edited = append(edited, e.NewText...)
		at = e.Span.End.Offset
	}
	edited = append(edited, u.verbatim[at:]...)
	if sum := sha256.Sum256(edited); hex.EncodeToString(sum[:]) != wanted.CheckpointHash {
		return nil, refuse(http.StatusBadRequest, "Bad Request: the hash is not that of the checkpoint")
	}
	return nil, u.saveBytes(edited, wanted.SequenceNumber)
}

func (s updates) saveEntries(r request, u *update) (any, error) {
	var wanted apitype.JournalEntries
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	if !u.journal {
		return nil, refuse(http.StatusNotFound, "Not Found")
	}
	on := u.stack
	on.entries = append(on.entries, wanted.Entries...)
	slices.SortStableFunc(on.entries, func(a, b apitype.JournalEntry) int { return cmp.Compare(a.SequenceID, b.SequenceID) })
	deployment, err := s.options.Replay(on.beforeEntries, on.entries)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "Bad Request: %v", err)
	}
	on.deployment.Deployment = deployment
	return nil, nil
}

func saveEvents(r request, u *update) (any, error) {
	var wanted apitype.EngineEventBatch
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	u.events = append(u.events, wanted.Events...)
	return nil, nil
}

func (s updates) completeUpdate(r request, u *update) (any, error) {
	var wanted apitype.CompleteUpdateRequest
	if err := r.decode(&wanted); err != nil {
		return nil, err
	}
	u.status, u.ended = wanted.Status, time.Now()
	if u.kind != apitype.PreviewUpdate {
		u.stack.record(u)
	}
	return nil, nil
}

func (s updates) cancelUpdate(r request, on *stack) (any, error) {
	u, err := s.updateOf(r, on)
	if err != nil {
		return nil, err
	}
	if u.status != apitype.StatusRunning {
		return nil, refuse(http.StatusConflict, "Conflict: The update has already completed.")
	}
	u.status, u.ended = apitype.UpdateStatusCancelled, time.Now()
	if u.kind != apitype.PreviewUpdate {
		on.record(u)
	}
	return nil, nil
}

func (s updates) updateStatus(r request, on *stack) (any, error) {
	u, err := s.updateOf(r, on)
	if err != nil {
		return nil, err
	}
	return apitype.UpdateResults{Status: u.status, Events: []apitype.UpdateEvent{}}, nil
}

func (s updates) updateEvents(r request, on *stack) (any, error) {
	u, err := s.updateOf(r, on)
	if err != nil {
		return nil, err
	}
	return apitype.GetUpdateEventsResponse{Events: u.events}, nil
}

// record adds an update that has ended to the history of its stack.
func (on *stack) record(u *update) {
	result := apitype.FailedResult
	if u.status == apitype.UpdateStatusSucceeded {
		result = apitype.SucceededResult
	}
	changes := map[apitype.OpType]int{}
	for _, event := range u.events {
		if event.SummaryEvent != nil {
			changes = event.SummaryEvent.ResourceChanges
		}
	}
	on.active = u.id
	on.versions = append(on.versions, on.deployment)
	on.lastUpdate = u.started.Unix()
	on.history = slices.Insert(on.history, 0, apitype.UpdateInfo{Kind: u.kind, StartTime: u.started.Unix(),
		EndTime: u.ended.Unix(), Message: u.program.Metadata.Message, Environment: u.program.Metadata.Environment,
		Config: u.program.Config, Result: result, Version: len(on.versions), ResourceChanges: changes,
		ResourceCount: on.resources()})
}

func (s updates) listUpdates(r request, on *stack) (any, error) {
	updates := on.history
	if running := s.runningOn(on); running != nil {
		now := apitype.UpdateInfo{Kind: running.kind, StartTime: running.started.Unix(), Version: running.version,
			Message: running.program.Metadata.Message, Result: apitype.InProgressResult}
		updates = slices.Insert(slices.Clone(updates), 0, now)
	}
	size, _ := strconv.Atoi(r.URL.Query().Get("pageSize"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	if size > 0 {
		start := min(size*(max(page, 1)-1), len(updates))
		updates = updates[start:min(start+size, len(updates))]
	}
	return apitype.GetHistoryResponse{Updates: append([]apitype.UpdateInfo{}, updates...)}, nil
}

// latest is the last update, as Pulumi's client reads it.
type latest struct {
	Info apitype.UpdateInfo `json:"info"`
}

func latestUpdate(_ request, on *stack) (any, error) {
	if len(on.history) == 0 {
		return nil, refuse(http.StatusNotFound, "Not Found: the stack has never been updated")
	}
	return latest{on.history[0]}, nil
}

func updateOfVersion(r request, on *stack) (any, error) {
	for _, info := range on.history {
		if strconv.Itoa(info.Version) == r.PathValue("version") {
			return latest{info}, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "Not Found: version %s", r.PathValue("version"))
}
