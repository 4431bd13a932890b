package clouds

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/projects/schemas"
	"mara/runner/internal/feature/simulate"
)

// account is an account number that Amazon does not give out.
const account = "000000000000"

// awsHost has clusters of EKS, whose load balancers have host names.
func awsHost() host {
	return host{plugin: aws, domain: "eks", loadBalancer: func(o simulate.Object) map[string]any {
		return map[string]any{"hostname": o.Hex("balancer", 32) + ".elb.simulated" + nowhere}
	}}
}

// aws returns the simulation of AWS: networks, EKS and ECR.
func aws() simulate.Package {
	return simulate.Package{
		Name: "aws", Schemas: [][]byte{schemas.Of("aws")}, Partial: true, Words: faultsOf("aws"),
		Resources: slices.Concat(awsNetwork(), awsClusters(), awsIdentities(), awsStorage()),
		Invokes:   awsFunctions(),
		Defaults:  awsDefaults,
	}
}

// awsDefaults returns the outputs that all types share.
func awsDefaults(o simulate.Object) map[string]any {
	tags := map[string]any{} // empty, but not null
	maps.Copy(tags, o.Map("tags"))
	return map[string]any{
		"arn":              arn(o, o.ID),
		"region":           region(o),
		"ownerId":          account,
		"registryId":       account,
		"createdAt":        simulate.Epoch,
		"modifiedAt":       simulate.Epoch,
		"associatedAt":     simulate.Epoch,
		"createDate":       simulate.Epoch,
		"status":           "ACTIVE",
		"tagsAll":          tags,
		"availabilityZone": region(o) + "a",
		"namePrefix":       "",
	}
}

func region(o simulate.Object) string { return o.TextOr("region", o.Config("region", "us-east-1")) }

// arn makes a resource name from the module and the type of the resource:
// aws:ec2/natGateway:NatGateway makes arn:aws:ec2:REGION:ACCOUNT:natgateway/ID.
func arn(o simulate.Object, id string) string {
	module, kind, _ := strings.Cut(strings.TrimPrefix(o.Token, "aws:"), "/")
	kind, _, _ = strings.Cut(kind, ":")
	switch module {
	case "iam":
		return fmt.Sprintf("arn:aws:iam::%s:%s/%s", account, strings.ToLower(kind), id)
	case "cloudwatch":
		return fmt.Sprintf("arn:aws:logs:%s:%s:log-group:%s", region(o), account, id)
	}
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s/%s", module, region(o), account, strings.ToLower(kind), id)
}

// numbered makes ids such as vpc-0a1b2c3d4e5f6a7b8.
func numbered(prefix string) func(simulate.Object) string {
	return func(o simulate.Object) string { return prefix + "-0" + o.Hex("id", 16) }
}

func awsFunctions() []simulate.Invoke {
	return []simulate.Invoke{
		{Token: "aws:index/getAvailabilityZones:getAvailabilityZones", Answer: availabilityZones},
		{
			Token: "aws:index/getCallerIdentity:getCallerIdentity", Answer: constant(map[string]any{
				"accountId": account, "id": account, "userId": "SIMULATED", "arn": "arn:aws:iam::" + account + ":user/SIMULATED",
			})},
		{
			Token: "aws:index/getRegion:getRegion", Answer: func(o simulate.Object) (map[string]any, error) {
				r := region(o)
				return map[string]any{
					"id": r, "name": r, "region": r, "description": "SIMULATED", "endpoint": "ec2." + r + ".simulated" + nowhere,
				}, nil
			}},
		{
			Token: "aws:index/getPartition:getPartition", Answer: constant(map[string]any{
				"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws",
			})},
		{
			Token:   "aws:ecr/getAuthorizationToken:getAuthorizationToken",
			Secrets: []string{"authorizationToken", "password"}, Answer: ecrToken,
		},
		{
			Token: "aws:eks/getAddonVersion:getAddonVersion", Answer: func(o simulate.Object) (map[string]any, error) {
				name := o.Text("addonName")
				return map[string]any{"id": name, "version": addonVersionFor(name, o.Text("kubernetesVersion")), "region": region(o)}, nil
			}},
		{
			Token: "aws:eks/getClusterVersions:getClusterVersions", Answer: func(o simulate.Object) (map[string]any, error) {
				return map[string]any{"clusterVersionsOnlies": []any{"1.36", "1.35", "1.34"}, "region": region(o)}, nil
			}},
		{
			Token: "aws:eks/getClusterAuth:getClusterAuth", Secrets: []string{"token"},
			Answer: func(o simulate.Object) (map[string]any, error) {
				return map[string]any{"id": o.Text("name"), "token": "SIMULATED-" + o.Hex("token", 32), "region": region(o)}, nil
			}},
	}
}

func constant(values map[string]any) func(simulate.Object) (map[string]any, error) {
	return func(simulate.Object) (map[string]any, error) { return values, nil }
}

func availabilityZones(o simulate.Object) (map[string]any, error) {
	r := region(o)
	var names, ids, groups []any
	for i, letter := range []string{"a", "b", "c"} {
		names = append(names, r+letter)
		ids = append(ids, fmt.Sprintf("%s-az%d", shortRegion(r), i+1))
		groups = append(groups, r)
	}
	return map[string]any{"id": r, "region": r, "names": names, "zoneIds": ids, "groupNames": groups}, nil
}

// shortRegion returns the region in zone ids: use1 for us-east-1.
func shortRegion(region string) string {
	parts := strings.Split(region, "-")
	if len(parts) < 3 {
		return region
	}
	return parts[0] + parts[1][:1] + parts[len(parts)-1]
}

func ecrToken(o simulate.Object) (map[string]any, error) {
	password := "SIMULATED-" + o.Hex("password", 32)
	return map[string]any{
		"id": region(o), "region": region(o), "userName": "AWS", "password": password,
		"authorizationToken": base64.StdEncoding.EncodeToString([]byte("AWS:" + password)),
		"proxyEndpoint":      "https://" + registryHost(o),
		"expiresAt":          "2026-01-01T12:00:00Z",
	}, nil
}
