package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/config/files"
)

// The answers of Pulumi Cloud pass through here before Pulumi's client reads them. What comes in their place, from a
// proxy, from a page of a login or from a server that means ill, becomes one message, and gets no token.

// maxProblem is how much of an answer that says what is wrong is read.
const maxProblem = 1 << 20

// maxWords is how much of a problem is shown that does not come from Pulumi Cloud.
const maxWords = 300

// asks passes on a request of Pulumi's client, and returns an answer that it may read.
func asks(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(origin(request).URL.Path, "/api/") {
		return next.RoundTrip(request)
	}
	if stranger := strangerOf(request); stranger != "" {
		return problem(request, http.StatusMisdirectedRequest, fmt.Sprintf("the server redirects to %s, which gets no access token: "+
			"if it is yours, name it with PULUMI_BACKEND_URL", stranger)), nil
	}
	response, err := unhurried(next, request)
	if err != nil {
		return nil, err
	}
	if err := limit(response, request); err != nil {
		_ = response.Body.Close() // the error says more
		return nil, err
	}
	switch kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); {
	case response.StatusCode >= http.StatusBadRequest:
		return explained(response, request), nil
	case response.StatusCode == http.StatusOK && kind == "text/html":
		_ = response.Body.Close() // the message says enough
		return problem(request, http.StatusMisdirectedRequest, fmt.Sprintf("%s://%s answers with a web page: is it the address of "+
			"the API, and not of the pages, or is there a proxy that asks for a login?", request.URL.Scheme, request.URL.Host)), nil
	}
	return response, nil
}

// origin returns the request that has led to this one by redirects.
func origin(request *http.Request) *http.Request {
	for request.Response != nil && request.Response.Request != nil {
		request = request.Response.Request
	}
	return request
}

// strangerOf returns the address that a server redirects to, if it is another one. Go's client would follow, with what is
// sent, and to other ports of the same machine with the token, too.
func strangerOf(request *http.Request) string {
	from, to := origin(request).URL, request.URL
	secured := from.Scheme == "http" && to.Scheme == "https" && from.Hostname() == to.Hostname() && from.Port() == "" &&
		to.Port() == ""
	if from.Scheme == to.Scheme && from.Host == to.Host || secured {
		return ""
	}
	return to.Scheme + "://" + to.Host
}

// attempts is how often a request is made that is refused because there are too many, and longestPause the longest wait
// between two of them.
const (
	attempts     = 4
	longestPause = 30 * time.Second
)

// unhurried makes a request again that the server had no time for, when it says. Pulumi's client does that for those
// that only read; a request that was refused for its time has done nothing, whatever it is.
func unhurried(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		response, err := next.RoundTrip(request)
		if err != nil || response.StatusCode != http.StatusTooManyRequests || request.Method != http.MethodPost ||
			attempt == attempts || request.GetBody == nil {
			return response, err
		}
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 for a date
		_ = response.Body.Close()                                      // it is not read
		select {
		case <-request.Context().Done():
			return nil, request.Context().Err()
		case <-time.After(min(max(time.Duration(seconds)*time.Second, time.Second), longestPause)):
		}
		request = request.Clone(request.Context())
		if request.Body, err = request.GetBody(); err != nil {
			return nil, err
		}
	}
}

// limit bounds what is read of an answer: a state may be large, and nothing else.
func limit(response *http.Response, request *http.Request) error {
	most := int64(files.Summary)
	if last := path.Base(request.URL.Path); last == "begin-update" || strings.Contains(request.URL.Path, "/export") {
		most = files.State
	}
	body := &limited{Closer: response.Body, from: response.Body, left: most, most: most}
	if response.Header.Get("Content-Encoding") == "gzip" && request.Method != http.MethodHead {
		unpacked, err := gzip.NewReader(response.Body)
		if err == io.EOF {
			unpacked, err = nil, nil // there is none
		}
		if err != nil {
			return fmt.Errorf("reading the answer of %s: %w", request.URL.Host, err)
		}
		if unpacked != nil {
			body.from = unpacked
		}
		response.Header.Del("Content-Encoding")
		response.Header.Del("Content-Length")
		response.ContentLength = -1
	}
	response.Body = body
	return nil
}

// limited reads up to a limit, and then fails.
type limited struct {
	io.Closer
	from       io.Reader
	left, most int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the answer is longer than %d MB, as none of Pulumi Cloud is", l.most>>20)
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// explained returns an answer that refuses, in the form that Pulumi Cloud gives it. Pulumi's client would print the whole
// page of a proxy.
func explained(response *http.Response, request *http.Request) *http.Response {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	_ = response.Body.Close() // what was read of it counts
	if err == nil && json.Valid(body) {
		response.Body = io.NopCloser(bytes.NewReader(body))
		return response
	}
	text := strings.TrimSpace(string(body))
	if text == "" || strings.HasPrefix(text, "<") {
		text = fmt.Sprintf("%s, by a proxy or another server in front of %s", cmp.Or(http.StatusText(response.StatusCode), "refused"),
			request.URL.Host)
	}
	status := response.StatusCode
	if status == http.StatusNotFound && request.Method == http.MethodGet && asksStacks(request.URL.Path) {
		status = http.StatusMisdirectedRequest // who does not know the protocol does not know which stacks there are
	}
	shown := problem(request, status, strings.ToValidUTF8(text[:min(len(text), maxWords)], ""))
	if after := response.Header.Get("Retry-After"); after != "" {
		shown.Header.Set("Retry-After", after)
	}
	return shown
}

// asksStacks reports whether a path is one of stacks, whose absence counts.
func asksStacks(path string) bool {
	return strings.HasPrefix(path, "/api/stacks/") || path == "/api/user/stacks"
}

// problem makes an answer that says what is wrong, as Pulumi Cloud does.
func problem(request *http.Request, status int, text string) *http.Response {
	body, _ := json.Marshal(apitype.ErrorResponse{Code: status, Message: text}) // a text and a number
	return answerOf(request, status, body)
}

// answerOf makes an answer in JSON.
func answerOf(request *http.Request, status int, body []byte) *http.Response {
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)), Request: request}
}
