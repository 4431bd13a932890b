package providers

import (
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
)

// aws returns projects.AWS with its plan, checks and questions.
func aws() layout {
	return layout{
		Infrastructure: projects.AWS(),
		questions:      awsQuestions(),
		trial:          awsTrial(),
		plugins:        []model.Plugin{{Name: "aws", Projects: []string{"aws-vpc", "aws-eks", "aws-ecr", "kic-image-push"}}},
		checks: []model.Check{
			{Name: "account", Needed: operation.All(), AfterQuestions: true},
			// The kubeconfig of EKS gets its token from the AWS CLI.
			{Name: "aws-cli", Projects: inCluster(), Needed: operation.All()},
		},
		optional: []node{{name: "cluster-autoscaler", reads: []string{"kubeconfig", "aws-eks"}}},
		first: []node{
			{name: "aws-vpc"},
			{name: "aws-eks", reads: []string{"aws-vpc"}},
			{name: "aws-ecr"},
		},
	}
}

// awsQuestions returns the questions in the order in which they are asked.
func awsQuestions() []model.Question {
	return append([]model.Question{
		{Key: "aws:profile", Text: "AWS profile (empty: none)"},
		{Key: "aws:region", Text: "AWS region", List: model.Regions},
		{Key: "vpc:azs", Text: "Availability zones", List: model.Zones, DefaultCount: 3},
		{Key: "eks:k8s_version", Text: "Kubernetes version", List: model.KubernetesVersions},
		{Key: "eks:instance_type", Text: "Type of the nodes", List: model.NodeTypes},
		{Key: "eks:min_size", Text: "Smallest number of nodes"},
		{Key: "eks:max_size", Text: "Largest number of nodes", AtLeast: "eks:min_size"},
		{
			Key: "eks:desired_capacity", Text: "Number of nodes to begin with",
			DefaultKey: "eks:min_size", AtLeast: "eks:min_size", AtMost: "eks:max_size",
		},
	}, certificateQuestions()...)
}
