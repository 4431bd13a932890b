package clouds_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

const (
	eksType     = "aws:eks/cluster:Cluster"
	lkeType     = "linode:index/lkeCluster:LkeCluster"
	doksType    = "digitalocean:index/kubernetesCluster:KubernetesCluster"
	machineType = "linode:index/instance:Instance"
	releaseType = "kubernetes:helm.sh/v3:Release"
	setType     = "kubernetes:apps/v1:StatefulSet"
	claimType   = "kubernetes:core/v1:PersistentVolumeClaim"
	volumeType  = "kubernetes:core/v1:PersistentVolume"
	serviceType = "kubernetes:core/v1:Service"
	jobType     = "kubernetes:batch/v1:Job"
	podType     = "kubernetes:core/v1:Pod"
	mapType     = "kubernetes:core/v1:ConfigMap"
	className   = "kubernetes:storage.k8s.io/v1:StorageClass"
)

// TestChangesThatAreRefused: what a cloud refuses to change is refused in a preview, too.
func TestChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	opensearch := func(class string) object {
		return object{"name": "o", "chart": "oci://x/opensearch", "values": object{"persistence": object{"storageClass": class}}}
	}
	claim := func(size string) object {
		return object{"metadata": meta("p"), "spec": object{"resources": object{"requests": object{"storage": size}}}}
	}
	pools := func(encryption string) object {
		return object{"pools": list(object{"type": "g6-standard-2", "count": 1, "diskEncryption": encryption})}
	}
	for _, test := range []struct {
		name, token   string
		before, after object
		want          string // "" if the change is allowed
	}{
		{"EKS up by one", eksType, object{"version": "1.33"}, object{"version": "1.34"}, ""},
		{"EKS up by three", eksType, object{"version": "1.33"}, object{"version": "1.36"}, "Unsupported Kubernetes minor version update from 1.33 to 1.36"},
		{"EKS down", eksType, object{"version": "1.34"}, object{"version": "1.33"}, "Unsupported Kubernetes minor version update from 1.34 to 1.33"},
		{"EKS without a version", eksType, object{}, object{"version": "1.36"}, ""},
		{"LKE up by one", lkeType, object{"k8sVersion": "1.33"}, object{"k8sVersion": "1.34"}, ""},
		{"LKE up by two", lkeType, object{"k8sVersion": "1.33"}, object{"k8sVersion": "1.35"}, "[400] [k8s_version]"},
		{"LKE down", lkeType, object{"k8sVersion": "1.34"}, object{"k8sVersion": "1.33"}, "[400] [k8s_version]"},
		{"LKE without high availability", lkeType, object{"controlPlane": object{"highAvailability": true}},
			object{"controlPlane": object{"highAvailability": false}}, "irreversible change"},
		{"LKE with high availability", lkeType, object{"controlPlane": object{"highAvailability": false}},
			object{"controlPlane": object{"highAvailability": true}}, ""},
		{"LKE without encrypted disks", lkeType, pools("enabled"), pools("disabled"), "[400] [disk_encryption]"},
		{"DOKS up by one", doksType, object{"version": "1.33.1-do.0"}, object{"version": "1.34.0-do.0"}, ""},
		{"DOKS up by two", doksType, object{"version": "1.33.1-do.0"}, object{"version": "1.35.0-do.0"}, "422 invalid upgrade path"},
		{"DOKS without high availability", doksType, object{"ha": true}, object{"ha": false}, "high availability cannot be disabled"},
		{"claim templates of a chart", releaseType, opensearch("a"), opensearch("b"), `StatefulSet.apps "opensearch-cluster-master" is invalid: spec: Forbidden`},
		{"a larger claim", "kubernetes:core/v1:PersistentVolumeClaim", claim("8Gi"), claim("16Gi"), ""},
		{"a smaller claim", "kubernetes:core/v1:PersistentVolumeClaim", claim("16Gi"), claim("8Gi"), "field can not be less than status.capacity"},
		{"mode of a claim", claimType, object{"spec": object{"volumeMode": "Filesystem"}}, object{"spec": object{"volumeMode": "Block"}}, "spec.volumeMode: Invalid value: \"Block\": field is immutable"},
		{"default mode of a claim", claimType, object{"spec": object{}}, object{"spec": object{"volumeMode": "Filesystem"}}, ""},
		{"source of a claim", claimType, object{"spec": object{}}, object{"spec": object{"dataSource": object{"kind": "VolumeSnapshot", "name": "s"}}},
			"spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"},
		{"affinity of a volume", volumeType, object{"spec": object{"nodeAffinity": object{"required": object{}}}}, object{"spec": object{}}, "spec.nodeAffinity: Invalid value: null: field is immutable"},
		{"first affinity of a volume", volumeType, object{"spec": object{}}, object{"spec": object{"nodeAffinity": object{"required": object{}}}}, ""},
		{"addresses of a Service", serviceType, object{"spec": object{"clusterIPs": list("10.0.0.1")}}, object{"spec": object{"clusterIPs": list("10.0.0.2")}},
			"spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set"},
		{"a second family of a Service", serviceType, object{"spec": object{"ipFamilies": list("IPv4")}}, object{"spec": object{"ipFamilies": list("IPv4", "IPv6")}}, ""},
		{"the first family of a Service", serviceType, object{"spec": object{"ipFamilies": list("IPv4")}}, object{"spec": object{"ipFamilies": list("IPv6")}}, "spec.ipFamilies[0]"},
		{"families of a headless Service", serviceType, object{"spec": object{"clusterIP": "None", "ipFamilies": list("IPv4")}},
			object{"spec": object{"clusterIP": "None", "ipFamilies": list("IPv6")}}, ""},
		{"class of a load balancer", serviceType, object{"spec": object{"type": "LoadBalancer"}}, object{"spec": object{"type": "LoadBalancer", "loadBalancerClass": "a/b"}}, "spec.loadBalancerClass"},
		{"class with the type", serviceType, object{"spec": object{}}, object{"spec": object{"type": "LoadBalancer", "loadBalancerClass": "a/b"}}, ""},
		{"selector of a ReplicaSet", "kubernetes:apps/v1:ReplicaSet", object{"spec": object{"selector": object{"matchLabels": object{"app": "a"}}}},
			object{"spec": object{"selector": object{"matchLabels": object{"app": "b"}}}}, "ReplicaSet.apps \"\" is invalid: spec.selector: Invalid value: "},
		{"mode of a Job", jobType, object{"spec": object{}}, object{"spec": object{"completionMode": "Indexed"}}, "spec.completionMode: Invalid value: \"Indexed\": field is immutable"},
		{"attempts of a Job", jobType, object{"spec": object{"backoffLimit": 1}}, object{"spec": object{"backoffLimit": 2}}, ""},
		{"tolerations of a Pod", podType, object{"spec": object{}}, object{"spec": object{"tolerations": list(object{"operator": "Exists"})}}, ""},
		{"spread of a Pod", podType, object{"spec": object{}}, object{"spec": object{"topologySpreadConstraints": list(object{"maxSkew": 1})}}, "topologySpreadConstraints has changed"},
		{"policy of a StorageClass", className, object{}, object{"reclaimPolicy": "Retain"}, "reclaimPolicy: Invalid value: \"Retain\": field is immutable"},
		{"default policy of a StorageClass", className, object{}, object{"reclaimPolicy": "Delete"}, ""},
		{"binding of a StorageClass", className, object{"volumeBindingMode": "WaitForFirstConsumer"}, object{}, "StorageClass.storage.k8s.io \"\" is invalid: volumeBindingMode"},
		{"expansion of a StorageClass", className, object{}, object{"allowVolumeExpansion": true}, ""},
		{"controller of an IngressClass", "kubernetes:networking.k8s.io/v1:IngressClass", object{"spec": object{"controller": "a/b"}}, object{"spec": object{"controller": "a/c"}}, "spec.controller"},
		{"value of a PriorityClass", "kubernetes:scheduling.k8s.io/v1:PriorityClass", object{"value": 1}, object{"value": 2}, "value: Forbidden: may not be changed in an update."},
		{"scope of a definition", "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", object{"spec": object{"scope": "Namespaced"}}, object{"spec": object{"scope": "Cluster"}}, "spec.scope"},
		{"an immutable map", mapType, object{"immutable": true, "data": object{"a": "b"}}, object{"data": object{"a": "c"}}, "immutable: Forbidden: field is immutable when `immutable` is set"},
		{"an immutable Secret", "kubernetes:core/v1:Secret", object{"immutable": true}, object{"immutable": false}, "Secret \"\" is invalid: immutable: Forbidden"},
		{"a map that becomes immutable", mapType, object{"data": object{"a": "b"}}, object{"immutable": true, "data": object{"a": "b"}}, ""},
		{"a chart with the same claims", releaseType, opensearch("a"), opensearch("a"), ""},
	} {
		_, err := e.client(test.token).Update(t.Context(), &pulumirpc.UpdateRequest{
			Urn: urn(test.token, "x"), Id: "x", OldInputs: e.pack(test.before), News: e.pack(test.after), Preview: true,
		})
		switch {
		case test.want != "":
			t.Run(test.name, func(t *testing.T) { wantError(t, err, test.want) })
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestReplacements: what the real providers replace.
func TestReplacements(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	key := object{"encryptionConfig": object{"provider": object{"keyArn": "arn:k"}, "resources": list("secrets")}}
	claims := func(size string) object {
		return object{"spec": object{"volumeClaimTemplates": list(object{"spec": object{"resources": object{"requests": object{"storage": size}}}})}}
	}
	for _, test := range []struct {
		name, token   string
		before, after object
		want          []string
	}{
		{"encryption of EKS is on", eksType, object{}, key, nil},
		{"encryption of EKS is off", eksType, key, object{}, []string{"encryptionConfig"}},
		{"subnets of EKS", eksType, object{"vpcConfig": object{"subnetIds": list("a", "b")}}, object{"vpcConfig": object{"subnetIds": list("a", "c")}}, nil},
		{"DOKS down", doksType, object{"version": "1.34.0-do.0"}, object{"version": "1.33.1-do.0"}, []string{"version"}},
		{"DOKS up", doksType, object{"version": "1.33.0-do.0"}, object{"version": "1.34.1-do.0"}, nil},
		{"name of DOKS", doksType, object{"name": "a"}, object{"name": "b"}, nil},
		{"size of DOKS's nodes", doksType, object{"nodePool": object{"size": "a"}}, object{"nodePool": object{"size": "b"}}, []string{"nodePool"}},
		{"expiry of a login", "digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials",
			object{"expirySeconds": 60}, object{"expirySeconds": 90}, nil},
		{"region of a machine", machineType, object{"region": "us-ord"}, object{"region": "eu-central"}, nil},
		{"firewall of a machine", machineType, object{"firewallId": 1}, object{"firewallId": 2}, []string{"firewallId"}},
		{"a disk's image", machineType, object{"disks": list(object{"image": "a", "size": 1})}, object{"disks": list(object{"image": "b", "size": 1})}, []string{"disks"}},
		{"a disk's size", machineType, object{"disks": list(object{"size": 1})}, object{"disks": list(object{"size": 2})}, nil},
		{"claims of a StatefulSet", setType, claims("8Gi"), claims("16Gi"), []string{"spec"}},
		{"memory of a container", "docker:index/container:Container", object{"memory": 1}, object{"memory": 2}, nil},
		{"user of a container", "docker:index/container:Container", object{"user": "a"}, object{"user": "b"}, []string{"user"}},
		{"selector of a Deployment", "kubernetes:apps/v1:Deployment", object{"spec": object{"selector": object{"matchLabels": object{"app": "a"}}}},
			object{"spec": object{"selector": object{"matchLabels": object{"app": "b"}}}}, []string{"spec"}},
		{"history of a StatefulSet", setType, object{"spec": object{"revisionHistoryLimit": 1}}, object{"spec": object{"revisionHistoryLimit": 2}}, []string{"spec"}},
		{"strategy of a StatefulSet", setType, object{"spec": object{"updateStrategy": object{"type": "OnDelete"}}}, object{"spec": object{}}, nil},
		{"selector of a claim", claimType, object{"spec": object{}}, object{"spec": object{"selector": object{}}}, []string{"spec"}},
		{"mode of a claim", claimType, object{"spec": object{}}, object{"spec": object{"volumeMode": "Block"}}, nil},
		{"source of a volume", volumeType, object{"spec": object{"nfs": object{"path": "/a"}}}, object{"spec": object{"nfs": object{"path": "/b"}}}, []string{"spec"}},
		{"size of a volume", volumeType, object{"spec": object{"capacity": object{"storage": "1Gi"}}}, object{"spec": object{"capacity": object{"storage": "2Gi"}}}, nil},
		{"address of a Service", serviceType, object{"spec": object{}}, object{"spec": object{"clusterIP": "None"}}, []string{"spec"}},
		{"type of a Service", serviceType, object{"spec": object{}}, object{"spec": object{"type": "NodePort"}}, nil},
		{"parallelism of a Job", jobType, object{"spec": object{}}, object{"spec": object{"parallelism": 2}}, []string{"spec"}},
		{"image of a Pod", podType, object{"spec": object{"containers": list(object{"name": "a", "image": "a:1"})}},
			object{"spec": object{"containers": list(object{"name": "a", "image": "a:2"})}}, []string{"spec"}},
		{"tolerations of a Pod", podType, object{"spec": object{}}, object{"spec": object{"tolerations": list(object{"operator": "Exists"})}}, nil},
		{"scopes of a quota", "kubernetes:core/v1:ResourceQuota", object{"spec": object{}}, object{"spec": object{"scopes": list("BestEffort")}}, []string{"spec"}},
		{"role of a binding", "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", object{"roleRef": object{"name": "a"}}, object{"roleRef": object{"name": "b"}}, []string{"roleRef"}},
		{"parameters of a StorageClass", className, object{}, object{"parameters": object{"a": "b"}}, []string{"parameters"}},
		{"policy of a StorageClass", className, object{}, object{"reclaimPolicy": "Retain"}, nil},
	} {
		resp, err := e.client(test.token).Diff(t.Context(), &pulumirpc.DiffRequest{
			Urn: urn(test.token, "x"), Id: "x", OldInputs: e.pack(test.before), News: e.pack(test.after),
		})
		if diff := cmp.Diff(test.want, slices.Clone(resp.GetReplaces())); err != nil || diff != "" {
			t.Errorf("%s (-want +got):\n%s\nerror %v", test.name, diff, err)
		}
	}
}

// TestMutableObjects: what is in a ConfigMap or a Secret replaces it, unless its provider says otherwise.
func TestMutableObjects(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	for _, test := range []struct {
		kind, setting string
		isMutable     bool
	}{
		{"ConfigMap", "enableConfigMapMutable", false}, {"ConfigMap", "enableConfigMapMutable", true}, {"ConfigMap", "enableSecretMutable", false},
		{"Secret", "enableSecretMutable", true}, {"Secret", "enableSecretMutable", false},
	} {
		isOn := test.isMutable || test.setting == "enableSecretMutable" && test.kind == "ConfigMap"
		if err := e.configure("kubernetes", object{"kubeconfig": e.text("kind", "kubeconfig"), test.setting: isOn}); err != nil {
			t.Fatal(err)
		}
		token := "kubernetes:core/v1:" + test.kind
		resp, err := e.client(token).Diff(t.Context(), &pulumirpc.DiffRequest{
			Urn: urn(token, "x"), Id: "app/c", OldInputs: e.pack(object{"data": object{"a": "b"}}), News: e.pack(object{"data": object{"a": "c"}}),
		})
		if err != nil || (len(resp.GetReplaces()) == 0) != test.isMutable {
			t.Errorf("%s with %s %v: replaced for %v, error %v", test.kind, test.setting, isOn, resp.GetReplaces(), err)
		}
	}
}
