package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// standInNode is a node of a real cluster on which nothing runs: it says of every
// Pod that it is ready, or done where it belongs to a Job. Images that cannot be
// had here keep no chart from being installed then.
type standInNode struct {
	base   *url.URL
	client *http.Client
	ready  map[string]bool // Pods, by their uid, that were marked ready
}

const (
	standIn            = "stand-in"
	standInProvisioner = "example.com/stand-in" // of the StorageClasses whose volumes it makes
)

// object is one of Kubernetes, as JSON.
type object = map[string]any

// startStandIn adds the node to the cluster of a kubeconfig, which no other node takes Pods of then, and keeps it going
// until the test ends. It follows the file to another cluster.
func startStandIn(t *testing.T, kubeconfig string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var n *standInNode
		var known []byte
		for beat := 0; ctx.Err() == nil; beat++ {
			content, err := os.ReadFile(kubeconfig)
			if err == nil && !bytes.Equal(content, known) {
				if joined, err := join(ctx, content); err == nil {
					n, known = joined, content
				}
			}
			if n != nil {
				n.keepGoing(ctx, beat)
			}
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// join adds a stand-in to a cluster.
func join(ctx context.Context, kubeconfig []byte) (*standInNode, error) {
	n, err := connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	return n, n.register(ctx)
}

// connect makes a client of a cluster.
func connect(kubeconfig []byte) (*standInNode, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.Timeout = 10 * time.Second
	n := &standInNode{ready: map[string]bool{}}
	if n.client, err = rest.HTTPClientFor(config); err != nil {
		return nil, err
	}
	n.base, err = url.Parse(config.Host)
	return n, err
}

// call asks the API server; content is nil for a question without any.
func (n *standInNode) call(ctx context.Context, method, path, kind string, content any) (object, error) {
	var body []byte
	if content != nil {
		var err error
		if body, err = json.Marshal(content); err != nil {
			return nil, err
		}
	}
	path, query, _ := strings.Cut(path, "?")
	address := n.base.JoinPath(path)
	address.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	response, err := n.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	var answer object
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer, err
}

const (
	asJSON  = "application/json"
	asMerge = "application/merge-patch+json"
)

// register makes the node, which has room for everything, and has the others take no Pods.
func (n *standInNode) register(ctx context.Context) error {
	nodes, err := n.call(ctx, http.MethodGet, "api/v1/nodes", asJSON, nil)
	if err != nil {
		return err
	}
	known := false
	for _, node := range list(nodes, "items") {
		meta, _ := node["metadata"].(object)
		if meta["name"] == standIn {
			known = true
			continue
		}
		taint := []object{{"key": standIn, "value": "elsewhere", "effect": "NoExecute"}}
		if _, err := n.call(ctx, http.MethodPatch, "api/v1/nodes/"+fmt.Sprint(meta["name"]), asMerge, object{"spec": object{"taints": taint}}); err != nil {
			return err
		}
	}
	if !known {
		_, err := n.call(ctx, http.MethodPost, "api/v1/nodes", asJSON, object{
			"metadata": object{"name": standIn, "labels": object{"kubernetes.io/hostname": standIn, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}},
		})
		if err != nil {
			return err
		}
	}
	room := object{"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "500"}
	_, err = n.call(ctx, http.MethodPatch, "api/v1/nodes/"+standIn+"/status", asMerge, object{"status": object{
		"capacity": room, "allocatable": room, "nodeInfo": object{"architecture": "amd64", "operatingSystem": "linux"},
		"addresses":  []object{{"type": "InternalIP", "address": "192.0.2.1"}},
		"conditions": []object{nodeCondition("Ready", "True")},
	}})
	return err
}

func nodeCondition(kind, status string) object {
	now := time.Now().UTC().Format(time.RFC3339)
	return object{"type": kind, "status": status, "reason": "StandIn", "lastHeartbeatTime": now, "lastTransitionTime": now}
}

// keepGoing looks after the node and its Pods, once. What fails is tried again in the next beat.
func (n *standInNode) keepGoing(ctx context.Context, beat int) {
	if beat%20 == 0 {
		_, _ = n.call(ctx, http.MethodPatch, "api/v1/nodes/"+standIn+"/status", asMerge,
			object{"status": object{"conditions": []object{nodeCondition("Ready", "True")}}})
	}
	if pods, err := n.call(ctx, http.MethodGet, "api/v1/pods?fieldSelector=spec.nodeName%3D"+standIn, asJSON, nil); err == nil {
		for _, pod := range list(pods, "items") {
			n.look(ctx, pod)
		}
	}
	n.provideVolumes(ctx)
	n.excuseWebhooks(ctx)
	n.reportIngresses(ctx)
}

// provideVolumes makes the volumes that claims of its StorageClasses ask for, and enlarges them.
func (n *standInNode) provideVolumes(ctx context.Context) {
	claims, err := n.call(ctx, http.MethodGet, "api/v1/persistentvolumeclaims", asJSON, nil)
	if err != nil {
		return
	}
	for _, claim := range list(claims, "items") {
		meta, _ := claim["metadata"].(object)
		spec, _ := claim["spec"].(object)
		status, _ := claim["status"].(object)
		annotations, _ := meta["annotations"].(object)
		if meta["deletionTimestamp"] != nil || annotations["volume.kubernetes.io/storage-provisioner"] != standInProvisioner {
			continue
		}
		resources, _ := spec["resources"].(object)
		size := resources["requests"]
		if spec["volumeName"] == nil {
			_, _ = n.call(ctx, http.MethodPost, "api/v1/persistentvolumes", asJSON, object{
				"metadata": object{"name": meta["uid"]},
				"spec": object{
					"capacity": size, "accessModes": spec["accessModes"], "storageClassName": spec["storageClassName"], "persistentVolumeReclaimPolicy": "Retain",
					"hostPath": object{"path": "/nowhere"},
					"claimRef": object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]},
				},
			})
			continue
		}
		if capacity := status["capacity"]; status["phase"] == "Bound" && !reflect.DeepEqual(capacity, size) {
			_, _ = n.call(ctx, http.MethodPatch, "api/v1/persistentvolumes/"+fmt.Sprint(spec["volumeName"]), asMerge, object{"spec": object{"capacity": size}})
			path := fmt.Sprintf("api/v1/namespaces/%s/persistentvolumeclaims/%s/status", meta["namespace"], meta["name"])
			_, _ = n.call(ctx, http.MethodPatch, path, asMerge, object{"status": object{"capacity": size, "conditions": nil}})
		}
	}
}

// reportIngresses gives Ingresses the address that a controller would.
func (n *standInNode) reportIngresses(ctx context.Context) {
	const group = "apis/networking.k8s.io/v1/"
	all, err := n.call(ctx, http.MethodGet, group+"ingresses", asJSON, nil)
	if err != nil {
		return
	}
	for _, ingress := range list(all, "items") {
		meta, _ := ingress["metadata"].(object)
		status, _ := ingress["status"].(object)
		balancer, _ := status["loadBalancer"].(object)
		if len(list(balancer, "ingress")) == 0 {
			address := object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}}
			path := fmt.Sprintf("%snamespaces/%s/ingresses/%s/status", group, meta["namespace"], meta["name"])
			_, _ = n.call(ctx, http.MethodPatch, path, asMerge, object{"status": address})
		}
	}
}

// excuseWebhooks has the API server go on without webhooks: their Pods do not run.
func (n *standInNode) excuseWebhooks(ctx context.Context) {
	for _, kind := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		path := "apis/admissionregistration.k8s.io/v1/" + kind
		all, err := n.call(ctx, http.MethodGet, path, asJSON, nil)
		if err != nil {
			continue
		}
		for _, configuration := range list(all, "items") {
			strict := false
			for _, webhook := range list(configuration, "webhooks") {
				strict = strict || webhook["failurePolicy"] == "Fail"
				webhook["failurePolicy"], webhook["timeoutSeconds"] = "Ignore", 1
			}
			meta, _ := configuration["metadata"].(object)
			if strict {
				_, _ = n.call(ctx, http.MethodPut, path+"/"+fmt.Sprint(meta["name"]), asJSON, configuration)
			}
		}
	}
}

// look does to a Pod what a kubelet would.
func (n *standInNode) look(ctx context.Context, pod object) {
	meta, _ := pod["metadata"].(object)
	path := fmt.Sprintf("api/v1/namespaces/%s/pods/%s", meta["namespace"], meta["name"])
	uid := fmt.Sprint(meta["uid"])
	switch {
	case meta["deletionTimestamp"] != nil:
		_, _ = n.call(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", asJSON, nil)
	case !n.ready[uid]:
		_, err := n.call(ctx, http.MethodPatch, path+"/status", asMerge, object{"status": podStatus(pod, len(n.ready)+2)})
		n.ready[uid] = err == nil
	}
}

// podStatus returns the status of a Pod that runs, or has run if it belongs to a Job.
func podStatus(pod object, number int) object {
	meta, _ := pod["metadata"].(object)
	spec, _ := pod["spec"].(object)
	now := time.Now().UTC().Format(time.RFC3339)
	ended := object{"terminated": object{"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
	phase, state, ready := "Running", object{"running": object{"startedAt": now}}, "True"
	if slices.ContainsFunc(list(meta, "ownerReferences"), func(o object) bool { return o["kind"] == "Job" }) {
		phase, state, ready = "Succeeded", ended, "False"
	}
	return object{
		"phase": phase, "startTime": now, "podIP": fmt.Sprintf("192.0.2.%d", number%250), "podIPs": []object{{"ip": fmt.Sprintf("192.0.2.%d", number%250)}},
		"conditions": []object{
			nodeCondition("PodScheduled", "True"), nodeCondition("Initialized", "True"), nodeCondition("ContainersReady", ready), nodeCondition("Ready", ready),
		},
		"initContainerStatuses": containerStatuses(list(spec, "initContainers"), ended, true),
		"containerStatuses":     containerStatuses(list(spec, "containers"), state, ready == "True"),
	}
}

func containerStatuses(containers []object, state object, ready bool) []object {
	all := []object{}
	for _, c := range containers {
		all = append(all, object{
			"name": c["name"], "image": c["image"], "imageID": "", "restartCount": 0, "ready": ready, "started": ready, "state": state,
		})
	}
	return all
}

// list returns a list of objects in an object.
func list(o object, key string) []object {
	raw, _ := o[key].([]any)
	var all []object
	for _, one := range raw {
		if o, ok := one.(object); ok {
			all = append(all, o)
		}
	}
	return all
}
