// Package kube is the directory for Kubernetes: kubeconfigs, clients that
// only read, live objects, manifests and charts, mirrors of images, backups, and
// resources for the Pulumi Kubernetes Operator.
//
// It may import machine and run.
package kube
