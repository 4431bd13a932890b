package eks

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/kms"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/aws/internal/environment"
	"mara/projects/internal/contain"
)

// deletionDays is how long AWS keeps a deleted key, for those who regret it:
// the shortest that it allows.
const deletionDays = 7

// makeEncryption declares how Secrets are encrypted, and the cluster role's
// permission to do it. Without it, EKS encrypts with a key of its own.
func (b *builder) makeEncryption(cluster role) (eks.ClusterEncryptionConfigPtrInput, []pulumi.Resource, error) {
	configured := b.cfg.String("eks:kms_key_arn")
	if configured == "" && !b.cfg.Bool("eks:encrypt_secrets") {
		return nil, nil, nil
	}
	key, err := b.encryptionKey(configured)
	if err != nil {
		return nil, nil, err
	}
	permission, err := iam.NewRolePolicy(b.Context, "encryption", &iam.RolePolicyArgs{
		Name:   pulumi.String("encryption"),
		Role:   cluster.name,
		Policy: key.ApplyT(contain.Try(encryptionPolicy)).(pulumi.StringOutput),
	})
	if err != nil {
		return nil, nil, err
	}
	return eks.ClusterEncryptionConfigArgs{
		Provider:  eks.ClusterEncryptionConfigProviderArgs{KeyArn: key},
		Resources: pulumi.ToStringArray([]string{"secrets"}),
	}, []pulumi.Resource{permission}, nil
}

// encryptionKey returns the configured key, or creates one for the cluster.
func (b *builder) encryptionKey(configured string) (pulumi.StringOutput, error) {
	if configured != "" {
		return pulumi.String(configured).ToStringOutput(), nil
	}
	key, err := kms.NewKey(b.Context, "secrets", &kms.KeyArgs{
		Description:          pulumi.Sprintf("Kubernetes Secrets of the cluster %s", b.name),
		EnableKeyRotation:    pulumi.Bool(true),
		DeletionWindowInDays: pulumi.Int(deletionDays),
		Tags:                 environment.Tags(b.Context, b.name),
	})
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	_, err = kms.NewAlias(b.Context, "secrets", &kms.AliasArgs{
		Name:        pulumi.String("alias/" + b.name + "-secrets"),
		TargetKeyId: key.KeyId,
	})
	return key.Arn, err
}

// encryptionPolicy lets a role use a key.
func encryptionPolicy(key string) (string, error) {
	return document(statement{
		Effect:   "Allow",
		Action:   []string{"kms:Encrypt", "kms:Decrypt", "kms:ListGrants", "kms:DescribeKey"},
		Resource: key,
	})
}
