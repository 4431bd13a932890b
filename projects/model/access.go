package model

import "strings"

// Access is a resource of the API server that a project makes, changes and removes.
type Access struct {
	Group, Resource string
	Namespace       string // "" for a resource of the whole cluster
}

// Name returns the resource as kubectl names it: "deployments.apps".
func (a Access) Name() string { return strings.TrimSuffix(a.Resource+"."+a.Group, ".") }

// AccessTo makes accesses of names such as deployments.apps.
func AccessTo(namespace string, names ...string) []Access {
	var all []Access
	for _, name := range names {
		resource, group, _ := strings.Cut(name, ".")
		all = append(all, Access{Group: group, Resource: resource, Namespace: namespace})
	}
	return all
}
