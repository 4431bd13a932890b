// Package kube is the directory for Kubernetes: kubeconfigs, clients that
// only read, live objects, manifests, and volumes, which get bigger.
//
// It may import machine and event.
package kube
