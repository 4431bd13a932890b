package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate/client"

	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/machine/atomicfile"
)

// requests sees the requests of a worker to Pulumi Cloud. Each command of Pulumi asks anew what the service can do, who
// the user is and which organization is the default one; here it is asked once. And it writes down which update a
// command begins, before anything of it happens.
type requests struct {
	next http.RoundTripper

	mu      sync.Mutex            // guards what follows
	known   map[string]wire.Known // answers, by question
	news    []wire.Known          // answers that the runner does not have yet
	created map[string]wire.Begun // updates that are not started yet
	unsaved string                // why the last part of a state was not saved; "" if it was
}

// watchRequests watches the requests of Pulumi's client, which is http.DefaultClient.
func watchRequests() *requests {
	r := &requests{next: http.DefaultTransport, known: map[string]wire.Known{}, created: map[string]wire.Begun{}}
	http.DefaultClient.Transport = r
	return r
}

// askedOnce are the paths whose answers are the same for the whole of a run.
var askedOnce = []string{"/api/capabilities", "/api/user", "/api/user/organizations/default"}

// learn takes answers that other workers got.
func (r *requests) learn(known []wire.Known) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, answer := range known {
		r.known[answer.Question] = answer
	}
}

// learned returns the answers that this worker got since it was last called.
func (r *requests) learned() []wire.Known {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := r.news
	r.news = nil
	return news
}

// RoundTrip implements http.RoundTripper.
func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	switch {
	case request.Method == http.MethodPatch && savesState(request.URL.Path):
		return r.save(request)
	case request.Method == http.MethodGet && slices.Contains(askedOnce, request.URL.Path):
		return r.askOnce(request)
	case request.Method == http.MethodPost && os.Getenv(wire.UpdateVariable) != "":
		if stack, _, _ := kindOf(request.URL.Path); stack != nil {
			return r.begin(request)
		}
	}
	return asks(r.next, request)
}

// askOnce answers from memory what was answered before with the same token.
func (r *requests) askOnce(request *http.Request) (*http.Response, error) {
	question := wire.Question(request.URL.String(), request.Header.Get("Authorization"))
	r.mu.Lock()
	answer, ok := r.known[question]
	r.mu.Unlock()
	if ok {
		return answerOf(request, answer.Status, answer.Body), nil
	}
	response, body, err := r.pass(request)
	if err == nil && (response.StatusCode == http.StatusOK || response.StatusCode == http.StatusNotFound) { // 404 by an older server
		answer := wire.Known{Question: question, Status: response.StatusCode, Body: body}
		r.mu.Lock()
		r.known[question] = answer
		r.news = append(r.news, answer)
		r.mu.Unlock()
	}
	return response, err
}

// pass passes a request on, and reads the answer. It asks for one that is not compressed.
func (r *requests) pass(request *http.Request) (*http.Response, []byte, error) {
	request = request.Clone(request.Context())
	request.Header.Del("Accept-Encoding")
	response, err := asks(r.next, request)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, body, nil
}

// savesState reports whether a path is one that saves a state, or an entry of its journal.
func savesState(urlPath string) bool {
	last := path.Base(urlPath)
	return strings.HasPrefix(last, "checkpoint") || last == "journalentries"
}

// save passes on a request that saves a state, and remembers whether it was saved: the engine does not say when what it
// saves last, the outputs of a stack, is lost.
func (r *requests) save(request *http.Request) (*http.Response, error) {
	response, err := asks(r.next, request)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		r.unsaved = err.Error()
	case response.StatusCode >= http.StatusBadRequest:
		r.unsaved = fmt.Sprintf("[%d] %s", response.StatusCode, http.StatusText(response.StatusCode))
	default:
		r.unsaved = ""
	}
	return response, err
}

// lost returns why the state of the last command was not saved as a whole; "" if it was. The next command begins anew.
func (r *requests) lost() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lost := r.unsaved
	r.unsaved = ""
	return lost
}

// kindOf returns the kind of the update that a path creates, such as "destroy", or the update that it starts:
// /api/stacks/ORGANIZATION/PROJECT/STACK/KIND and .../STACK/update/ID.
func kindOf(urlPath string) (stack []string, kind, update string) {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	if len(parts) < 6 || parts[0] != "api" || parts[1] != "stacks" {
		return nil, "", ""
	}
	kinds := []string{"update", "preview", "refresh", "destroy", "begin-update"}
	switch {
	case len(parts) == 6 && slices.Contains(kinds, parts[5]):
		return parts[2:5], parts[5], ""
	case len(parts) == 7 && parts[5] == "update":
		return parts[2:5], "", parts[6]
	}
	return nil, "", ""
}

// begin passes on a request that creates or starts an update, and writes down which. An update that cannot be written
// down is not started.
func (r *requests) begin(request *http.Request) (*http.Response, error) {
	sent := ""
	if request.GetBody != nil {
		if copied, err := request.GetBody(); err == nil {
			var body struct {
				UpdateKind string `json:"updateKind"`
			}
			_ = json.NewDecoder(copied).Decode(&body) // of begin-update alone
			sent = body.UpdateKind
		}
	}
	response, body, err := r.pass(request)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	var answer struct {
		UpdateID string `json:"updateID"`
		Version  int    `json:"version"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return response, nil
	}
	stack, kind, update := kindOf(request.URL.Path)
	r.mu.Lock()
	begun := r.created[update]
	delete(r.created, update)
	r.mu.Unlock()
	if update == "" {
		begun = wire.Begun{Stack: path.Join(stack...), Update: answer.UpdateID, Kind: cmp.Or(sent, kind), PID: os.Getpid()}
		begun.Host, _ = os.Hostname() // "" is the name of no other machine
		r.mu.Lock()
		r.created[begun.Update] = begun
		r.mu.Unlock()
	} else if begun.Update == "" {
		return response, nil // this worker has not created it
	}
	begun.Version, begun.Started = answer.Version, time.Now().UnixMilli()
	page := []string{"previews", begun.Update}
	if begun.Kind != "preview" {
		page = []string{"updates", strconv.Itoa(begun.Version)}
	}
	if begun.Kind == "preview" || begun.Version > 0 {
		begun.Link = client.CloudConsoleURL(request.URL.Scheme+"://"+request.URL.Host, append(slices.Clone(stack), page...)...)
	}
	content, err := json.Marshal(begun)
	if err == nil {
		err = atomicfile.WriteDeep(os.Getenv(wire.UpdateVariable), content, 0o600, 0o700)
	}
	if err != nil && update == "" {
		return nil, fmt.Errorf("writing down the update %s: %w", begun.Update, err)
	}
	return response, nil
}
