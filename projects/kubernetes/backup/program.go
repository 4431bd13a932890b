// Package backup is the Pulumi program that deploys Velero: scheduled backups of the cluster's objects, and of
// the volumes by way of the file system, into a bucket of S3 or of a service like it.
package backup

import (
	"cmp"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
	"mara/projects/naming"
)

const (
	release      = "velero"
	schedule     = "daily"
	bucketSecret = "velero-credentials"
	// Velero encrypts volumes with a password that everyone knows, unless a Secret of this name is there when the first
	// backup is made. https://velero.io/docs/v1.18/file-system-backup
	repositorySecret = "velero-repo-credentials"
	longestName      = 50
)

// Program deploys Velero with its schedule.
func Program(ctx *pulumi.Context) error {
	project := projects.Backup()
	s := settings.New(ctx, project)
	o := read(ctx, s)
	c, namespace, err := cluster.ConnectIn(ctx, s, project.Namespace)
	if err != nil {
		return err
	}
	key, err := c.Secret(ctx, bucketSecret, namespace, cluster.Opaque,
		pulumi.StringMap{"cloud": cluster.Hidden(o.credentials())})
	if err != nil {
		return err
	}
	// Another password would make the backups that are there unreadable.
	repository, err := c.Secret(ctx, repositorySecret, namespace, cluster.Opaque,
		pulumi.StringMap{"repository-password": cluster.Hidden(o.password)})
	if err != nil {
		return err
	}
	chart := cluster.Chart{
		Release: release, Chart: "velero", Group: "backup", Namespace: namespace, Values: values(c, o), SkipCRDs: true,
	}
	definitions, err := c.Definitions(ctx, chart, false)
	if err != nil {
		return err
	}
	if _, err := c.Release(ctx, chart, pulumi.DependsOn(append(definitions, key, repository))); err != nil {
		return err
	}
	ctx.Export("schedule", pulumi.String(release+"-"+schedule))
	ctx.Export("location", pulumi.String(o.bucket+"/"+o.prefix))
	return nil
}

// options is what the configuration says.
type options struct {
	bucket, prefix, region, endpoint string
	cron                             string
	days                             int
	namespaces                       []string
	accessKey, secretKey, password   string
}

// read takes the options from the configuration.
func read(ctx *pulumi.Context, s *settings.Settings) options {
	secrets := projects.Backup().Secrets
	return options{
		bucket: s.String("backup:bucket"), region: s.String("backup:region"),
		prefix:   cmp.Or(s.String("backup:prefix"), naming.Environment(ctx.Stack(), "", longestName)),
		endpoint: s.String("backup:endpoint"), cron: s.String("backup:schedule"), days: s.Int("backup:keep_days"),
		namespaces: s.List("backup:namespaces"),
		accessKey:  s.Secret(secrets[0]), secretKey: s.Secret(secrets[1]), password: s.Secret(secrets[2]),
	}
}

// credentials returns the key of the bucket in AWS' format.
func (o options) credentials() string {
	return fmt.Sprintf("[default]\naws_access_key_id=%s\naws_secret_access_key=%s\n", o.accessKey, o.secretKey)
}

// values returns the chart's values.
// https://github.com/vmware-tanzu/helm-charts/blob/velero-12.1.0/charts/velero/values.yaml
func values(c *cluster.Cluster, o options) cluster.Values {
	location := cluster.Values{"region": o.region}
	if o.endpoint != "" {
		location["s3Url"], location["s3ForcePathStyle"] = o.endpoint, "true"
		// Many services like S3 refuse the checksum that the plugin sends by default.
		location["checksumAlgorithm"] = ""
	}
	container := cluster.SecurityContext()
	const grace = 60 // seconds; the chart's hour would hold up a destroy
	return cluster.Values{
		"image": cluster.Values{"repository": c.Image("docker.io/velero/velero")},
		"initContainers": []cluster.Values{{
			"name": "plugin-aws", "image": c.Image(projects.VeleroPlugin), "securityContext": container,
			"volumeMounts": []cluster.Values{{"mountPath": "/target", "name": "plugins"}},
		}},
		"credentials": cluster.Values{"existingSecret": bucketSecret},
		// The user of the image is no root, but has a name, which Kubernetes cannot compare.
		"podSecurityContext":            cluster.Values{"seccompProfile": cluster.Values{"type": "RuntimeDefault"}},
		"containerSecurityContext":      container,
		"terminationGracePeriodSeconds": grace,
		"resources":                     cluster.Resources("50m", "128Mi", "1Gi"),
		"snapshotsEnabled":              false,
		"deployNodeAgent":               true,
		// Without a limit: what it needs grows with the files of a volume, and one that is ended has made no backup.
		"nodeAgent": cluster.Values{"resources": cluster.Values{"requests": cluster.Values{"cpu": "50m", "memory": "128Mi"}}},
		"configuration": cluster.Values{
			// Without it only the volumes of annotated Pods are in a backup, and it still counts as complete.
			"defaultVolumesToFsBackup": true,
			"backupStorageLocation": []cluster.Values{{
				"name": "default", "provider": "aws", "bucket": o.bucket, "prefix": o.prefix, "default": true, "config": location,
			}},
		},
		"upgradeCRDs": false, // the program has them
		"schedules":   cluster.Values{schedule: o.schedule()},
	}
}

// schedule returns the schedule of backups.
func (o options) schedule() cluster.Values {
	template := cluster.Values{"ttl": fmt.Sprintf("%dh", 24*o.days), "storageLocation": "default"}
	if len(o.namespaces) > 0 {
		template["includedNamespaces"] = o.namespaces
	}
	return cluster.Values{"schedule": o.cron, "template": template}
}
