package projects

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/offers"
)

// Optional lists the projects that an environment has only if mara.yaml names them in `with`.
func Optional() []model.Project {
	return []model.Project{
		MetricsServer(), Guardrails(), Access(), Dashboard(), ExternalDNS(), Backup(), ClusterAutoscaler(),
	}
}

// The charts of optional projects, and how long their releases may take.
var (
	metricsServerChart = chart{
		"metrics-server", "metrics-server", "3.13.1", "https://kubernetes-sigs.github.io/metrics-server", 300,
	}
	dashboardChart   = chart{"dashboard", "headlamp", "0.45.0", "oci://ghcr.io/kubernetes-sigs/headlamp/charts", 300}
	externalDNSChart = chart{
		"external-dns", "external-dns", "1.21.1", "https://kubernetes-sigs.github.io/external-dns", 300,
	}
	veleroChart     = chart{"backup", "velero", "12.1.0", "oci://ghcr.io/vmware-tanzu/charts", 600}
	autoscalerChart = chart{
		"cluster-autoscaler", "cluster-autoscaler", "9.59.0", "https://kubernetes.github.io/autoscaler", 300,
	}
)

// MetricsServer declares the metrics that autoscaling and `kubectl top` read.
func MetricsServer() model.Project {
	return withCharts(model.Project{
		Name: "metrics-server", Path: "kubernetes/metrics-server", Title: "Metrics Server", Namespace: "metrics-server",
		Estimate: 45 * time.Second, Needs: "a cluster without a metrics-server", Applications: model.TheyWait,
		Summary: "metrics of Pods and nodes, which HorizontalPodAutoscalers and kubectl top read",
		Keys: []config.Key{
			replicasKey("metrics-server:replicas", "number of Pods", 2),
			{Name: "metrics-server:insecure_kubelets", Kind: config.Bool, Example: "true",
				Doc: "accept certificates of kubelets that no authority of the cluster has signed; " +
					"true on kind and false elsewhere when not set"},
		},
		Outputs: []model.Output{{Name: "command", Doc: "command that shows the metrics of the nodes"}},
	}, namespaceKeys(), metricsServerChart)
}

// Guardrails declares namespaces with limits, for teams.
func Guardrails() model.Project {
	return model.Project{
		Name: "guardrails", Path: "kubernetes/guardrails", Title: "Guardrails", Estimate: 10 * time.Second,
		Needs: "a network that enforces NetworkPolicies, for its policies to have an effect", Applications: model.TheyWait,
		Summary: "namespaces with quotas, limits and NetworkPolicies that deny by default, and PriorityClasses",
		Keys: append(kubernetesKeys(), config.Key{Name: GuardedNamespaces, Kind: config.Map,
			Example: `{team-a: {cpu: "4", memory: 8Gi, pods: 50}}`,
			Doc: "namespaces to make, with the most that their Pods may request together: cpu, memory and pods; " +
				"4, 8Gi and 50 when not set. Removing one deletes everything in it"}),
		Rules:   []config.Rule{entries(GuardedNamespaces, Quotas)},
		Outputs: []model.Output{{Name: "namespaces", Doc: "names of the namespaces"}},
	}
}

// GuardedNamespaces is the key of the namespaces that guardrails makes.
const GuardedNamespaces = "guardrails:namespaces"

// Quota is the most that the Pods of a namespace may request together.
type Quota struct {
	Namespace, CPU, Memory string
	Pods                   int
}

// Quotas reads the value of guardrails:namespaces, by name. It returns what is wrong.
func Quotas(value map[string]any) (quotas []Quota, problems []string) {
	for _, name := range lists.Keys(value) {
		q := Quota{Namespace: name, CPU: "4", Memory: "8Gi", Pods: 50}
		e := entry{name: name, problems: &problems}
		if !objectName.Matches(name) || strings.HasPrefix(name, "kube-") || name == "default" {
			e.problem("is no name for a namespace of a team")
		}
		e.fields(value[name], map[string]reader{
			"cpu": e.text(&q.CPU, config.Processors), "memory": e.text(&q.Memory, config.Storage),
			"pods": e.number(&q.Pods, 1, 10000),
		})
		quotas = append(quotas, q)
	}
	return quotas, problems
}

// Access declares what groups of people may do in the cluster.
func Access() model.Project {
	return model.Project{
		Name: "access", Path: "kubernetes/access", Title: "Access", Namespace: "access", Estimate: 10 * time.Second,
		Applications: model.ItWaits, // a role in a namespace needs the namespace, which may be an application's
		Needs:        "groups in access:groups",
		Summary:      "roles of groups: administrators, developers of namespaces, viewers; and accounts for tokens that expire",
		Keys: append(kubernetesKeys(), config.Key{Name: "access:groups", Kind: config.Map,
			Example: `{platform: {role: admin}, team-a: {role: developer, namespaces: [team-a]}, audit: {role: viewer}}`,
			Doc: "groups as the cluster's login names them, each with its role: admin of everything, developer of " +
				"namespaces, or viewer of everything but Secrets"}),
		Rules: []config.Rule{entries("access:groups", Groups)},
		Outputs: []model.Output{
			{Name: "groups", Doc: "group to what it may do"},
			{Name: "accounts", Doc: "group to its ServiceAccount, for kubeconfigs that expire"},
		},
	}
}

// The roles of groups.
const (
	AdminRole     = "admin"
	DeveloperRole = "developer"
	ViewerRole    = "viewer"
)

// Group is a group of people with its role.
type Group struct {
	Name, Role string
	Namespaces []string // of a developer
}

// Object returns the name of the group's account and bindings: that of the group, unless Kubernetes would not take it for an
// object's, such as "oidc:Team A".
func (g Group) Object() string {
	if objectName.Matches(g.Name) {
		return g.Name
	}
	plain := strings.Trim(unlikeName.ReplaceAllString(strings.ToLower(g.Name), "-"), "-")
	digest := sha256.Sum256([]byte(g.Name)) // two names may look alike
	return strings.TrimLeft(fmt.Sprintf("%.40s-%x", plain, digest[:4]), "-")
}

// Groups reads the value of access:groups, by name. It returns what is wrong.
func Groups(value map[string]any) (groups []Group, problems []string) {
	for _, name := range lists.Keys(value) {
		g := Group{Name: name}
		e := entry{name: name, problems: &problems}
		if !groupName.Matches(name) {
			e.problem("is no name for a group: write it as the cluster's login does; system: is for Kubernetes")
		}
		role := config.NewForm("admin, developer or viewer", "^("+AdminRole+"|"+DeveloperRole+"|"+ViewerRole+")$")
		e.fields(value[name], map[string]reader{
			"role": e.text(&g.Role, role), "namespaces": e.texts(&g.Namespaces, objectName),
		})
		switch {
		case g.Role == "":
			e.problem("has no role; write role: admin, developer or viewer")
		case g.Role == DeveloperRole && len(g.Namespaces) == 0:
			e.problem("is a developer of no namespace; write namespaces: [NAME]")
		case g.Role != DeveloperRole && len(g.Namespaces) > 0:
			e.problem("has namespaces, which only a developer has")
		}
		groups = append(groups, g)
	}
	return groups, problems
}

// May describes what a group may do.
func (g Group) May() string {
	switch g.Role {
	case AdminRole:
		return "everything in the whole cluster"
	case DeveloperRole:
		return "read and change everything but roles and quotas in " + strings.Join(g.Namespaces, ", ") +
			", Secrets included"
	}
	return "read everything in the whole cluster but Secrets"
}

// Dashboard declares a web page of the cluster.
func Dashboard() model.Project {
	return withCharts(model.Project{
		Name: "dashboard", Path: "kubernetes/dashboard", Title: "Dashboard", Namespace: "dashboard",
		Estimate: 45 * time.Second, Needs: "a token of each user's own to log in with; access makes accounts for that",
		AlsoNamed: []string{"headlamp"},
		Summary:   "Headlamp, reachable from inside the cluster only, with the rights of whoever logs in and none of its own",
		Keys:      []config.Key{replicasKey("dashboard:replicas", "number of Pods", 1)},
		Outputs:   []model.Output{{Name: "command", Highlight: true, Doc: "command that makes it reachable from this machine"}},
	}, namespaceKeys(), dashboardChart)
}

// ExternalDNS declares records of DNS that follow Ingresses and Services.
func ExternalDNS() model.Project {
	return withCharts(model.Project{
		Name: "external-dns", Path: "kubernetes/external-dns", Title: "External DNS", Namespace: "external-dns",
		Estimate: 45 * time.Second, Needs: "domains in external-dns:domains, and rights to change their records",
		Summary: "DNS records for the hosts of Ingresses and Services",
		Keys: []config.Key{
			{Name: "external-dns:domains", Kind: config.List, Form: config.Host, Required: true, Example: `["example.com"]`,
				Simulated: []any{"example.com"},
				Doc:       "domains whose records it makes, changes and removes; it touches no others"},
			{Name: "external-dns:policy", Kind: config.String, Default: "sync", Allowed: []string{"sync", "upsert-only"},
				Example: "upsert-only",
				Doc:     "sync also removes records whose Ingress is gone; upsert-only keeps them"},
			{Name: "external-dns:owner", Kind: config.String, Form: objectName, Example: "acme-prod",
				Doc: "name by which it knows its own records, for ever; the environment's when not set: set it where " +
					"another repository has an environment of the same name in these domains"},
			{Name: "external-dns:provider", Kind: config.String, Form: objectName, Example: "cloudflare",
				Doc: "who serves the domains, as external-dns names it; that of the cluster's cloud when not set"},
			{Name: "external-dns:token_variable", Kind: config.String, Form: envName, Example: "CF_API_TOKEN",
				Doc: "environment variable from which external-dns takes the secret external-dns:token; " +
					"that of the cluster's cloud when not set"},
			eksZonesKey(),
		},
		Secrets: []model.Secret{{
			Key: "external-dns:token", Own: true, Optional: true, Prompt: "Token for the records of external-dns:domains",
			Doc: "token with the right to change the records of the domains; AWS needs none",
		}},
		Rules: []config.Rule{recordRights},
		Outputs: []model.Output{
			{Name: "owner", Doc: "name by which it knows its own records; two environments never touch each other's"},
		},
	}, namespaceKeys(), externalDNSChart)
}

// recordRights requires who serves the domains, and on AWS the zones.
func recordRights(v config.Values) []config.Finding {
	host, _ := InfrastructureByName(v.Text(InfraType))
	provider := v.Text("external-dns:provider")
	switch {
	case host.Existing != nil && provider == "":
		return config.Wrong("external-dns:provider", "is not set: on a cluster of your own, name who serves the domains")
	case provider != "" && provider != host.Name && v.Text("external-dns:token_variable") == "":
		return []config.Finding{{Key: "external-dns:token_variable", At: "external-dns:provider",
			Text: "is not set, but external-dns:provider is: external-dns takes its token from a variable"}}
	case host.Account.Region != "" && provider == "" && len(v.List("eks:dns_zones")) == 0: // Pods have rights, no tokens
		return config.Wrong("eks:dns_zones", "is not set: external-dns has no right to change records")
	}
	return nil
}

// VeleroPlugin is the image of Velero's plugin for buckets: it is deployed as it is tested.
const VeleroPlugin = "docker.io/velero/velero-plugin-for-aws:v1.14.2"

// Backup declares copies of the cluster's objects and volumes in a bucket.
func Backup() model.Project {
	return withCharts(model.Project{
		Name: "backup", Path: "kubernetes/backup", Title: "Backup", Namespace: "velero", Estimate: 90 * time.Second,
		Needs:     "a bucket of S3 or a service like it, and a key for it",
		AlsoNamed: []string{"velero"},
		Summary:   "Velero: scheduled backups of objects and volumes into a bucket, encrypted",
		Settled:   []string{"kubernetes:helm:template"}, // the definitions in a chart of a certain version
		Keys: []config.Key{
			{Name: "backup:bucket", Kind: config.String, Form: bucketName, Required: true, Example: "acme-backups",
				Simulated: "simulated", Doc: "bucket for the backups; it has to be there already"},
			{Name: "backup:prefix", Kind: config.String, Form: bucketPrefix, Example: "acme/prod",
				Doc: "directory in the bucket; the environment's name when not set. Two clusters may not share one"},
			{Name: "backup:region", Kind: config.String, Default: "us-east-1", Example: "nl-ams",
				Doc: "region of the bucket"},
			{Name: "backup:endpoint", Kind: config.String, Form: config.Web, Example: "https://nl-ams-1.linodeobjects.com",
				Doc: "address of the service that has the bucket; that of S3 when not set"},
			{Name: "backup:schedule", Kind: config.String, Form: config.Cron, Default: "0 3 * * *", Example: "0 */6 * * *",
				Doc: "when backups are made, as cron writes it, in UTC"},
			{Name: "backup:keep_days", Kind: config.Int, Default: 30, Min: new(1), Max: new(3650), Example: "90",
				Doc: "days after which a backup is deleted"},
			{Name: "backup:namespaces", Kind: config.List, Form: objectName, Example: `["shop", "bank-of-anthos"]`,
				Doc: "namespaces to back up; all when not set"},
		},
		Secrets: []model.Secret{
			{Key: "backup:access_key", Own: true, Prompt: "Access key of the bucket for backups",
				Doc: "access key of the bucket"},
			{Key: "backup:secret_key", Own: true, Prompt: "Secret key of the bucket for backups",
				Doc: "secret key of the bucket"},
			{Key: "backup:repository_password", Own: true, Generate: model.Password, MinLength: 16,
				Prompt: "Password that encrypts the volumes in backups",
				Doc: "password that encrypts the volumes in backups; it can never change, and without it nothing is " +
					"restored: keep a copy"},
		},
		Rules: []config.Rule{backupRegion},
		Outputs: []model.Output{
			{Name: "schedule", Doc: "name of the Schedule"},
			{Name: "location", Highlight: true, Doc: "bucket and directory of the backups"},
		},
	}, kubernetesKeys(), veleroChart)
}

// backupRegion doubts a region of S3 that AWS does not have.
func backupRegion(v config.Values) []config.Finding {
	if v.Text("backup:endpoint") != "" || !v.IsSet("backup:region") {
		return nil
	}
	return offered("backup:region", func() offers.List { return offers.Of("aws").Regions })(v)
}

// ClusterAutoscaler declares what changes the number of EKS' nodes.
func ClusterAutoscaler() model.Project {
	return withCharts(model.Project{
		Name: "cluster-autoscaler", Path: "infrastructure/aws/cluster-autoscaler", Title: "Cluster Autoscaler",
		Namespace: "cluster-autoscaler", Estimate: 45 * time.Second, Needs: "eks:cluster_autoscaler: true",
		Summary: "more nodes when Pods find no place, and fewer when nodes are idle",
		Keys: []config.Key{
			{Name: "cluster-autoscaler:version", Kind: config.String, Form: config.Version, Example: "1.36.1",
				Doc: "version of its image, of the minor version of the cluster; the newest known when not set"},
			eksAutoscalerKey(),
		},
		Rules:   []config.Rule{autoscalerRights},
		Outputs: []model.Output{{Name: "image_tag", Doc: "tag of its image"}},
	}, namespaceKeys(), autoscalerChart)
}

// AutoscalerVersions returns the newest known patch of the cluster autoscaler by the minor version of
// Kubernetes that it is made for. https://github.com/kubernetes/autoscaler/releases, 22 July 2026; 1.37 of 29 November
func AutoscalerVersions() map[string]string {
	return map[string]string{"1.33": "1.33.6", "1.34": "1.34.5", "1.35": "1.35.2", "1.36": "1.36.1", "1.37": "1.37.0"}
}

// autoscalerRights requires the rights that aws-eks gives.
func autoscalerRights(v config.Values) []config.Finding {
	if v.Bool("eks:cluster_autoscaler") {
		return nil
	}
	return config.Wrong("eks:cluster_autoscaler", "is not true: the autoscaler has no right to change the number of nodes")
}

// The forms of values in optional projects.
var (
	groupName = &config.Form{Title: "a name of a group", Pattern: `^[^\s][^\r\n\t]{0,252}$`, Fits: func(text string) bool {
		return !strings.HasPrefix(text, "system:")
	}}
	unlikeName   = regexp.MustCompile(`[^a-z0-9]+`)
	objectName   = config.NewForm("a name of small letters, digits and hyphens", `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	bucketPrefix = config.NewForm("a directory such as acme/prod", `^[a-z0-9]([a-z0-9./_-]*[a-z0-9])?$`)

	bucketName = config.NewForm("the name of a bucket", `^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	envName    = config.NewForm("the name of a variable", `^[A-Z_][A-Z0-9_]*$`)
)

// entry reads one entry of a map, such as a pool of nodes, and collects problems.
type entry struct {
	name     string
	problems *[]string
}

// problem records what is wrong with the entry.
func (e entry) problem(format string, args ...any) {
	*e.problems = append(*e.problems, e.name+" "+fmt.Sprintf(format, args...))
}

// reader reads a value; read returns false for a value that it does not take.
type reader struct {
	takes string
	read  func(value any) bool
}

// fields reads the fields of an entry.
func (e entry) fields(value any, known map[string]reader) {
	fields, ok := value.(map[string]any)
	if !ok && value != nil {
		e.problem("is no map")
	}
	for _, name := range lists.Keys(fields) {
		field, ok := known[name]
		if !ok {
			names := lists.Keys(known)
			e.problem("has %s, which is not known; known: %s%s", name, strings.Join(names, ", "), config.DidYouMean(name, names))
			continue
		}
		if !field.read(fields[name]) {
			e.problem("has %s: %s, which is not %s", name, config.Show(fields[name]), field.takes)
		}
	}
}

// text reads a string of a form; numbers count as strings.
func (e entry) text(to *string, form *config.Form) reader {
	return reader{form.Title, func(value any) bool {
		switch value.(type) {
		case string, int, float64:
			*to = fmt.Sprint(value)
			return form.Matches(*to)
		}
		return false
	}}
}

// texts reads a list of strings of a form.
func (e entry) texts(to *[]string, form *config.Form) reader {
	return reader{"a list, each item " + form.Title, func(value any) bool {
		items, ok := value.([]any)
		for _, item := range items {
			text, isText := item.(string)
			ok = ok && isText && form.Matches(text)
			*to = append(*to, text)
		}
		return ok
	}}
}

// number reads a whole number.
func (e entry) number(to *int, least, most int) reader {
	return reader{fmt.Sprintf("a whole number from %d to %d", least, most), func(value any) bool {
		if decoded, isFloat := value.(float64); isFloat && decoded == float64(int(decoded)) { // JSON has no other
			value = int(decoded)
		}
		number, ok := config.Number(value)
		*to = number
		return ok && number >= least && number <= most
	}}
}

// flag reads true or false.
func (e entry) flag(to *bool) reader {
	return reader{"true or false", func(value any) (ok bool) {
		*to, ok = value.(bool)
		return ok
	}}
}

// entries judges the value of a map by the function that reads its entries.
func entries[T any](key string, read func(value map[string]any) (all []T, problems []string)) config.Rule {
	return func(v config.Values) []config.Finding {
		_, problems := read(v.Map(key))
		return allWrong(key, problems)
	}
}

// allWrong returns problems of the entries of a map.
func allWrong(key string, problems []string) (found []config.Finding) {
	for _, problem := range problems {
		found = append(found, config.Finding{Key: key, Text: problem})
	}
	return found
}
