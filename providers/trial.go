package providers

// Trial is the cheapest complete environment of a cloud, to try the runner there.
type Trial struct {
	Settings []Setting
	Costs    []Cost
}

// Setting is a configuration value of a trial.
type Setting struct {
	Key   string
	Value any
}

// Cost is the price of a part of a trial per hour, in US dollars, by the cloud's list
// prices.
type Cost struct {
	What    string
	PerHour float64
}

// Tried returns the names of the providers that have a trial.
func Tried() (names []string) {
	for _, l := range layouts() {
		if len(l.trial.Costs) > 0 {
			names = append(names, l.Name)
		}
	}
	return names
}

// Total returns the costs of all parts per hour.
func (t Trial) Total() float64 {
	sum := 0.0
	for _, cost := range t.Costs {
		sum += cost.PerHour
	}
	return sum
}

// single returns the settings for one replica of everything that runs in the cluster.
func single() []Setting {
	return []Setting{
		{"nginx:replicas", 1}, {"certmgr:replicas", 1}, {"logstore:replicas", 1}, {"observability:replicas", 1},
		{"prometheus:alertmanager_replicas", 1}, {"bank-of-anthos:replicas", 1}, {"bank-of-anthos:load_users", 1},
	}
}

// awsTrial returns a trial with the fewest nodes that fit the platform's Pods. EKS requires
// subnets in two zones; they cost nothing. Prices: aws.amazon.com/eks/pricing,
// /ec2/pricing/on-demand, /vpc/pricing, /elasticloadbalancing/pricing and /ebs/pricing, for
// us-east-1.
func awsTrial() Trial {
	return Trial{
		Settings: append([]Setting{
			{"eks:instance_type", "t3.large"}, {"eks:min_size", 2}, {"eks:desired_capacity", 2}, {"eks:max_size", 2},
			{"eks:disk_size", 30}, {"eks:log_types", []string{}},
		}, single()...),
		Costs: []Cost{
			{"EKS control plane", 0.10}, {"2 nodes t3.large", 2 * 0.0832}, {"NAT gateway", 0.045},
			{"network load balancer", 0.0225},
			{"public IPv4 addresses", 4 * 0.005}, {"disks and volumes, 120 GiB", 120 * 0.08 / 730},
		},
	}
}

// linodeTrial returns a trial with the smallest nodes that fit the platform, and the machine
// for Harbor. Prices: www.linode.com/pricing.
func linodeTrial() Trial {
	return Trial{
		Settings: append([]Setting{{"lke:node_type", "g6-standard-4"}, {"lke:node_count", 2}}, single()...),
		Costs: []Cost{
			{"2 nodes g6-standard-4", 2 * 0.072}, {"machine for Harbor g6-standard-2", 0.036}, {"NodeBalancer", 0.015},
			{"volumes, 60 GiB", 60 * 0.10 / 730},
		},
	}
}
