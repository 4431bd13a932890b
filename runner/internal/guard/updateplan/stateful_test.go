package updateplan

import "testing"

func TestIsHarmless(t *testing.T) {
	t.Parallel()
	more := []string{"mine:", "shop:index:Banner"}
	for token, want := range map[string]bool{
		"aws:ecs/taskDefinition:TaskDefinition":               true,
		"kubernetes:core/v1:ConfigMap":                        true,
		"kubernetes:core/v1:ConfigMapPatch":                   false,
		"kubernetes:core/v1:PodTemplate":                      false,
		"kubernetes:helm.sh/v3:Release":                       false,
		"kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": true,
		"mongodbatlas:index/cluster:Cluster":                  false,
		"azure-native:storage/v20230101:StorageAccount":       false,
		"mine:index:Anything":                                 true,
		"mines:index:Anything":                                false,
		"shop:index:Banner":                                   true,
		"shop:index:BannerAd":                                 false,
		"aws:rds/instance:Instance":                           false,
		"random:index/randomPassword:RandomPassword":          false,
	} {
		if got := IsHarmless(token, more); got != want {
			t.Errorf("%s: %t", token, got)
		}
	}
	for _, token := range stateful {
		if IsHarmless(token, nil) {
			t.Errorf("%s holds data and is harmless", token)
		}
	}
}
