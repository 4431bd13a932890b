package clouds

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"mara/runner/internal/feature/simulate"
)

// definedKind is a custom kind that a definition in a chart's crds/ directory makes
// known.
type definedKind struct{ group, version, kind, plural string }

// definedKinds lists, by chart, what is in the crds/ directories whose definitions
// the programs take over.
// https://github.com/nginx/kubernetes-ingress/tree/v5.5.4/config/crd/bases
// https://github.com/vmware-tanzu/helm-charts/tree/velero-12.1.0/charts/velero/crds
func definedKinds() map[string][]definedKind {
	return map[string][]definedKind{"velero": {
		{"velero.io", "v1", "BackupRepository", "backuprepositories"},
		{"velero.io", "v1", "Backup", "backups"},
		{"velero.io", "v1", "BackupStorageLocation", "backupstoragelocations"},
		{"velero.io", "v1", "DeleteBackupRequest", "deletebackuprequests"},
		{"velero.io", "v1", "DownloadRequest", "downloadrequests"},
		{"velero.io", "v1", "PodVolumeBackup", "podvolumebackups"},
		{"velero.io", "v1", "PodVolumeRestore", "podvolumerestores"},
		{"velero.io", "v1", "Restore", "restores"},
		{"velero.io", "v1", "Schedule", "schedules"},
		{"velero.io", "v1", "ServerStatusRequest", "serverstatusrequests"},
		{"velero.io", "v1", "VolumeSnapshotLocation", "volumesnapshotlocations"},
		{"velero.io", "v2alpha1", "DataDownload", "datadownloads"},
		{"velero.io", "v2alpha1", "DataUpload", "datauploads"},
	}, "nginx-ingress": {
		{"appprotect.f5.com", "v1beta1", "APLogConf", "aplogconfs"},
		{"appprotect.f5.com", "v1beta1", "APPolicy", "appolicies"},
		{"appprotect.f5.com", "v1beta1", "APSignatures", "apsignatures"},
		{"appprotect.f5.com", "v1beta1", "APUserSig", "apusersigs"},
		{"appprotectdos.f5.com", "v1beta1", "APDosLogConf", "apdoslogconfs"},
		{"appprotectdos.f5.com", "v1beta1", "APDosPolicy", "apdospolicies"},
		{"appprotectdos.f5.com", "v1beta1", "DosProtectedResource", "dosprotectedresources"},
		{"externaldns.nginx.org", "v1", "DNSEndpoint", "dnsendpoints"},
		{"k8s.nginx.org", "v1", "GlobalConfiguration", "globalconfigurations"},
		{"k8s.nginx.org", "v1", "Policy", "policies"},
		{"k8s.nginx.org", "v1", "TransportServer", "transportservers"},
		{"k8s.nginx.org", "v1", "VirtualServer", "virtualservers"},
		{"k8s.nginx.org", "v1", "VirtualServerRoute", "virtualserverroutes"},
	}}
}

// isDefined reports whether a chart's crds/ directory makes the kinds of a group known.
func isDefined(group string) bool {
	for _, kinds := range definedKinds() {
		if slices.ContainsFunc(kinds, func(k definedKind) bool { return k.group == group }) {
			return true
		}
	}
	return false
}

// definition returns the kind by which a cluster learns other kinds.
func definition() simulate.Resource {
	return object(
		"kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", clusterWide(simulate.Resource{
			Latency: seconds(1, 1, 2), Check: checkDefinition,
			Refuses: keeps(immutable("spec.group", "spec.names.kind", "spec.scope")),
			Links: links(func(o simulate.Object) []simulate.Fact {
				return facts(kindFact(o, o.Text("spec.group"), o.Text("spec.names.kind")))
			}),
		}))
}

// checkDefinition finds what an API server would refuse.
func checkDefinition(o simulate.Object) []simulate.Problem {
	var problems []simulate.Problem
	if want := o.Text("spec.names.plural") + "." + o.Text("spec.group"); o.Text("metadata.name") != want {
		problems = append(problems, refuse("metadata.name", "must be %q, plural and group", want)...)
	}
	stored := 0
	for _, version := range o.List("spec.versions") {
		if fields, _ := version.(map[string]any); fields["storage"] == true {
			stored++
		}
	}
	if stored != 1 {
		problems = append(problems, refuse("spec.versions", "must have exactly one version marked as storage version")...)
	}
	return problems
}

// kindFact returns the fact that a definition has made a kind known.
func kindFact(o simulate.Object, group, kind string) string {
	return definitionFact(o, group) + "/" + kind
}

// helmTemplate lists the objects of a chart. Of those only the definitions in
// crds/ are simulated, each without its schema.
func helmTemplate() simulate.Invoke {
	return simulate.Invoke{
		Token: "kubernetes:helm:template",
		Answer: func(o simulate.Object) (map[string]any, error) {
			chart, err := templateChart(o.Text("jsonOpts"))
			if err != nil {
				return nil, err
			}
			objects := []any{}
			for _, defined := range definedKinds()[chart] {
				objects = append(objects, definitionOf(defined))
			}
			return map[string]any{"result": objects}, nil
		},
	}
}

// templateChart returns the name of the chart in the options.
func templateChart(jsonOpts string) (string, error) {
	var options struct {
		Chart string `json:"chart"`
		Fetch struct {
			Repo string `json:"repo"`
		} `json:"fetch_opts"`
	}
	if err := json.Unmarshal([]byte(jsonOpts), &options); err != nil {
		return "", fmt.Errorf("failed to unmarshal 'jsonOpts': %w", err)
	}
	if problems := checkSource(options.Chart, options.Fetch.Repo); len(problems) > 0 {
		return "", fmt.Errorf("failed to pull chart: %s", problems[0].Reason)
	}
	return path.Base(options.Chart), nil
}

func definitionOf(k definedKind) map[string]any {
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": k.plural + "." + k.group},
		"spec": map[string]any{
			"group": k.group, "scope": "Namespaced",
			"names": map[string]any{
				"kind": k.kind, "listKind": k.kind + "List", "plural": k.plural, "singular": strings.ToLower(k.kind),
			},
			"versions": []any{map[string]any{
				"name": k.version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}
}
