package clouds

import (
	"fmt"

	"mara/runner/internal/feature/simulate"
)

// awsStorage returns the types of ECR, KMS and CloudWatch.
func awsStorage() []simulate.Resource {
	return []simulate.Resource{
		{
			Token:   "aws:ecr/repository:Repository",
			Latency: seconds(2, 2, 2), ID: field("name"), AutoName: "name",
			ReplaceOn: []string{"name", "encryptionConfigurations", "region"},
			Links:     links(byID("aws/ecr/", "")),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"repositoryUrl": registryHost(o) + "/" + o.ID}
			},
		},
		{
			Token:   "aws:ecr/lifecyclePolicy:LifecyclePolicy",
			Latency: seconds(1, 1, 1), ID: field("repository"), ReplaceOn: []string{"repository", "region"},
			Links: links(nil, needs("repository", "aws/ecr/", "RepositoryNotFoundException: there is no repository")),
		},
		{
			Token:   "aws:kms/key:Key",
			Latency: seconds(10, 5, 2), ID: func(o simulate.Object) string { return uuid(o, "id") }, Check: checkJSON("policy"),
			ReplaceOn: []string{"keyUsage", "customerMasterKeySpec", "multiRegion", "region"},
			Defaults:  map[string]any{"policy": "{}"},
			Outputs:   func(o simulate.Object) map[string]any { return map[string]any{"keyId": o.ID} },
		},
		{
			Token:   "aws:kms/alias:Alias",
			Latency: seconds(1, 1, 1), ID: field("name"), AutoName: "name", ReplaceOn: []string{"name", "region"},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"targetKeyArn": "arn:aws:kms:" + region(o) + ":" + account + ":key/" + o.Text("targetKeyId")}
			},
		},
		{
			Token:   "aws:cloudwatch/logGroup:LogGroup",
			Latency: seconds(1, 1, 1), ID: field("name"), AutoName: "name", ReplaceOn: []string{"name", "kmsKeyId", "region"},
			Defaults: map[string]any{"logGroupClass": "STANDARD"},
		},
	}
}

func registryHost(o simulate.Object) string {
	return fmt.Sprintf("%s.dkr.ecr.%s.amazonaws.com", account, region(o))
}
