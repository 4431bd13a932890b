// Package ecr is the project "aws-ecr": a private repository for the ingress
// controller's image. It is emptied when it is destroyed, so that a teardown
// does not stop at the images inside.
package ecr

import (
	"encoding/json"

	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/ecr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/aws/internal/environment"
	"mara/projects/internal/settings"
)

// Program declares the repository.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.AWSECR())
	args := repositoryArgs(ctx, cfg)
	keep, untagged := cfg.Int("ecr:keep_images"), cfg.Int("ecr:untagged_days")
	if err := cfg.Err(); err != nil {
		return err
	}
	// The name is fixed, so a repository that replaces another has to wait for it to go.
	repository, err := ecr.NewRepository(ctx, "repository", args, pulumi.DeleteBeforeReplace(true))
	if err != nil {
		return err
	}
	policy, err := lifecycle(keep, untagged)
	if err != nil {
		return err
	}
	_, err = ecr.NewLifecyclePolicy(ctx, "lifecycle", &ecr.LifecyclePolicyArgs{
		Repository: repository.Name,
		Policy:     pulumi.String(policy),
	})
	if err != nil {
		return err
	}
	ctx.Export("repository_url", repository.RepositoryUrl)
	ctx.Export("repository_name", repository.Name)
	ctx.Export("registry_id", repository.RegistryId)
	return nil
}

// repositoryArgs turns the configuration into the repository's inputs.
func repositoryArgs(ctx *pulumi.Context, cfg *settings.Settings) *ecr.RepositoryArgs {
	name := environment.ClusterName(ctx.Stack()) + "/nginx-ingress"
	return &ecr.RepositoryArgs{
		Name:        pulumi.String(name),
		ForceDelete: pulumi.Bool(true),
		// A rebuilt image is pushed under the tag that it had.
		ImageTagMutability: pulumi.String("MUTABLE"),
		ImageScanningConfiguration: ecr.RepositoryImageScanningConfigurationArgs{
			ScanOnPush: pulumi.Bool(cfg.Bool("ecr:scan_on_push")),
		},
		EncryptionConfigurations: ecr.RepositoryEncryptionConfigurationArray{encryption(cfg.String("ecr:kms_key_arn"))},
		Tags:                     environment.Tags(ctx, name),
	}
}

// encryption returns encryption by the given KMS key, or by a key of Amazon's.
func encryption(key string) ecr.RepositoryEncryptionConfigurationArgs {
	if key == "" {
		return ecr.RepositoryEncryptionConfigurationArgs{EncryptionType: pulumi.String("AES256")}
	}
	return ecr.RepositoryEncryptionConfigurationArgs{EncryptionType: pulumi.String("KMS"), KmsKey: pulumi.String(key)}
}

// A lifecycle policy as ECR takes it:
// docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html.
type (
	lifecyclePolicy struct {
		Rules []rule `json:"rules"`
	}
	rule struct {
		RulePriority int       `json:"rulePriority"`
		Description  string    `json:"description"`
		Selection    selection `json:"selection"`
		Action       action    `json:"action"`
	}
	selection struct {
		TagStatus   string `json:"tagStatus"`
		CountType   string `json:"countType"`
		CountUnit   string `json:"countUnit,omitempty"`
		CountNumber int    `json:"countNumber"`
	}
	action struct {
		Type string `json:"type"`
	}
)

// lifecycle returns the policy that deletes untagged images after some days, and all but the
// newest images.
func lifecycle(keep, untaggedDays int) (string, error) {
	policy, err := json.Marshal(lifecyclePolicy{Rules: []rule{
		{
			RulePriority: 1,
			Description:  "remove images that have lost their tag",
			Selection: selection{
				TagStatus: "untagged", CountType: "sinceImagePushed", CountUnit: "days", CountNumber: untaggedDays,
			},
			Action: action{Type: "expire"},
		},
		{
			RulePriority: 2,
			Description:  "keep the newest images",
			Selection:    selection{TagStatus: "any", CountType: "imageCountMoreThan", CountNumber: keep},
			Action:       action{Type: "expire"},
		},
	}})
	return string(policy), err
}
