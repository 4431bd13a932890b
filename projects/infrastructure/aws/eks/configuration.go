package eks

import (
	"mara/projects"
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
	pools       []projects.Pool     // besides the nodes
	autoscaled  bool                // by the project cluster-autoscaler
	groups      map[string][]string // groups in the cluster of IAM users and roles, by ARN
	zones       []string            // of Route 53, whose records external-dns changes
	proves      bool                // cert-manager changes records there, too
	addons      map[string]string   // add-on to version, where not AWS's default
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
	version                             string // "" for that of the control plane
	instanceType, amiType, capacityType string
	diskSize                            int
	smallest, largest, desired          int
}

// readConfiguration reads what the cluster is to be like.
func readConfiguration(cfg *settings.Settings) (configuration, error) {
	wanted := configuration{
		profile:     cfg.String("aws:profile"),
		version:     cfg.String("eks:k8s_version"),
		support:     cfg.String("eks:support_type"),
		serviceCIDR: cfg.String("eks:service_cidr"),
		endpoint: endpoint{
			public:  cfg.Bool("eks:endpoint_public_access"),
			private: cfg.Bool("eks:endpoint_private_access"),
			cidrs:   cfg.List("eks:public_access_cidrs"),
		},
		logs: logs{types: cfg.List("eks:log_types"), days: cfg.Int("eks:log_retention_days")},
		encryption: encryption{
			on:     cfg.Bool("eks:encrypt_secrets") || cfg.String("eks:kms_key_arn") != "",
			keyARN: cfg.String("eks:kms_key_arn"),
		},
		admins: cfg.List("eks:admin_principals"),
		nodes: nodes{
			version:      cfg.String("eks:node_version"),
			instanceType: cfg.String("eks:instance_type"),
			amiType:      cfg.String("eks:ami_type"),
			capacityType: cfg.String("eks:capacity_type"),
			diskSize:     cfg.Int("eks:disk_size"),
			smallest:     cfg.Int("eks:min_size"),
			largest:      cfg.Int("eks:max_size"),
			desired:      cfg.Int("eks:desired_capacity"),
		},
		pools:      projects.EKSPools(cfg.Map("eks:pools")), // rules of the project have judged both maps
		autoscaled: cfg.Bool("eks:cluster_autoscaler"),
		zones:      cfg.List("eks:dns_zones"),
		proves:     cfg.String("certmgr:acme_dns") == projects.Route53,
		addons:     readAddonVersions(cfg),
	}
	wanted.groups, _ = projects.Principals(cfg.Map("eks:group_principals"))
	return wanted, cfg.Err()
}

func readAddonVersions(cfg *settings.Settings) map[string]string {
	versions := map[string]string{}
	for name, version := range cfg.Map("eks:addon_versions") {
		versions[name], _ = version.(string)
	}
	return versions
}
