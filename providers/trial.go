package providers

import (
	"mara/projects/model"
)

// Tried returns the names of the providers that have a trial.
func Tried() (names []string) {
	for _, l := range layouts() {
		if len(l.trial.Costs) > 0 {
			names = append(names, l.Name)
		}
	}
	return names
}

// single returns the settings for one replica of everything that runs in the cluster.
func single() []model.Setting {
	return []model.Setting{
		{Key: "nginx:replicas", Value: 1}, {Key: "certmgr:replicas", Value: 1}, {Key: "logstore:replicas", Value: 1}, {Key: "observability:replicas", Value: 1},
		{Key: "prometheus:alertmanager_replicas", Value: 1}, {Key: "bank-of-anthos:replicas", Value: 1}, {Key: "bank-of-anthos:load_users", Value: 1},
	}
}

// awsTrial returns a trial with the fewest nodes that fit the platform's Pods. EKS requires
// subnets in two zones; they cost nothing. Prices: aws.amazon.com/eks/pricing,
// /ec2/pricing/on-demand, /vpc/pricing, /elasticloadbalancing/pricing and /ebs/pricing, for
// us-east-1.
func awsTrial() model.Trial {
	return model.Trial{
		Settings: append([]model.Setting{
			{Key: "eks:instance_type", Value: "t3.large"}, {Key: "eks:min_size", Value: 2}, {Key: "eks:desired_capacity", Value: 2}, {Key: "eks:max_size", Value: 2},
			{Key: "eks:disk_size", Value: 30}, {Key: "eks:log_types", Value: []string{}},
		}, single()...),
		Costs: []model.Cost{
			{What: "EKS control plane", PerHour: 0.10}, {What: "2 nodes t3.large", PerHour: 2 * 0.0832}, {What: "NAT gateway", PerHour: 0.045},
			{What: "network load balancer", PerHour: 0.0225},
			{What: "public IPv4 addresses", PerHour: 4 * 0.005}, {What: "disks and volumes, 120 GiB", PerHour: 120 * 0.08 / 730},
		},
	}
}

// linodeTrial returns a trial with the smallest nodes that fit the platform, and the machine
// for Harbor. Prices: www.linode.com/pricing.
func linodeTrial() model.Trial {
	return model.Trial{
		Settings: append([]model.Setting{{Key: "lke:node_type", Value: "g6-standard-4"}, {Key: "lke:node_count", Value: 2}}, single()...),
		Costs: []model.Cost{
			{What: "2 nodes g6-standard-4", PerHour: 2 * 0.072}, {What: "machine for Harbor g6-standard-2", PerHour: 0.036}, {What: "NodeBalancer", PerHour: 0.015},
			{What: "volumes, 60 GiB", PerHour: 60 * 0.10 / 730},
		},
	}
}
