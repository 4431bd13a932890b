package servicetest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate/client"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"mara/runner/internal/testing/servicetest"
)

// clientOf returns Pulumi's own client.
func clientOf(s *servicetest.Server, token string) *client.Client {
	return client.NewClient(s.URL, token, false, diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never}))
}

func stackID(organization, project, name string) client.StackIdentifier {
	return client.StackIdentifier{Owner: organization, Project: project, Stack: tokens.MustParseStackName(name)}
}

// code returns the status of an error, or 0.
func code(err error) int {
	if response, ok := errors.AsType[*apitype.ErrorResponse](err); ok {
		return response.Code
	}
	return 0
}

func create(t *testing.T, c *client.Client, id client.StackIdentifier) {
	t.Helper()
	if _, _, err := c.CreateStack(t.Context(), id, map[string]string{"a": "b"}, nil, nil, nil, false); err != nil {
		t.Fatal(err)
	}
}

// begin starts an update, and returns its lease.
func begin(t *testing.T, c *client.Client, id client.StackIdentifier) (client.UpdateIdentifier, string, error) {
	t.Helper()
	project := &workspace.Project{Name: tokens.PackageName(id.Project), Runtime: workspace.NewProjectRuntimeInfo("yaml", nil)}
	u, _, err := c.CreateUpdate(t.Context(), apitype.UpdateUpdate, id, project, nil, apitype.UpdateMetadata{Message: "a change"},
		engine.UpdateOptions{}, false, "", client.UpdateRequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, token, _, err := c.StartUpdate(t.Context(), u, nil)
	return u, token, err
}

func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{Page: 2})
	s.AddUser("other", "bob")
	alice, bob := clientOf(s, servicetest.Token), clientOf(s, "other")
	for _, project := range []string{"a", "b", "c"} {
		create(t, alice, stackID("acme", project, "dev"))
	}
	var names []string
	var token *string
	for {
		page, next, err := alice.ListStacks(t.Context(), client.ListStacksFilter{}, token)
		if err != nil {
			t.Fatal(err)
		}
		for _, summary := range page {
			names = append(names, summary.ProjectName)
		}
		if token = next; token == nil {
			break
		}
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("the pages have %q", got)
	}
	if page, _, err := bob.ListStacks(t.Context(), client.ListStacksFilter{}, nil); err != nil || len(page) > 0 {
		t.Errorf("another user sees %v, %v", page, err)
	}
	if _, err := bob.GetStack(t.Context(), stackID("acme", "a", "dev")); code(err) != http.StatusNotFound {
		t.Errorf("a stack of another organization: %v", err)
	}
	if _, _, err := alice.CreateStack(t.Context(), stackID("acme", "a", "dev"), nil, nil, nil, nil, false); code(err) != http.StatusConflict {
		t.Errorf("a stack twice: %v", err)
	}
	if _, _, _, err := clientOf(s, "wrong").GetPulumiAccountDetails(t.Context()); err == nil {
		t.Error("a wrong token is accepted")
	}
	if user, organizations, _, err := alice.GetPulumiAccountDetails(t.Context()); err != nil || user != "alice" || len(organizations) != 2 {
		t.Errorf("user %s of %v, %v", user, organizations, err)
	}
}

func TestEachStackHasItsKey(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	c := clientOf(s, servicetest.Token)
	one, two := stackID("acme", "one", "dev"), stackID("acme", "two", "dev")
	create(t, c, one)
	create(t, c, two)
	sealed, err := c.BatchEncrypt(t.Context(), one, [][]byte{[]byte("secret"), {}})
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := c.DecryptValue(t.Context(), one, sealed[0]); err != nil || string(plain) != "secret" {
		t.Errorf("decrypted to %q, %v", plain, err)
	}
	if _, err := c.BatchDecryptValue(t.Context(), one, sealed); err != nil {
		t.Errorf("a batch: %v", err)
	}
	if _, err := c.DecryptValue(t.Context(), two, sealed[0]); code(err) != http.StatusBadRequest {
		t.Errorf("another stack decrypts it: %v", err)
	}
}

func TestLeases(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	c, id := clientOf(s, servicetest.Token), stackID("acme", "one", "dev")
	create(t, c, id)
	u, token, err := begin(t, c, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := begin(t, c, id); code(err) != http.StatusConflict {
		t.Errorf("two updates at once: %v", err)
	}
	if on, err := c.GetStack(t.Context(), id); err != nil || on.CurrentOperation == nil || on.ActiveUpdate != u.UpdateID {
		t.Errorf("while an update runs the stack is %+v, %v", on, err)
	}
	if _, err := c.RenewUpdateLease(t.Context(), u, token, time.Minute); err != nil {
		t.Errorf("renewing: %v", err)
	}
	if err := c.CancelUpdate(t.Context(), u); err != nil {
		t.Errorf("cancelling: %v", err)
	}
	if _, err := c.RenewUpdateLease(t.Context(), u, token, time.Minute); code(err) != http.StatusConflict {
		t.Errorf("renewing what was cancelled: %v", err)
	}
	if _, _, err := begin(t, c, id); err != nil {
		t.Errorf("after a cancel: %v", err)
	}
	if history := s.Updates("acme/one/dev"); len(history) != 1 || history[0].Message != "a change" {
		t.Errorf("the history is %+v", history)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	c, id := clientOf(s, servicetest.Token), stackID("acme", "one", "dev")
	create(t, c, id)
	body, _ := json.Marshal(servicetest.Fault{Method: "POST", Path: "/encrypt", Status: 403, Message: "no", Times: 1, After: 1})
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+servicetest.Control, strings.NewReader(string(body)))
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the control address: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	var failed []bool
	for range 3 {
		_, err := c.EncryptValue(t.Context(), id, []byte("x"))
		failed = append(failed, err != nil)
	}
	if failed[0] || !failed[1] || failed[2] {
		t.Errorf("the fault was met by %v, not by the second request alone", failed)
	}
	if asked := s.Asked(); len(asked) != 4 || asked[1] != "POST /api/stacks/acme/one/dev/encrypt" {
		t.Errorf("the requests are %v", asked)
	}
}
