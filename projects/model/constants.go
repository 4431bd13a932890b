package model

import "strings"

// Runtime is the runtime that the Pulumi.yaml of every built-in project names: it is
// served by the command pulumi-language-mara.
const Runtime = "mara"

// SecretsProject is the name of the one project that has a stack file of its
// own, with the encrypted values.
const SecretsProject = "secrets"

// SimulatedKey is the configuration key by which the runner tells a program
// that its clouds are stand-ins. Resources need not know; the one program that
// talks HTTP itself (linode-harbor-configuration) has to. No project declares
// the key, so that a user's own stack file cannot set it: the runner adds it
// to the configuration of a simulated run.
const SimulatedKey = "mara:simulated"

// WithoutKey is the configuration key by which the runner tells the project
// secrets which projects mara.yaml omits: their names, with commas.
const WithoutKey = "mara:without"

// Keys that the runner looks at.
const (
	StorageClass = "kubernetes:storage_class" // of volumes
	Values       = "values"                   // of a chart, the user's own; see ChartKey
	ValuesFile   = "values_file"
)

// ChartKey returns the full name of a key of a chart, such as ChartVersion: the group is the
// program's namespace ("certmgr" gives certmgr:chart_version) or, for a further chart of the
// same program, namespace and name ("logstore:dashboards" gives
// logstore:dashboards_chart_version).
func ChartKey(group, name string) string {
	if strings.Contains(group, ":") {
		return group + "_" + name
	}
	return group + ":" + name
}
