package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/runner/internal/feature/access"
	"mara/runner/internal/kube/kubeapi"
)

// connect returns a cluster whose API server is a handler. It fails the test for paths other than the given one.
func connect(t *testing.T, path string, answer func(body map[string]any) (code int, text string)) *kubeapi.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost || r.URL.Path != path {
			t.Errorf("unexpected %s %s: %v", r.Method, r.URL, err)
		}
		code, text := answer(body)
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	c, err := kubeapi.Connect([]byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",`+
		`"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`,
		server.URL)), nil, access.Changes()...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func failed(code int, reason string) (int, string) {
	return code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

// TestAsk compares what a cluster allows with the roles of groups.
func TestAsk(t *testing.T) {
	t.Parallel()
	c := connect(t, "/apis/authorization.k8s.io/v1/subjectaccessreviews", func(body map[string]any) (int, string) {
		spec := body["spec"].(map[string]any)
		group := spec["groups"].([]any)[0].(string)
		about := spec["resourceAttributes"].(map[string]any)
		namespace, _ := about["namespace"].(string)
		resource := about["resource"].(string)
		reads := about["verb"] == "get" && resource != "secrets"
		given := map[string]bool{
			"platform": true,
			"team":     namespace == "shop" && !slices.Contains([]string{"rolebindings", "resourcequotas"}, resource),
			"audit":    reads,
			"more":     reads || resource == "secrets", // another binding gives it Secrets
			"less":     false,
		}[group]
		return http.StatusCreated, fmt.Sprintf(`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":%v}}`, given)
	})
	rows, err := access.Ask(t.Context(), c, []projects.Group{
		{Name: "platform", Role: projects.AdminRole}, {Name: "team", Role: projects.DeveloperRole, Namespaces: []string{"shop"}},
		{Name: "audit", Role: projects.ViewerRole}, {Name: "more", Role: projects.ViewerRole}, {Name: "less", Role: projects.ViewerRole},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range rows {
		var may []string
		for _, power := range access.Powers() {
			if row.May[power.Name] {
				may = append(may, power.Name)
			}
		}
		got[row.Group+" "+row.Namespace] = strings.Join(may, ", ")
	}
	want := map[string]string{
		"platform ": "read, change, start Pods, read Secrets, give rights, change quotas, change policies",
		"team shop": "read, change, start Pods, read Secrets, change policies", "team ": "", "audit ": "read", "more ": "read, read Secrets", "less ": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	differences := []string{
		"more may read Secrets in all namespaces, which the role viewer does not give: another binding of the cluster does",
		"less may not read in all namespaces, which the role viewer gives: the project access is not deployed as configured",
	}
	if diff := cmp.Diff(differences, access.Differences(rows)); diff != "" {
		t.Error(diff)
	}
}

// TestAskRefused names the right that is missing.
func TestAskRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, "/apis/authorization.k8s.io/v1/subjectaccessreviews", func(map[string]any) (int, string) { return failed(403, "Forbidden") })
	_, err := access.Ask(t.Context(), c, []projects.Group{{Name: "audit", Role: projects.ViewerRole}})
	if err == nil || !strings.Contains(err.Error(), "may not create subjectaccessreviews") {
		t.Error(err)
	}
}

// TestToken asks for a token of the group's account, and takes the time at which the API server lets it expire.
func TestToken(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/namespaces/access/serviceaccounts/team/token"
	for _, test := range []struct {
		name          string
		code          int
		text, problem string
	}{
		{"issued", 201, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","status":{"token":"abc","expirationTimestamp":"2026-11-27T12:00:00Z"}}`, ""},
		{"no account", 404, "NotFound", "has no ServiceAccount access/team"},
		{"no right", 403, "Forbidden", "may not create serviceaccounts/token"},
		{"nothing", 201, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"}`, "issued none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, path, func(body map[string]any) (int, string) {
				if seconds := body["spec"].(map[string]any)["expirationSeconds"]; seconds != float64(3600) {
					t.Errorf("asked for %v seconds", seconds)
				}
				if test.code > 300 {
					return failed(test.code, test.text)
				}
				return test.code, test.text
			})
			token, expires, err := access.Token(t.Context(), c, "access", "team", time.Hour)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Error(err)
				}
				return
			}
			if err != nil || token != "abc" || !expires.Equal(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)) {
				t.Errorf("%q %v %v", token, expires, err)
			}
		})
	}
}
