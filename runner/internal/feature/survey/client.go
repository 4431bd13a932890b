// Package survey asks the API server of a cluster that is there already what differs between clusters: who made it,
// how it is entered, what others have installed, and what the user of the kubeconfig may do. It changes nothing.
package survey

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"mara/config/files"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/kubeconfig"
)

// Clients returns clients of clusters that are there already, and those of others for providers with a cloud.
func Clients(others cloud.Clients) cloud.Clients {
	return func(ctx context.Context, provider string, access cloud.Access) (cloud.Client, error) {
		infrastructure, ok := projects.InfrastructureByName(provider)
		if ok && infrastructure.Existing != nil {
			return client{access}, nil
		}
		return others(ctx, provider, access)
	}
}

// client asks the cluster of one context.
type client struct{ access cloud.Access }

// Account implements cloud.Client: it returns the user that the API server sees.
func (c client) Account(ctx context.Context) (cloud.Account, error) {
	s, err := c.connect()
	if err != nil {
		return cloud.Account{}, err
	}
	answer, err := s.review(ctx, "authentication.k8s.io", "SelfSubjectReview", nil)
	if apierrors.IsNotFound(err) { // before Kubernetes 1.28
		_, err := s.kinds.ServerVersion()
		return cloud.Account{Name: "context " + c.access.Context}, c.explain(ctx, err)
	}
	if err != nil {
		return cloud.Account{}, c.explain(ctx, err)
	}
	name, _, _ := unstructured.NestedString(answer.Object, "status", "userInfo", "username")
	return cloud.Account{Name: fmt.Sprintf("%s in context %s", name, c.access.Context)}, nil
}

// Choices implements cloud.Client.
func (c client) Choices(ctx context.Context, list model.List) ([]cloud.Choice, error) {
	lists := cloud.Lists{
		model.Kubeconfigs: c.kubeconfigs,
		model.Contexts:    c.contexts,
		model.Identities:  c.identities,
	}
	return lists.Choices(ctx, list, func(err error) error { return err })
}

// kubeconfigs lists the kubeconfig files that kubectl reads.
func (c client) kubeconfigs(context.Context) ([]cloud.Choice, error) {
	var choices []cloud.Choice
	for _, file := range kubeconfig.Files(c.access.Env["KUBECONFIG"], c.access.Env["HOME"]) {
		absolute, err := filepath.Abs(file)
		if _, missing := os.Stat(file); err == nil && missing == nil {
			choices = append(choices, cloud.Choice{Value: absolute})
		}
	}
	return choices, nil
}

// contexts lists the contexts of the kubeconfig.
func (c client) contexts(context.Context) ([]cloud.Choice, error) {
	content, err := files.Read(c.access.Kubeconfig, files.Text)
	if err != nil {
		return nil, &cloud.Error{Text: fmt.Sprintf("the kubeconfig cannot be read: %v", err), Err: err}
	}
	names, clusters, err := projects.Contexts(content)
	if err != nil {
		return nil, &cloud.Error{Text: fmt.Sprintf("%s %v", c.access.Kubeconfig, err), Err: err}
	}
	var choices []cloud.Choice
	for i, name := range names {
		choices = append(choices, cloud.Choice{Value: name, Note: "cluster " + clusters[i]})
	}
	return choices, nil
}

// identities lists the cluster that the context leads to.
func (c client) identities(ctx context.Context) ([]cloud.Choice, error) {
	s, err := c.connect()
	if err != nil {
		return nil, err
	}
	uid, err := s.identity(ctx)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	return []cloud.Choice{{Value: uid, Note: "that of context " + c.access.Context}}, nil
}

// identity returns the UID of the namespace kube-system, which no other cluster has, and which stays when the cluster
// is upgraded or gets another address.
func (s server) identity(ctx context.Context) (string, error) {
	system, err := s.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
		Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("asked for the namespace %s: %w", metav1.NamespaceSystem, err)
	}
	return string(system.GetUID()), nil
}

// server is the API server of a cluster.
type server struct {
	objects dynamic.Interface
	kinds   *discovery.DiscoveryClient
}

// connect makes clients of the context.
func (c client) connect() (server, error) {
	switch {
	case c.access.Context == "":
		return server{}, &cloud.Error{Text: "no context is named", Next: "set cluster:context", Unsure: true}
	case c.access.Kubeconfig == "":
		return server{}, &cloud.Error{Text: "the cluster was not asked: its kubeconfig is a secret, or not named",
			Next: "set cluster:kubeconfig to a file to have the cluster asked", Unsure: true}
	}
	config, err := c.config()
	if err != nil {
		return server{}, err
	}
	config.Timeout = cloud.Patience
	config.Wrap(kubeapi.OnlyReads)
	var s server
	if s.objects, err = dynamic.NewForConfig(config); err == nil {
		s.kinds, err = discovery.NewDiscoveryClientForConfig(config)
	}
	if err != nil {
		return s, &cloud.Error{Text: fmt.Sprintf("the context %s cannot be used: %v", c.access.Context, err), Err: err}
	}
	return s, nil
}

// config returns the settings of the context.
func (c client) config() (*rest.Config, error) {
	content, err := files.Read(c.access.Kubeconfig, files.Text)
	if err != nil {
		return nil, &cloud.Error{Text: fmt.Sprintf("the kubeconfig cannot be read: %v", err), Err: err,
			Next: "set cluster:kubeconfig to the file"}
	}
	one, _, err := projects.OneContext(content, c.access.Kubeconfig, c.access.Kubeconfig, c.access.Context)
	if err != nil {
		return nil, &cloud.Error{Text: err.Error(), Err: err, Next: "set cluster:context to one that is there"}
	}
	config, err := kubeconfig.Config([]byte(one), c.access.Env)
	if err != nil {
		return nil, &cloud.Error{Text: err.Error(), Err: err}
	}
	return config, nil
}

// expired says when the client certificate of the context has expired; "" if it has none, or if it still counts.
func (c client) expired(now time.Time) string {
	config, err := c.config()
	if err != nil || rest.LoadTLSFiles(config) != nil {
		return ""
	}
	block, _ := pem.Decode(config.CertData)
	if block == nil {
		return ""
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || now.Before(certificate.NotAfter) {
		return ""
	}
	return ": its client certificate has expired on " + certificate.NotAfter.UTC().Format(time.DateOnly)
}

// explain says in a sentence why the cluster has not answered.
func (c client) explain(ctx context.Context, err error) error {
	name := "the cluster of context " + c.access.Context
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return cmp.Or(cloud.Late(name, context.Cause(ctx)), context.Cause(ctx))
	case apierrors.IsUnauthorized(err):
		return &cloud.Error{Text: name + " refuses the credentials" + c.expired(time.Now()), Err: err,
			Next: "log in again; kubectl has the same answer with this context"}
	case apierrors.IsForbidden(err):
		return &cloud.Error{Text: name + " refuses: " + err.Error(), Err: err, Unsure: true}
	}
	return &cloud.Error{Text: name + " gave no answer: " + err.Error(), Err: err, Unreachable: true,
		Next: "check that kubectl has an answer with this context, from this machine"}
}

// review sends a question to the API server as an object to create, and returns the answer.
func (s server) review(ctx context.Context, group, kind string, spec map[string]any) (
	*unstructured.Unstructured, error) {
	question := map[string]any{"apiVersion": group + "/v1", "kind": kind}
	if spec != nil {
		question["spec"] = spec
	}
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: strings.ToLower(kind) + "s"}
	return s.objects.Resource(resource).Create(ctx, &unstructured.Unstructured{Object: question}, metav1.CreateOptions{})
}
