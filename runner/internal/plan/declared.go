package plan

import (
	"maps"
	"time"
)

// Declared are estimates for a first deployment, for as long as no run tells
// better: what the projects usually take on a real cloud.
func Declared() Estimates {
	return Estimates{
		Known: map[string]time.Duration{
			"aws-vpc":                      3 * time.Minute,
			"aws-eks":                      13 * time.Minute,
			"aws-ecr":                      5 * time.Second,
			"linode-lke":                   5 * time.Minute,
			"kind-cluster":                 90 * time.Second,
			"kind-registry":                20 * time.Second,
			"kubeconfig":                   2 * time.Second,
			"secrets":                      5 * time.Second,
			"linode-harbor":                4 * time.Minute,
			"linode-harbor-configuration":  15 * time.Second,
			"kic-image-build":              3 * time.Minute,
			"kic-image-push":               time.Minute,
			"ingress-controller-namespace": 3 * time.Second,
			"linode-registry-credentials":  5 * time.Second,
			"ingress-controller":           90 * time.Second,
			"logstore":                     5 * time.Minute,
			"logagent":                     time.Minute,
			"certmgr":                      time.Minute,
			"prometheus":                   3 * time.Minute,
			"observability":                90 * time.Second,
			"bank-of-anthos":               4 * time.Minute,
		},
		Default: time.Minute,
	}
}

// Or fills in what is not known from other estimates.
func (e Estimates) Or(other Estimates) Estimates {
	known := map[string]time.Duration{}
	maps.Copy(known, other.Known)
	maps.Copy(known, e.Known)
	return Estimates{Known: known, Default: other.Default}
}
