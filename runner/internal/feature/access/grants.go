// Package access asks a cluster what groups of people may do in it, compares that with their roles, and has it issue
// tokens of their accounts, which expire.
package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/projects"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/parallel"
)

// Changes lists the objects that this package has the API server create. None of them is stored.
func Changes() []string {
	return []string{"create subjectaccessreviews.authorization.k8s.io", "create token"}
}

// Power is something that a group may be able to do.
type Power struct {
	Name, Verb, Group, Resource string

	roles []string // that give it
}

// Powers lists what is asked about each group.
func Powers() []Power {
	const admin, developer, viewer = projects.AdminRole, projects.DeveloperRole, projects.ViewerRole
	const rbac, network = "rbac.authorization.k8s.io", "networking.k8s.io"
	return []Power{
		{"read", "get", "apps", "deployments", []string{admin, developer, viewer}},
		{"change", "update", "apps", "deployments", []string{admin, developer}},
		{"start Pods", "create", "", "pods", []string{admin, developer}},
		{"read Secrets", "get", "", "secrets", []string{admin, developer}},
		{"give rights", "create", rbac, "rolebindings", []string{admin}},
		{"change quotas", "update", "", "resourcequotas", []string{admin}},
		{"change policies", "update", network, "networkpolicies", []string{admin, developer}},
	}
}

// Row is what a group may do in a namespace or, if there is none, in all of them.
type Row struct {
	Group     string          `json:"group"`
	Role      string          `json:"role"`
	Namespace string          `json:"namespace,omitempty"`
	May       map[string]bool `json:"may"` // by the name of the power
	// Differs lists the powers that the role gives and the group lacks, or the reverse.
	Differs []string `json:"differs,omitempty"`
}

// Ask asks the API server what groups may do where they have their role. Of developers it asks about the whole cluster
// as well, where their role gives them nothing.
func Ask(ctx context.Context, c *kubeapi.Cluster, groups []projects.Group) ([]Row, error) {
	var rows []Row
	type question struct {
		row   int
		power Power
	}
	var questions []question
	for _, group := range groups {
		for _, namespace := range append(slices.Clone(group.Namespaces), "") {
			for _, power := range Powers() {
				questions = append(questions, question{len(rows), power})
			}
			rows = append(rows, Row{Group: group.Name, Role: group.Role, Namespace: namespace, May: map[string]bool{}})
		}
	}
	answers, err := parallel.Each(ctx, questions, func(ctx context.Context, q question) (bool, error) {
		return may(ctx, c, rows[q.row], q.power)
	})
	if err != nil {
		return nil, err
	}
	for i, allowed := range answers {
		row, power := &rows[questions[i].row], questions[i].power
		row.May[power.Name] = allowed
		isGiven := slices.Contains(power.roles, row.Role) && (row.Role != projects.DeveloperRole || row.Namespace != "")
		if allowed != isGiven {
			row.Differs = append(row.Differs, power.Name)
		}
	}
	return rows, nil
}

// may asks whether a member of a group may do something. It names no user of whom the cluster could know more.
func may(ctx context.Context, c *kubeapi.Cluster, row Row, power Power) (bool, error) {
	review := authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "mara:member-of-" + row.Group, Groups: []string{row.Group, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: row.Namespace, Verb: power.Verb, Group: power.Group, Resource: power.Resource,
			},
		},
	}
	resource := authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews")
	if err := create(ctx, c, resource, "", &review); err != nil {
		if apierrors.IsForbidden(err) {
			err = errors.New("the user of the kubeconfig may not create subjectaccessreviews.authorization.k8s.io")
		}
		return false, fmt.Errorf("asking what the group %s may do: %w", row.Group, err)
	}
	return review.Status.Allowed, nil
}

// Shortest is the shortest time for which the API server issues tokens.
const Shortest = 10 * time.Minute

// Token has the API server issue a token of the account of a group. The token expires, as the API server decides, at
// the time that is returned.
func Token(ctx context.Context, c *kubeapi.Cluster, namespace, group string, valid time.Duration) (
	token string, expires time.Time, err error) {
	seconds := int64(valid.Seconds())
	request := authenticationv1.TokenRequest{
		TypeMeta:   metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenRequest"},
		ObjectMeta: metav1.ObjectMeta{Name: group},
		Spec:       authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}
	accounts := schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	err = create(ctx, c, accounts, namespace, &request, "token")
	switch {
	case apierrors.IsNotFound(err):
		err = fmt.Errorf("the cluster has no ServiceAccount %s/%s; `runner up` makes it", namespace, group)
	case apierrors.IsForbidden(err):
		err = errors.New("the user of the kubeconfig may not create serviceaccounts/token")
	case err == nil && request.Status.Token == "":
		err = errors.New("the API server issued none")
	}
	if err != nil {
		return "", time.Time{}, fmt.Errorf("making a token for %s: %w", group, err)
	}
	return request.Status.Token, request.Status.ExpirationTimestamp.Time, nil
}

// create sends an object, and reads the answer into it.
func create(ctx context.Context, c *kubeapi.Cluster, resource schema.GroupVersionResource, namespace string, object any,
	subresource ...string) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	answer, err := c.Objects.Resource(resource).Namespace(namespace).
		Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{}, subresource...)
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, object)
}

// Differences describes what groups may do and their roles do not give, and the reverse, a line each.
func Differences(rows []Row) []string {
	var lines []string
	for _, row := range rows {
		where := "in all namespaces"
		if row.Namespace != "" {
			where = "in " + row.Namespace
		}
		more := slices.DeleteFunc(slices.Clone(row.Differs), func(name string) bool { return !row.May[name] })
		less := slices.DeleteFunc(slices.Clone(row.Differs), func(name string) bool { return row.May[name] })
		if len(more) > 0 {
			lines = append(lines, fmt.Sprintf("%s may %s %s, which the role %s does not give: another binding of the "+
				"cluster does", row.Group, strings.Join(more, ", "), where, row.Role))
		}
		if len(less) > 0 {
			lines = append(lines, fmt.Sprintf("%s may not %s %s, which the role %s gives: the project access is not "+
				"deployed as configured", row.Group, strings.Join(less, ", "), where, row.Role))
		}
	}
	return lines
}
