package uitest

import (
	"time"

	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

// AWS returns an up of a new environment on AWS, with realistic times.
func AWS() Script {
	return Script{Operation: operation.Up, Provider: "aws", Parallel: 4, Projects: aws()}
}

// AWSFailure returns the same with a project in the middle that fails.
func AWSFailure() Script {
	s := AWS()
	for i := range s.Projects {
		switch p := &s.Projects[i]; p.Name {
		case "logstore":
			p.Fails = "1 error occurred:\n    * Helm release \"elastic\" was created, but failed to initialize completely:\n" +
				"      timed out waiting for the condition: StatefulSet elastic-master: 0/2 replicas ready\n" +
				"      pod elastic-master-0: 0/3 nodes are available: insufficient memory"
		case "aws-ecr":
			p.Warns = "the repository keeps every image: no lifecycle policy is set"
		}
	}
	return s
}

// AWSInterrupted returns the same, interrupted while several projects run.
func AWSInterrupted() Script {
	s := AWS()
	s.Interrupt = 940 * time.Second
	return s
}

func aws() []Project {
	const s = time.Second
	kube := []string{"kubeconfig"}
	return []Project{
		project("aws-vpc", "VPC", nil, nil,
			resource("aws:ec2/vpc:Vpc", "main", 12*s), resource("aws:ec2/subnet:Subnet", "public-0", 11*s),
			resource("aws:ec2/subnet:Subnet", "public-1", 11*s),
			resource("aws:ec2/natGateway:NatGateway", "main", 95*s), resource("aws:ec2/routeTable:RouteTable", "private", 3*s)),
		project("aws-eks", "EKS", []string{"aws-vpc"}, nil,
			resource("aws:iam/role:Role", "cluster", 2*s), resource("aws:eks/cluster:Cluster", "main", 540*s),
			resource("aws:eks/nodeGroup:NodeGroup", "workers", 150*s),
			resource("aws:eks/addon:Addon", "vpc-cni", 22*s)),
		project("aws-ecr", "ECR", nil, nil, resource("aws:ecr/repository:Repository", "nginx-ingress", 3*s)),
		hook(project("kubeconfig", "Kubeconfig", []string{"aws-eks"}, nil), "kubeconfig"),
		project("secrets", "Secrets", kube, nil,
			resource("kubernetes:core/v1:Secret", "prometheus", s), resource("kubernetes:core/v1:Secret", "bank-of-anthos", s),
			resource("kubernetes:core/v1:Secret", "grafana", s)),
		project("kic-image-build", "KIC Image Build", nil, nil, resource("docker:index/image:Image", "nginx-ingress", 184*s)),
		project("kic-image-push", "KIC Image Push", []string{"kic-image-build", "aws-ecr"}, nil,
			resource("docker:index/registryImage:RegistryImage", "nginx-ingress", 31*s)),
		project("ingress-controller-namespace", "K8S Ingress NS", kube, nil,
			resource("kubernetes:core/v1:Namespace", "nginx-ingress", s)),
		project("ingress-controller", "Ingress Controller", []string{"kubeconfig", "ingress-controller-namespace",
			"kic-image-push"}, nil,
			resource("kubernetes:helm.sh/v3:Release", "nginx-ingress", 64*s),
			resource("kubernetes:core/v1:Service", "nginx-ingress", 2*s)),
		project("logstore", "Logstore", kube, nil, resource("kubernetes:core/v1:Namespace", "logstore", s),
			resource("kubernetes:helm.sh/v3:Release", "elastic", 142*s)),
		project("logagent", "Log Agent", []string{"kubeconfig", "logstore"}, nil,
			resource("kubernetes:helm.sh/v3:Release", "filebeat", 28*s)),
		project("certmgr", "Cert Manager", kube, nil, resource("kubernetes:core/v1:Namespace", "cert-manager", s),
			resource("kubernetes:helm.sh/v3:Release", "cert-manager", 41*s)),
		project("prometheus", "Prometheus", []string{"kubeconfig", "secrets"}, []string{"ingress-controller-namespace"},
			resource("kubernetes:core/v1:Namespace", "prometheus", s),
			resource("kubernetes:helm.sh/v3:Release", "prometheus", 77*s),
			resource("kubernetes:helm.sh/v3:Release", "statsd", 12*s)),
		project("observability", "Observability", kube, []string{"certmgr"},
			resource("kubernetes:helm.sh/v3:Release", "opentelemetry-operator", 33*s),
			resource("kubernetes:apiextensions.k8s.io:CustomResource", "collector", 2*s)),
		project("bank-of-anthos", "Bank of Anthos", []string{"kubeconfig", "secrets", "ingress-controller"},
			[]string{"certmgr", "prometheus", "observability"},
			resource("kubernetes:core/v1:Namespace", "bank-of-anthos", s),
			resource("kubernetes:core/v1:ConfigMap", "accounts-db", s),
			resource("kubernetes:apps/v1:StatefulSet", "accounts-db", 36*s),
			resource("kubernetes:apps/v1:Deployment", "frontend", 22*s),
			resource("kubernetes:networking.k8s.io/v1:Ingress", "bank-of-anthos", 4*s)),
	}
}

func project(name, title string, reads, after []string, resources ...Resource) Project {
	return Project{Project: event.Project{Name: name, Title: title, Needs: needs.Needs{Reads: reads, After: after}},
		Resources: resources}
}

func hook(p Project, name string) Project {
	p.Hook = name
	return p
}
