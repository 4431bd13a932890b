package examine

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/kube/kubeapi"
)

// moment is what a cluster has, and for how long.
type moment struct {
	resources []Resource
	err       error
	lasts     time.Duration // zero means for ever
}

func TestWait(t *testing.T) {
	t.Parallel()
	going := Resource{Name: "volume a", Removing: true}
	staying := Resource{Name: "service b"}
	kept := Resource{Name: "volume c", Retained: true}
	broken := errors.New("connection refused")
	for _, test := range []struct {
		name    string
		moments []moment
		want    string // error
		took    time.Duration
		said    []string
	}{
		{name: "nothing there", moments: []moment{{}}},
		{
			name:    "a volume on its way out",
			moments: []moment{{resources: []Resource{going, kept}, lasts: 2 * time.Minute}, {resources: []Resource{kept}}},
			took:    2 * time.Minute,
			said: []string{
				"waiting until the cluster has removed volume a",
				"the cluster keeps, by reclaim policy: volume c",
			},
		},
		{
			name:    "a volume that never goes",
			moments: []moment{{resources: []Resource{going}}},
			took:    patience, want: "the cluster would leave behind: volume a",
			said: []string{"waiting until the cluster has removed volume a"},
		},
		{
			name:    "a Service of the user's own",
			moments: []moment{{resources: []Resource{going, staying}, lasts: time.Minute}, {resources: []Resource{staying}}},
			took:    time.Minute - interval + settling, want: "the cluster would leave behind: service b",
			said: []string{
				"waiting until the cluster has removed volume a; service b",
				"waiting until the cluster has removed service b",
			},
		},
		{
			name:    "bound for a moment longer than its claim",
			moments: []moment{{resources: []Resource{staying}, lasts: 10 * time.Second}, {}},
			took:    10 * time.Second, said: []string{"waiting until the cluster has removed service b"},
		},
		{
			name:    "no answer",
			moments: []moment{{err: broken}},
			took:    settling,
			want:    "the load balancers and volumes of the cluster could not be listed: connection refused",
		},
		{
			name:    "no answer for a moment",
			moments: []moment{{err: broken, lasts: 20 * time.Second}, {}},
			took:    20 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var said []string
				err := wait(t.Context(), lister(test.moments), func(text string) { said = append(said, text) })
				if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
					t.Errorf("error %q, want %q", got, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
				if diff := cmp.Diff(test.said, said); diff != "" {
					t.Errorf("said (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// lister lists one moment after the other.
func lister(moments []moment) func(context.Context) ([]Resource, error) {
	began := time.Now()
	return func(context.Context) ([]Resource, error) {
		since := time.Since(began)
		for _, m := range moments {
			if m.lasts == 0 || since < m.lasts {
				return m.resources, m.err
			}
			since -= m.lasts
		}
		panic("the last moment lasts for ever")
	}
}

func TestWaitIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(7*time.Second, func() { cancel(stop) })
		err := wait(ctx, lister([]moment{{resources: []Resource{{Name: "volume a", Removing: true}}}}), func(string) {})
		if !errors.Is(err, stop) {
			t.Errorf("error %v, want %v", err, stop)
		}
	})
}

// answer returns the response of an API server with all kinds of resources.
func answer(path string) (int, string) {
	return http.StatusOK, map[string]string{
		"/api/v1/services": `{"apiVersion": "v1", "kind": "ServiceList", "items": [
		{"metadata": {"name": "kubernetes", "namespace": "default"}, "spec": {"type": "ClusterIP"}},
		{"metadata": {"name": "web", "namespace": "shop"}, "spec": {"type": "LoadBalancer"}},
		{"metadata": {"name": "old", "namespace": "shop", "deletionTimestamp": "2026-11-20T12:00:00Z"}, "spec": {"type": "LoadBalancer"}}
	]}`,
		"/api/v1/persistentvolumes": `{"apiVersion": "v1", "kind": "PersistentVolumeList", "items": [
		{"metadata": {"name": "pv-static"}, "spec": {"persistentVolumeReclaimPolicy": "Retain"}, "status": {"phase": "Available"}},
		{"metadata": {"name": "pvc-1", "annotations": {"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"}},
			"spec": {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "logstore", "name": "data-0"}},
			"status": {"phase": "Released"}},
		{"metadata": {"name": "pvc-2", "annotations": {"pv.kubernetes.io/provisioned-by": "linodebs.csi.linode.com"}},
			"spec": {"persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "shop", "name": "keep"}},
			"status": {"phase": "Bound"}},
		{"metadata": {"name": "pvc-3", "annotations": {"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"}},
			"spec": {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "logstore", "name": "data-1"}},
			"status": {"phase": "Failed"}}
	]}`,
	}[path]
}

func TestResources(t *testing.T) {
	t.Parallel()
	got, err := listCreated(t.Context(), connect(t, serve(t, answer), nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []Resource{
		{Name: "load balancer of service shop/web"},
		{Name: "load balancer of service shop/old", Removing: true},
		{Name: "volume pvc-1 of claim logstore/data-0", Removing: true},
		{Name: "volume pvc-2 of claim shop/keep", Retained: true},
		{Name: "volume pvc-3 of claim logstore/data-1", Removing: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestWaitAsksTheCluster(t *testing.T) {
	t.Parallel()
	empty := serve(t, func(string) (int, string) { return http.StatusOK, `{"apiVersion": "v1", "kind": "List", "items": []}` })
	if err := WaitUntilEmpty(t.Context(), connect(t, empty, nil), func(text string) { t.Errorf("said %q", text) }); err != nil {
		t.Errorf("an empty cluster: %v", err)
	}
}

// TestRefusalIsUnknown: what a cluster refuses to say is not known, as what it does not
// answer.
func TestRefusalIsUnknown(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		want := http.StatusText(status)
		refusal := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": %q, "code": %d}`, want, status)
		_, refused := listCreated(t.Context(), connect(t, serve(t, func(string) (int, string) { return status, refusal }), nil))
		synctest.Test(t, func(t *testing.T) {
			err := wait(t.Context(), func(context.Context) ([]Resource, error) { return nil, refused }, func(string) {})
			var unknown *UnknownError
			if !errors.As(err, &unknown) || !strings.Contains(err.Error(), want) {
				t.Errorf("%d: %v", status, err)
			}
		})
	}
}

// TestTokenCommand has the kubeconfig get its token from a command, as that of
// EKS does, with the environment given for it.
func TestTokenCommand(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer from-platform" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion": "v1", "kind": "List", "items": []}`)
	}))
	t.Cleanup(server.Close)
	user := `exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: sh
      args: [-c, 'echo "{\"apiVersion\": \"client.authentication.k8s.io/v1beta1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"from-$AWS_PROFILE\"}}"']
      interactiveMode: Never`
	cluster := connect(t, kubeconfigOf(server, user), map[string]string{"AWS_PROFILE": "platform"})
	if _, err := listCreated(t.Context(), cluster); err != nil {
		t.Error(err)
	}
}

// TestProxyOfTheEnvironmentFile: a proxy that is named there only is the way to
// the cluster. It is asked for a tunnel, and refuses.
func TestProxyOfTheEnvironmentFile(t *testing.T) {
	t.Parallel()
	asked := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.Host
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	elsewhere := strings.ReplaceAll(string(serve(t, answer)), "https://127.0.0.1", "https://cluster.invalid")
	cluster := connect(t, []byte(elsewhere), map[string]string{"HTTPS_PROXY": proxy.URL})
	if _, err := listCreated(t.Context(), cluster); err == nil || !strings.HasPrefix(asked, "CONNECT cluster.invalid:") {
		t.Errorf("error %v; the proxy was asked for %q", err, asked)
	}
}

func connect(t *testing.T, kubeconfig []byte, env map[string]string) *kubeapi.Cluster {
	t.Helper()
	cluster, err := kubeapi.Connect(kubeconfig, env)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// serve starts an API server that wants a token, and returns its kubeconfig.
func serve(t *testing.T, answer func(path string) (int, string)) []byte {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" || r.Method != http.MethodGet {
			t.Errorf("unexpected %s %s", r.Method, r.URL)
		}
		status, body := answer(r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return kubeconfigOf(server, "token: sesame")
}

func kubeconfigOf(server *httptest.Server, user string) []byte {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return []byte(`apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {server: "` + server.URL + `", certificate-authority-data: ` + base64.StdEncoding.EncodeToString(authority) + `}
users:
- name: u
  user:
    ` + user + `
contexts:
- name: x
  context: {cluster: c, user: u}
current-context: x
`)
}
