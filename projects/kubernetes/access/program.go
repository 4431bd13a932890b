// Package access is the Pulumi program that gives groups of people their roles. Each group has a ServiceAccount
// as well, whose tokens make kubeconfigs that expire where the login of the cluster knows no groups.
package access

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

const (
	rbac      = "rbac.authorization.k8s.io"
	rbacGroup = rbac + "/v1"
)

// Program declares roles and accounts.
func Program(ctx *pulumi.Context) error {
	project := projects.Access()
	s := settings.New(ctx, project)
	groups, _ := projects.Groups(s.Map("access:groups")) // a rule of the project has judged them
	c, namespace, err := cluster.ConnectIn(ctx, s, project.Namespace)
	if err != nil {
		return err
	}
	if err := monitors(ctx, c); err != nil {
		return err
	}
	may, accounts := pulumi.StringMap{}, pulumi.StringMap{}
	for _, group := range groups {
		if _, err := c.Declare(ctx, cluster.Object{
			APIVersion: "v1", Kind: "ServiceAccount", Name: group.Object(), Namespace: namespace,
			Fields: cluster.Values{"automountServiceAccountToken": false},
		}); err != nil {
			return err
		}
		if err := bind(ctx, c, group, namespace); err != nil {
			return err
		}
		may[group.Name] = pulumi.String(group.May())
		accounts[group.Name] = pulumi.String(project.Namespace + "/" + group.Object())
	}
	ctx.Export("groups", may)
	ctx.Export("accounts", accounts)
	return nil
}

// bind gives a group, and its account, the role.
func bind(ctx *pulumi.Context, c *cluster.Cluster, group projects.Group, account pulumi.StringOutput) error {
	role := map[string]string{
		projects.AdminRole: "cluster-admin", projects.DeveloperRole: "edit", projects.ViewerRole: "view",
	}[group.Role]
	fields := cluster.Values{
		"roleRef": cluster.Values{"apiGroup": rbac, "kind": "ClusterRole", "name": role},
		"subjects": []cluster.Values{
			{"apiGroup": rbac, "kind": "Group", "name": group.Name},
			{"kind": "ServiceAccount", "name": group.Object(), "namespace": account},
		},
	}
	name := "mara-" + group.Object()
	if group.Role != projects.DeveloperRole {
		_, err := c.Declare(ctx, cluster.Object{
			APIVersion: rbacGroup, Kind: "ClusterRoleBinding", Name: name, Fields: fields,
		})
		return err
	}
	for _, namespace := range group.Namespaces {
		if _, err := c.Declare(ctx, cluster.Object{
			APIVersion: rbacGroup, Kind: "RoleBinding", Name: name, Resource: group.Object() + "-" + namespace,
			Namespace: pulumi.String(namespace), Fields: fields,
		}); err != nil {
			return err
		}
	}
	return nil
}

// monitors adds the kinds of the Prometheus operator to the roles edit and view: the operator's chart does not.
func monitors(ctx *pulumi.Context, c *cluster.Cluster) error {
	for _, role := range []struct {
		name  string
		verbs []string
	}{
		{"view", []string{"get", "list", "watch"}},
		{"edit", []string{"create", "update", "patch", "delete", "deletecollection"}},
	} {
		name := "mara-monitors-" + role.name
		if _, err := c.Declare(ctx, cluster.Object{
			APIVersion: rbacGroup, Kind: "ClusterRole", Name: name,
			Labels: []string{rbac + "/aggregate-to-" + role.name, "true"},
			Fields: cluster.Values{"rules": []cluster.Values{{
				"apiGroups": []string{"monitoring.coreos.com"},
				"resources": []string{"servicemonitors", "podmonitors", "prometheusrules", "probes"},
				"verbs":     role.verbs,
			}}},
		}); err != nil {
			return err
		}
	}
	return nil
}
