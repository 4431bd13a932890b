package providers

import "mara/operation"

// aws hosts the cluster in EKS and the registry in ECR.
func aws() layout {
	return layout{
		name:      "aws",
		title:     "Amazon Web Services",
		cluster:   "aws-eks",
		registry:  "aws-ecr",
		questions: awsQuestions(),
		plugins:   []Plugin{{Name: "aws", Projects: []string{"aws-vpc", "aws-eks", "aws-ecr", "kic-image-push"}}}, // the last logs in to ECR
		checks: []Check{
			{Name: "account", Needed: operation.All(), Answers: true},
			// The kubeconfig of EKS asks it for a token.
			{Name: "aws-cli", Projects: inCluster(), Needed: operation.All()},
		},
		first: []node{
			{name: "aws-vpc"},
			{name: "aws-eks", reads: []string{"aws-vpc"}},
			{name: "aws-ecr"},
		},
	}
}
