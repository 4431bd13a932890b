package eks

import (
	"encoding/json"

	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/aws/internal/environment"
)

// A policy document of IAM, as far as it is needed here.
type (
	policyDocument struct {
		Version   string      `json:"Version"`
		Statement []statement `json:"Statement"`
	}
	statement struct {
		Effect    string                       `json:"Effect"`
		Action    []string                     `json:"Action"`
		Principal map[string]string            `json:"Principal,omitempty"`
		Resource  string                       `json:"Resource,omitempty"`
		Condition map[string]map[string]string `json:"Condition,omitempty"`
	}
)

// document returns a policy of some statements, in the newest version of their language.
func document(statements ...statement) (string, error) {
	text, err := json.Marshal(policyDocument{Version: "2012-10-17", Statement: statements})
	return string(text), err
}

// trust is who may take on a role.
type trust struct {
	service     string
	tagSessions bool // Pod Identity tags the sessions that it opens
}

// policy returns the role's trust policy.
func (t trust) policy() (string, error) {
	actions := []string{"sts:AssumeRole"}
	if t.tagSessions {
		actions = append(actions, "sts:TagSession")
	}
	return document(statement{Effect: "Allow", Action: actions, Principal: map[string]string{"Service": t.service}})
}

// role is an IAM role and its permissions. Whoever works under the role has to
// wait for the permissions, and to be gone before they are.
type role struct {
	arn, name   pulumi.StringOutput
	permissions []pulumi.Resource
}

// makeRole declares a role with policies that AWS manages.
func (b *builder) makeRole(name string, trusted trust, policies ...string) (role, error) {
	trustPolicy, err := trusted.policy()
	if err != nil {
		return role{}, err
	}
	fullName := environment.RoleName(b.Stack(), name)
	made, err := iam.NewRole(b.Context, name, &iam.RoleArgs{
		Name:             pulumi.String(fullName),
		AssumeRolePolicy: pulumi.String(trustPolicy),
		Tags:             environment.Tags(b.Context, fullName),
	})
	if err != nil {
		return role{}, err
	}
	granted := role{arn: made.Arn, name: made.Name}
	for _, policy := range policies {
		attached, err := iam.NewRolePolicyAttachment(b.Context, name+"-"+policy, &iam.RolePolicyAttachmentArgs{
			Role:      made.Name,
			PolicyArn: pulumi.String("arn:" + b.partition + ":iam::aws:policy/" + policyPath(policy)),
		})
		if err != nil {
			return role{}, err
		}
		granted.permissions = append(granted.permissions, attached)
	}
	return granted, nil
}

// policyPath returns the path of one of AWS's policies.
func policyPath(policy string) string {
	if policy == storagePolicy {
		return "service-role/" + policy
	}
	return policy
}
