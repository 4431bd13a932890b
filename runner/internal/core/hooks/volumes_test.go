package hooks

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
)

// deployedVolume is the state of a StatefulSet whose Pods have 5Gi each.
const deployedVolume = `[{"type": "kubernetes:apps/v1:StatefulSet", "urn": "urn:pulumi:dev::p::t::n", "id": "bank-of-anthos/db",
	"inputs": {"spec": {"volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": "5Gi"}}}}]}}}]`

// bank is a project with volumes.
func bank(size string) (plan.Step, config.Values) {
	step := plan.Step{Project: model.Project{Name: "bank-of-anthos", Namespace: "bank-of-anthos", Volumes: &model.Volumes{Key: "bank:size"}}}
	return step, config.Values{Get: func(key string) any { return map[string]any{"bank:size": size}[key] }}
}

// TestVolumesInASimulation: the rules of a real cluster hold there, in a preview as well as in an up.
func TestVolumesInASimulation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		size, class  string // class is the deployed one
		fixed        bool
		said, refuse string
	}{
		{size: "5Gi"},
		{size: "5120Mi", fixed: true},
		{size: "10Gi", said: "SIMULATED: the volumes grow from 5Gi to 10Gi while their Pods run"},
		{size: "10Gi", fixed: true, refuse: "the volumes of bank-of-anthos cannot be made bigger, from 5Gi to 10Gi"},
		{size: "5Gi", class: "slow", refuse: "is linode-block-storage, and the volumes that are deployed are of slow: none can get another class"},
		{size: "1Gi", refuse: "is 1Gi, and the volumes that are deployed have 5Gi: none can be made smaller"},
	} {
		for _, op := range []operation.Operation{operation.Preview, operation.Up} {
			h := sessionWith(t, answers{state: strings.Replace(deployedVolume, `"resources"`, `"storageClassName": "`+test.class+`", "resources"`, 1)})
			h.Simulated, h.Provider.FixedVolumes = true, test.fixed
			var step plan.Step
			step, h.Values = bank(test.size)
			said := ""
			err := h.Before(op, false)(t.Context(), step, func(e event.Event) { said += e.Message })
			if said != test.said || (err == nil) != (test.refuse == "") || err != nil && !strings.Contains(err.Error(), test.refuse) {
				t.Errorf("%s of %s: said %q, error %v", op, test.size, said, err)
			}
		}
	}
}

// TestVolumesGrow: an up makes the claims bigger and the StatefulSet anew; a preview says so and changes nothing.
func TestVolumesGrow(t *testing.T) {
	t.Parallel()
	for op, want := range map[operation.Operation][]string{
		operation.Preview: nil,
		operation.Up: {
			"PATCH /api/v1/namespaces/bank-of-anthos/persistentvolumeclaims/data-db-0",
			"DELETE /apis/apps/v1/namespaces/bank-of-anthos/statefulsets/db",
		},
	} {
		var changes []string
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method != http.MethodGet {
				changes = append(changes, r.Method+" "+r.URL.Path)
			}
			switch _, name, _ := strings.Cut(r.URL.Path, "/bank-of-anthos/"); {
			case name == "statefulsets":
				fmt.Fprint(w, `{"apiVersion": "apps/v1", "kind": "StatefulSetList", "items": [{"metadata": {"name": "db", "uid": "u"}, "spec": {"volumeClaimTemplates": [
					{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "5Gi"}}}}]}}]}`)
			case name == "persistentvolumeclaims":
				fmt.Fprint(w, `{"apiVersion": "v1", "kind": "PersistentVolumeClaimList", "items": [{"metadata": {"name": "data-db-0"},
					"spec": {"storageClassName": "linode-block-storage", "resources": {"requests": {"storage": "5Gi"}}}}]}`)
			case strings.HasSuffix(r.URL.Path, "/storageclasses/linode-block-storage"):
				fmt.Fprint(w, `{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "linode-block-storage"}, "allowVolumeExpansion": true}`)
			case r.Method == http.MethodPatch:
				fmt.Fprint(w, `{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data-db-0"}}`)
			case r.Method == http.MethodDelete:
				fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`)
			default:
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`)
			}
		}))
		t.Cleanup(server.Close)
		authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		h := sessionWith(t, answers{state: deployedVolume, outputs: map[string]any{"kubeconfig": strings.Replace(clusterConfig,
			`{server: "https://10.0.0.1:6443"}`, `{server: "`+server.URL+`", certificate-authority-data: `+base64.StdEncoding.EncodeToString(authority)+`}`, 1)}})
		var step plan.Step
		step, h.Values = bank("10Gi")
		said := ""
		err := h.Before(op, false)(t.Context(), step, func(e event.Event) { said += e.Message })
		if err != nil || !strings.Contains(said, "data-db-0 grows from 5Gi to 10Gi") || !slices.Equal(changes, want) {
			t.Errorf("%s: changes %q, said %q, error %v", op, changes, said, err)
		}
	}
}
