package eks

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"

	"mara/projects/infrastructure/aws/internal/cidr"
	"mara/projects/internal/settings"
)

// configuration is what the cluster is to be like.
type configuration struct {
	profile     string // of the AWS configuration; "" for the environment's credentials
	version     string
	support     string
	serviceCIDR string
	endpoint    endpoint
	logs        logs
	encryption  encryption
	admins      []string
	nodes       nodes
	addons      map[string]string // add-on to version, where not AWS's default
}

// endpoint is who can reach the API server.
type endpoint struct {
	public, private bool
	cidrs           []string // for the public one; nil means everywhere
}

// logs is what is kept of the control plane's logs.
type logs struct {
	types []string
	days  int
}

// encryption is how Kubernetes Secrets are encrypted beyond AWS's own way.
type encryption struct {
	on     bool
	keyARN string // "" for a key made for the cluster
}

// nodes is what the node group is to be like.
type nodes struct {
	instanceType, amiType, capacityType string
	diskSize                            int
	smallest, largest, desired          int
}

var (
	// kubernetesVersion also catches the "1.3" that is left of 1.30 written without quotes.
	kubernetesVersion = regexp.MustCompile(`^1\.\d{2}$`)
	// principal is the ARN of an IAM user or role.
	principal = regexp.MustCompile(`^arn:[\w-]+:iam::\d{12}:(?:user|role)/.+$`)
)

// readConfiguration reads what the cluster is to be like.
func readConfiguration(cfg *settings.Settings) (configuration, error) {
	wanted := configuration{
		profile:     cfg.String("aws:profile"),
		version:     readVersion(cfg),
		support:     cfg.String("eks:support_type"),
		serviceCIDR: readServiceRange(cfg),
		endpoint:    readEndpoint(cfg),
		logs:        readLogs(cfg),
		encryption: encryption{
			on:     cfg.Bool("eks:encrypt_secrets") || cfg.String("eks:kms_key_arn") != "",
			keyARN: cfg.String("eks:kms_key_arn"),
		},
		admins: readAdmins(cfg),
		nodes:  readNodes(cfg),
		addons: readAddonVersions(cfg),
	}
	return wanted, cfg.Err()
}

func readVersion(cfg *settings.Settings) string {
	version := cfg.String("eks:k8s_version")
	if !kubernetesVersion.MatchString(version) {
		cfg.Reject("eks:k8s_version", "is %q, which is not major.minor", version)
	}
	return version
}

func readServiceRange(cfg *settings.Settings) string {
	text := cfg.String("eks:service_cidr")
	if _, err := cidr.ParseService(text); err != nil {
		cfg.Reject("eks:service_cidr", "cannot be used: %w", err)
	}
	return text
}

func readEndpoint(cfg *settings.Settings) endpoint {
	access := endpoint{
		public:  cfg.Bool("eks:endpoint_public_access"),
		private: cfg.Bool("eks:endpoint_private_access"),
		cidrs:   cfg.List("eks:public_access_cidrs"),
	}
	if !access.public && !access.private {
		cfg.Reject("eks:endpoint_private_access", "must be true when eks:endpoint_public_access is false")
	}
	for _, text := range access.cidrs {
		if _, err := netip.ParsePrefix(text); err != nil {
			cfg.Reject("eks:public_access_cidrs", "has %q, which is not an address range", text)
		}
	}
	return access
}

func readLogs(cfg *settings.Settings) logs {
	kept := logs{types: cfg.List("eks:log_types"), days: cfg.Int("eks:log_retention_days")}
	for _, name := range kept.types {
		if !slices.Contains([]string{"api", "audit", "authenticator", "controllerManager", "scheduler"}, name) {
			cfg.Reject("eks:log_types", "has %q, which is no log of the control plane", name)
		}
	}
	// docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
	if !slices.Contains([]int{
		0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
	}, kept.days) {
		cfg.Reject("eks:log_retention_days",
			"is %d, which CloudWatch does not take; 30, 60, 90 and 365 are some that it does", kept.days)
	}
	return kept
}

func readAdmins(cfg *settings.Settings) []string {
	admins := cfg.List("eks:admin_principals")
	for i, arn := range admins {
		switch {
		case !principal.MatchString(arn):
			cfg.Reject("eks:admin_principals", "has %q, which is not the ARN of an IAM user or role", arn)
		case slices.Contains(admins[:i], arn):
			cfg.Reject("eks:admin_principals", "has %q twice", arn)
		}
	}
	return admins
}

func readNodes(cfg *settings.Settings) nodes {
	group := nodes{
		instanceType: cfg.String("eks:instance_type"),
		amiType:      cfg.String("eks:ami_type"),
		capacityType: cfg.String("eks:capacity_type"),
		diskSize:     cfg.Int("eks:disk_size"),
		smallest:     cfg.Int("eks:min_size"),
		largest:      cfg.Int("eks:max_size"),
		desired:      cfg.Int("eks:desired_capacity"),
	}
	switch {
	case group.smallest > group.largest:
		cfg.Reject("eks:min_size", "is %d, more than eks:max_size, which is %d", group.smallest, group.largest)
	case group.desired < group.smallest || group.desired > group.largest:
		cfg.Reject("eks:desired_capacity", "is %d, which is not between eks:min_size and eks:max_size, %d and %d",
			group.desired, group.smallest, group.largest)
	}
	return group
}

func readAddonVersions(cfg *settings.Settings) map[string]string {
	versions := map[string]string{}
	configured := cfg.Map("eks:addon_versions")
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		version, ok := configured[name].(string)
		switch {
		case !slices.Contains(addonNames(), name):
			cfg.Reject("eks:addon_versions", "has %q, which is none of the add-ons installed: %v", name, addonNames())
		case !ok || version == "":
			cfg.Reject("eks:addon_versions", "has %v as version of %s; write it in quotes", configured[name], name)
		}
		versions[name] = version
	}
	return versions
}
