package clouds

import (
	"encoding/json"
	"fmt"
	"strings"

	"mara/runner/internal/feature/simulate"
)

const (
	roleFact    = "aws/role/"
	roleArnFact = "aws/rolearn/"
)

// needsRole makes links from an input with the ARN of a role.
func needsRole(path string) func(simulate.Object) []simulate.Requirement {
	return needs(path, roleArnFact, "InvalidParameterException: there is no role")
}

// needsRoleName makes links from an input with the name of a role.
var needsRoleName = needs("role", roleFact, "NoSuchEntity: there is no role")

// awsIdentities returns the types of IAM.
func awsIdentities() []simulate.Resource {
	return []simulate.Resource{
		{
			Token:   "aws:iam/role:Role",
			Latency: seconds(2, 1, 1), ID: field("name"), AutoName: "name", ReplaceOn: []string{"name", "namePrefix", "path"},
			Check: checkJSON("assumeRolePolicy"),
			Links: links(func(o simulate.Object) []simulate.Fact {
				return []simulate.Fact{
					{Name: roleFact + o.ID, InUse: "DeleteConflict: Cannot delete entity, must detach all policies first"},
					{Name: roleArnFact + arn(o, o.ID)},
				}
			}),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"uniqueId": "AROA" + digits(o, "unique")}
			},
		},
		{
			Token:   "aws:iam/instanceProfile:InstanceProfile",
			Latency: seconds(2, 1, 1), ID: field("name"), AutoName: "name", ReplaceOn: []string{"name", "path"},
			Links: links(nil, once(needsRoleName)),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"uniqueId": "AIPA" + digits(o, "unique")}
			},
		},
		{
			Token:   "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
			Latency: seconds(1, 1, 1), ReplaceOn: []string{"url"},
			ID: func(o simulate.Object) string {
				return fmt.Sprintf("arn:aws:iam::%s:oidc-provider/%s", account, strings.TrimPrefix(o.Text("url"), "https://"))
			},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"arn": o.ID, "thumbprintLists": []any{o.Hex("thumbprint", 40)}}
			},
		},
		{
			Token:   "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
			Latency: seconds(1, 1, 1), ReplaceOn: []string{"role", "policyArn"}, Links: links(nil, needsRoleName),
			ID: func(o simulate.Object) string { return o.Text("role") + "-" + o.Hex("id", 26) },
		},
		{
			Token:   "aws:iam/rolePolicy:RolePolicy",
			Latency: seconds(1, 1, 1), ID: fields(":", "role", "name"), AutoName: "name", ReplaceOn: []string{"role", "name"},
			Check: checkJSON("policy"), Links: links(nil, needsRoleName),
		},
		{
			Token:   "aws:iam/policy:Policy",
			Latency: seconds(1, 1, 1), AutoName: "name", ReplaceOn: []string{"name", "path", "description"},
			Check: checkJSON("policy"),
			ID:    func(o simulate.Object) string { return arn(o, o.Text("name")) },
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"arn": o.ID, "policyId": "ANPA" + digits(o, "unique"), "attachmentCount": 0}
			},
		},
	}
}

// digits returns the random suffix of IAM's ids, from their alphabet.
func digits(o simulate.Object, label string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	text := make([]byte, 17)
	for i := range text {
		text[i] = alphabet[o.Pick(fmt.Sprint(label, i), 0, len(alphabet)-1)]
	}
	return string(text)
}

// checkJSON refuses documents that are not JSON.
func checkJSON(path string) check {
	return func(o simulate.Object) []simulate.Problem {
		document := o.Text(path)
		if document == "" || json.Valid([]byte(document)) {
			return nil
		}
		return refuse(path, "MalformedPolicyDocument: this is not JSON")
	}
}
