// Package standin answers in place of the API server of a simulated cluster what `runner access` and `runner backup` ask:
// what objects give rights, tokens of accounts, and the backups of a Velero that makes them at once. It has the objects
// that the states of the environment have.
package standin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/atomicfile"
)

// Object is a manifest.
type Object map[string]any

// Server stands in for an API server.
type Server struct {
	Objects []Object // of the cluster
	File    string   // keeps the backups between commands
	Now     func() time.Time

	mu sync.Mutex // one request at a time reads and writes File
}

// Connect returns a cluster whose requests the server answers.
func (s *Server) Connect() (*kubeapi.Cluster, error) {
	objects, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "http://simulated.invalid"}, &http.Client{Transport: s})
	if err != nil {
		return nil, err
	}
	return kubeapi.New(objects, nil), nil
}

// request is a request to an API server.
type request struct {
	method, group, namespace, resource, name, part string
}

// requestOf takes the path of a request apart.
func requestOf(r *http.Request) (of request) {
	of.method = r.Method
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "apis":
		of.group, parts = parts[1], parts[3:]
	case len(parts) > 1:
		parts = parts[2:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		of.namespace, parts = parts[1], parts[2:]
	}
	for i, to := range []*string{&of.resource, &of.name, &of.part} {
		if i < len(parts) {
			*to = parts[i]
		}
	}
	return of
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent Object
	if r.Body != nil {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		_ = json.Unmarshal(content, &sent) // a request to delete has options
	}
	answer, err := s.answer(requestOf(r), sent)
	if err != nil {
		return nil, err
	}
	code := http.StatusOK
	if answer == nil {
		code = http.StatusNotFound
		answer = Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": string(metav1.StatusReasonNotFound),
			"code": code, "message": "the simulated cluster has no " + strings.Trim(r.URL.Path, "/")}
	}
	content, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(content)),
		ContentLength: int64(len(content)),
	}, err
}

// answer returns the answer to a request; nil if there is nothing of this name.
func (s *Server) answer(of request, sent Object) (Object, error) {
	switch {
	case of.resource == "subjectaccessreviews":
		sent["status"] = Object{"allowed": s.allows(sent.object("spec"))}
		return sent, nil
	case of.resource == "serviceaccounts" && of.part == "token":
		if !s.has("ServiceAccount", of.namespace, of.name) {
			return nil, nil
		}
		seconds, _ := sent.object("spec")["expirationSeconds"].(float64)
		sent["status"] = Object{"token": "simulated", "expirationTimestamp": s.at(time.Duration(seconds) * time.Second)}
		return sent, nil
	case of.group == "velero.io":
		if !s.has("Release", of.namespace, "velero") {
			return nil, nil
		}
		return s.velero(of, sent)
	case of.method == http.MethodGet && of.name == "":
		return listOf(nil), nil // the stand-ins make no volumes, and nothing else is listed
	}
	return nil, nil
}

// at returns a time from now on, as Kubernetes writes it.
func (s *Server) at(later time.Duration) string { return s.Now().Add(later).UTC().Format(time.RFC3339) }

// velero answers for Velero, which ends all work at once.
func (s *Server) velero(of request, sent Object) (Object, error) {
	if of.resource == "podvolumebackups" {
		return listOf(nil), nil
	}
	kept, err := s.kept()
	if err != nil {
		return nil, err
	}
	isMeant := func(o Object) bool { return o.name() == of.name && strings.ToLower(o.text("kind"))+"s" == of.resource }
	at := slices.IndexFunc(kept, isMeant)
	switch {
	case of.method == http.MethodPost:
		sent["status"] = Object{"phase": "Completed", "startTimestamp": s.at(0), "expiration": s.at(30 * 24 * time.Hour)}
		return sent, s.keep(append(kept, sent))
	case of.name == "":
		return listOf(slices.DeleteFunc(kept, func(o Object) bool { return strings.ToLower(o.text("kind"))+"s" != of.resource })), nil
	case at < 0:
		return nil, nil
	case of.method == http.MethodDelete:
		found := kept[at]
		return found, s.keep(slices.Delete(kept, at, at+1))
	}
	return kept[at], nil
}

func listOf(items []Object) Object {
	return Object{"kind": "List", "apiVersion": "v1", "metadata": Object{}, "items": append([]Object{}, items...)}
}

func (s *Server) kept() (kept []Object, err error) {
	content, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return kept, json.Unmarshal(content, &kept)
}

func (s *Server) keep(all []Object) error {
	content, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return atomicfile.WriteDeep(s.File, content, 0o600, 0o700)
}

// has reports whether the cluster has an object. That of a release of Helm has its name and namespace outside of metadata.
func (s *Server) has(kind, namespace, name string) bool {
	return slices.ContainsFunc(s.Objects, func(o Object) bool {
		return o.text("kind") == kind && o.name() == name && o.namespace() == namespace
	})
}

func (o Object) object(key string) Object {
	switch value := o[key].(type) {
	case map[string]any:
		return value
	case Object:
		return value
	}
	return nil
}

func (o Object) text(key string) string { text, _ := o[key].(string); return text }

func (o Object) name() string {
	if meta := o.object("metadata"); meta != nil {
		return meta.text("name")
	}
	return o.text("name")
}

func (o Object) namespace() string {
	if meta := o.object("metadata"); meta != nil {
		return meta.text("namespace")
	}
	return o.text("namespace")
}

// objects returns the maps in a list.
func (o Object) objects(key string) (found []Object) {
	items, _ := o[key].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			found = append(found, object)
		}
	}
	return found
}

// texts returns the texts in a list.
func (o Object) texts(key string) (found []string) {
	items, _ := o[key].([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			found = append(found, text)
		}
	}
	return found
}
