package servicetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Control is the path of the control address. A PUT sets the Fault in its body, a DELETE removes all faults, a GET
// returns the requests since the last POST, which forgets them.
const Control = "/control"

// Fault is what the server does instead of answering.
type Fault struct {
	Method     string        `json:"method"`      // of the requests that it meets; "" for all
	Path       string        `json:"path"`        // part of their path, "" for all
	Token      string        `json:"token"`       // their access token; "" for all
	Status     int           `json:"status"`      // 0 for the usual answer
	Message    string        `json:"message"`     // of the error
	Body       string        `json:"body"`        // instead of an error as Pulumi Cloud writes it, as from a proxy
	RetryAfter string        `json:"retry_after"` // the header; "" for none
	Location   string        `json:"location"`    // the address that a redirect names; the path is added to it
	Endless    bool          `json:"endless"`     // the answer does not end
	Delay      time.Duration `json:"delay"`       // before the answer, or until all faults are removed
	Cut        bool          `json:"cut"`         // the connection is cut
	After      int           `json:"after"`       // how many requests pass before
	Times      int           `json:"times"`       // how often it is met; 0 for always

	mended chan struct{} // closed when all faults are removed
}

// Set sets a fault.
func (s *Server) Set(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fault.mended = make(chan struct{})
	s.faults = append(s.faults, &fault)
}

// Mend removes all faults.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.faults {
		close(fault.mended)
	}
	s.faults = nil
}

// Asked returns the requests since the last Forget: methods and paths.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Forget forgets the requests.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = nil
}

// Dump logs the requests of a failed test.
func (s *Server) Dump(t testing.TB) {
	if t.Failed() {
		t.Log(strings.Join(s.Asked(), "\n"))
	}
}

func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPut:
		var fault Fault
		if err := json.NewDecoder(r.Body).Decode(&fault); err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		s.Set(fault)
	case http.MethodDelete:
		s.Mend()
	case http.MethodPost:
		s.Forget()
	default:
		writeAnswer(w, s.Asked(), nil)
	}
}

// meets records a request, and reports whether a fault has answered it.
func (s *Server) meets(w http.ResponseWriter, r *http.Request) bool {
	fault := s.faultFor(r)
	if fault == nil {
		return false
	}
	select {
	case <-time.After(fault.Delay):
	case <-fault.mended:
	case <-r.Context().Done():
		return true
	}
	if fault.Cut {
		panic(http.ErrAbortHandler)
	}
	if fault.Status == 0 {
		return false
	}
	if fault.RetryAfter != "" {
		w.Header().Set("Retry-After", fault.RetryAfter)
	}
	if fault.Location != "" {
		w.Header().Set("Location", fault.Location+r.URL.Path)
	}
	if fault.Endless {
		w.WriteHeader(fault.Status)
		writeForever(w)
		return true
	}
	if fault.Body != "" {
		w.WriteHeader(fault.Status)
		_, _ = w.Write([]byte(fault.Body))
		return true
	}
	message := fault.Message
	if message == "" {
		message = http.StatusText(fault.Status)
	}
	writeError(w, fault.Status, message)
	return true
}

// writeForever writes a list in JSON until nobody reads it any more.
func writeForever(w http.ResponseWriter) {
	block := []byte(`{"stacks": [` + strings.Repeat(`{"stackName": "endless"},`, 4096))
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func (s *Server) faultFor(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	for i, fault := range s.faults {
		if fault.Method != "" && fault.Method != r.Method || !strings.Contains(r.URL.Path, fault.Path) ||
			!strings.HasSuffix(r.Header.Get("Authorization"), fault.Token) {
			continue
		}
		if fault.After > 0 {
			fault.After--
			continue
		}
		copied := *fault
		if fault.Times == 1 {
			s.faults = slices.Delete(s.faults, i, i+1)
		} else if fault.Times > 1 {
			fault.Times--
		}
		return &copied
	}
	return nil
}
