package request

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
)

// Misplaced finds keys in the stack file that no project of the provider reads: keys that have the name of a project's
// directory instead of the project's are problems, keys of other providers are doubts. Layers may hold the keys of
// several providers. keys are the declared keys of the request.
func (r Request) Misplaced(
	provider model.Provider, keys []config.Key, file config.StackFile,
) (problems, doubts []config.Problem) {
	declared, namespaces := map[string]bool{}, map[string]bool{}
	for _, key := range keys {
		declared[key.Name], namespaces[key.Namespace()] = true, true
	}
	for _, project := range r.Known().Projects {
		namespaces[project.Name] = namespaces[project.Name] || project.Own != nil
	}
	for _, secret := range r.Known().Secrets() {
		namespace, _, _ := strings.Cut(secret.Key, ":")
		namespaces[namespace] = true
	}
	for _, name := range config.PluginNamespaces(keys) {
		namespaces[name] = true
	}
	refuse := func(key, text string) {
		problem := file.Problem(key, text)
		problem.Acceptable = true
		problems = append(problems, problem)
	}
	for _, entry := range file.Entries {
		switch {
		case file.Accepts(entry.Key):
		case declared[entry.Key]:
			if owner := r.ownerElsewhere(provider, entry.Key); owner != "" && entry.File == "" {
				text := fmt.Sprintf("is read by no project of %s; %s reads it", provider.Name, owner)
				doubts = append(doubts, file.Problem(entry.Key, text))
			}
		default:
			if meant := keyOfDirectory(provider, entry.Key, declared); meant != "" {
				const text = "is read by no project; keys have the name of the project, not of its directory: did you mean %q?"
				refuse(entry.Key, fmt.Sprintf(text, meant))
				continue
			}
			if text := r.underProject(entry.Key); text != "" {
				refuse(entry.Key, text)
				continue
			}
			if text := r.unknownNamespace(entry.Key, namespaces); text != "" && config.Unknown(keys, entry.Key) == "" { // else it is an error
				doubts = append(doubts, file.Problem(entry.Key, text))
			}
		}
	}
	return problems, doubts
}

// underProject describes a key whose namespace is the name, the title, the chart or the namespace in the cluster of a
// built-in project that reads other namespaces; "" if it is no such key.
func (r Request) underProject(name string) string {
	namespace, rest, _ := strings.Cut(name, ":")
	for _, project := range r.Known().Projects {
		if project.Own != nil || len(project.Keys) == 0 || !slices.Contains(namesOf(project), plainName(namespace)) {
			continue
		}
		var own []config.Key
		for _, key := range project.Keys {
			if key.Namespace() == namespace {
				return "" // a key of this namespace: validation knows better what is wrong
			}
			if key.Namespace() != "kubernetes" && key.Namespace() != "cluster" && !key.OfPlugin {
				own = append(own, key)
			}
		}
		names := lists.Map(own, func(key config.Key) string { return key.Name })
		for _, key := range own {
			if strings.TrimPrefix(key.Name, key.Namespace()+":") == rest {
				return fmt.Sprintf("is read by no project; the keys of %s have other names: did you mean %q?", project.Name,
					key.Name)
			}
		}
		if len(own) == 0 {
			return fmt.Sprintf("is read by no project: %s has no keys of its own", project.Name)
		}
		return fmt.Sprintf("is read by no project; the keys of %s have other names, such as %q%s", project.Name, own[0].Name,
			config.DidYouMean(own[0].Namespace()+":"+rest, names))
	}
	return ""
}

// namesOf returns the names by which one may call a project.
func namesOf(project model.Project) []string {
	names := []string{plainName(project.Name), plainName(project.Title), plainName(path.Base(project.Path))}
	if project.Namespace != "" {
		names = append(names, plainName(project.Namespace))
	}
	for _, chart := range project.Charts {
		names = append(names, plainName(chart.Name))
	}
	return append(names, project.AlsoNamed...)
}

// plainName returns a name in small letters and digits.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// unknownNamespace describes a key that no project, provider package or chart is known to read; "" if one may.
func (r Request) unknownNamespace(name string, known map[string]bool) string {
	namespace, _, _ := strings.Cut(name, ":")
	if known[namespace] || slices.Contains(providerPackages(), namespace) {
		return ""
	}
	for _, project := range r.Known().Projects {
		if project.Own != nil && project.Own.Runtime != "yaml" { // a program may read any namespace
			return ""
		}
	}
	return fmt.Sprintf("is read by no project here: there is no project, and no known package of a provider, with the "+
		"name %q", namespace)
}

// providerPackages lists packages of providers in Pulumi's registry, which read the configuration of their name.
func providerPackages() []string {
	return []string{
		"aiven", "akamai", "alicloud", "apigee", "archive", "artifactory", "auth0", "auto-deploy", "aws",
		"aws-apigateway", "aws-iam", "aws-native", "aws-static-website", "awsx", "azure", "azure-native", "azuread",
		"azuredevops", "bigip", "checkly", "civo", "cloudamqp", "cloudflare", "cloudinit", "command", "confluentcloud",
		"consul", "cpln", "databricks", "datadog", "dbtcloud", "digitalocean", "dnsimple", "docker", "docker-build",
		"doppler", "dynatrace", "ec", "eks", "elasticstack", "equinix", "esxi-native", "external", "f5bigip", "fastly",
		"flux", "fortios", "fusionauth", "gandi", "gcp", "gcp-global-cloudrun", "github", "gitlab", "google-native",
		"googleworkspace", "grafana", "harbor", "harness", "hcloud", "hcp", "heroku", "honeycomb", "http", "ibm",
		"infoblox", "ionoscloud", "keycloak", "kong", "kubernetes", "kubernetes-cert-manager", "kubernetes-coredns",
		"kubernetes-ingress-nginx", "kafka", "launchdarkly", "linode", "local", "lbrlabs-eks", "logdna", "mailgun",
		"meraki", "minio", "mongodbatlas", "mssql", "mysql", "netlify", "newrelic", "nomad", "ns1", "null", "nutanix",
		"oci", "okta", "onelogin", "openstack", "opsgenie", "ovh", "pagerduty", "pinecone", "port", "postgresql",
		"prefect", "proxmoxve", "pulumi", "pulumiservice", "rabbitmq", "rancher2", "random", "rke", "scaleway", "scm",
		"sdwan", "sentry", "signalfx", "slack", "snowflake", "splight", "splunk", "spotinst", "statuscake", "std",
		"strata", "sumologic", "synced-folder", "tailscale", "talos", "tencentcloud", "terraform-provider", "time",
		"tls", "unifi", "upstash", "vault", "vcd", "venafi", "vercel", "volcengine", "vsphere", "vultr", "wavefront",
		"xyz", "yandex", "zitadel", "zscaler",
	}
}

// ownerElsewhere returns the project of other providers that reads a key; "" if one of the provider reads it, too.
func (r Request) ownerElsewhere(provider model.Provider, key string) string {
	reads := func(p model.Project) bool {
		_, ok := p.Key(key)
		return ok
	}
	if _, ok := lists.Find(provider.Projects(), reads); ok || provider.Name == "" {
		return ""
	}
	project, _ := lists.Find(r.Known().Projects, reads)
	return project.Name
}

// keyOfDirectory returns the declared key of an own project whose directory has the name of a key's namespace, or "".
func keyOfDirectory(provider model.Provider, name string, declared map[string]bool) string {
	namespace, rest, _ := strings.Cut(name, ":")
	for _, project := range provider.Own() {
		if meant := project.Name + ":" + rest; path.Base(project.Path) == namespace && declared[meant] {
			return meant
		}
	}
	return ""
}

// MisplacedOwn finds keys in the stack file next to a project that nobody reads: one that the program does not declare,
// one of another project or of a directory, and one that had the project's name before it was renamed.
func (r Request) MisplacedOwn(
	provider model.Provider, project model.Project, keys []config.Key, file config.StackFile,
) (doubts []config.Problem) {
	declared := map[string]bool{}
	for _, key := range keys {
		declared[key.Name] = true
	}
	doubt := func(key, format string, args ...any) {
		doubts = append(doubts, file.Problem(key, fmt.Sprintf(format, args...)))
	}
	for _, entry := range file.Entries {
		key := entry.Key
		namespace, rest, _ := strings.Cut(key, ":")
		mine := project.Name + ":" + rest
		other, isProject := r.Known().Project(namespace)
		isOther := isProject && namespace != project.Name
		meant := keyOfDirectory(provider, key, declared)
		switch {
		case isOther && !declared[key]:
			doubt(key, "has the namespace of %s, and is in the file of %s", other.Name, project.Name)
		case declared[key]:
		case meant != "":
			doubt(key, "is read by no project; keys have the name of the project, not of its directory: did you mean %q?", meant)
		case isProject && project.Own.Runtime == "yaml" && len(project.Keys)+len(project.Secrets) == 0:
			doubt(key, "is read by no project: %s/%s declares no configuration", project.Path, config.ManifestFile)
		case isProject:
			if text := config.Unknown(keys, key); text != "" {
				doubt(key, "%s", text)
			}
		case declared[mine]:
			doubt(key, "is read by no project; left over of a rename? %s reads %s", project.Name, mine)
		}
	}
	return doubts
}
