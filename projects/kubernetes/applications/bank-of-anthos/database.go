package bank

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
)

const metricsPort = 9187

// database describes one of the two PostgreSQL databases.
type database struct {
	name, database, user string
	passwordKey          string // key of the credentials
	memory, memoryLimit  string
}

// databases describes the databases.
func databases() []database {
	return []database{
		{
			name: "accounts-db", database: "accounts-db", user: "accounts-admin", passwordKey: "accounts-db-password",
			memory: "128Mi", memoryLimit: "512Mi",
		},
		{
			name: "ledger-db", database: "postgresdb", user: "admin", passwordKey: "ledger-db-password",
			memory: "256Mi", memoryLimit: "1Gi",
		},
	}
}

// databases deploys both databases and lets Prometheus watch them. The result
// holds their StatefulSets by name.
func (a *application) databases(ctx *pulumi.Context) (map[string]pulumi.Resource, error) {
	deployed := map[string]pulumi.Resource{}
	for _, db := range databases() {
		set, err := a.database(ctx, db)
		if err != nil {
			return nil, err
		}
		deployed[db.name] = set
	}
	return deployed, a.monitor(ctx)
}

// database deploys one database on a volume of its own. The volume goes when
// the database is destroyed, so that none outlives the cluster.
func (a *application) database(ctx *pulumi.Context, db database) (*appsv1.StatefulSet, error) {
	if err := a.service(ctx, db.name, 5432, 5432); err != nil {
		return nil, err
	}
	if err := a.protect(ctx, db); err != nil {
		return nil, err
	}
	return appsv1.NewStatefulSet(ctx, db.name, &appsv1.StatefulSetArgs{
		Metadata: a.Meta(db.name, a.namespace),
		Spec: &appsv1.StatefulSetSpecArgs{
			ServiceName: pulumi.String(db.name),
			Replicas:    pulumi.Int(1),
			Selector:    &metav1.LabelSelectorArgs{MatchLabels: selector(db.name)},
			Template: &corev1.PodTemplateSpecArgs{
				Metadata: &metav1.ObjectMetaArgs{Labels: a.Labels(append(labels(db.name), databaseLabel, "true")...)},
				Spec: &corev1.PodSpecArgs{
					ServiceAccountName:           a.account,
					AutomountServiceAccountToken: pulumi.Bool(false),
					SecurityContext:              &corev1.PodSecurityContextArgs{SeccompProfile: seccompProfile()},
					Containers:                   corev1.ContainerArray{a.postgres(db), a.exporter(db)},
				},
			},
			VolumeClaimTemplates: corev1.PersistentVolumeClaimTypeArray{a.claim()},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicyArgs{
				WhenDeleted: pulumi.String("Delete"),
				WhenScaled:  pulumi.String("Retain"),
			},
		},
	}, a.Provider())
}

// postgres returns the database's own container.
func (a *application) postgres(db database) corev1.ContainerArgs {
	demoData := "" // the scripts look for an empty text, not for "False"
	if a.demoData {
		demoData = "True"
	}
	env := variables(map[string]string{
		"POSTGRES_DB": db.database, "POSTGRES_USER": db.user, "USE_DEMO_DATA": demoData,
	})
	// Over TCP: while the database is being filled it answers on its socket only.
	ready := &corev1.ExecActionArgs{Command: pulumi.ToStringArray(
		[]string{"pg_isready", "--host", "127.0.0.1", "--username", db.user, "--dbname", db.database})}
	return corev1.ContainerArgs{
		Name:            pulumi.String(db.name),
		Image:           pulumi.String(a.Image(imageOf(db.name))),
		EnvFrom:         fromConfigMaps(environmentConfig),
		Env:             append(env, a.secretVariables(map[string]string{"POSTGRES_PASSWORD": db.passwordKey})...),
		Ports:           corev1.ContainerPortArray{port("postgres", 5432)},
		StartupProbe:    &corev1.ProbeArgs{Exec: ready, PeriodSeconds: pulumi.Int(5), FailureThreshold: pulumi.Int(60)},
		ReadinessProbe:  &corev1.ProbeArgs{Exec: ready, PeriodSeconds: pulumi.Int(5)},
		LivenessProbe:   &corev1.ProbeArgs{Exec: ready, PeriodSeconds: pulumi.Int(20), FailureThreshold: pulumi.Int(6)},
		Resources:       resources(a.cpu("100m"), db.memory, "250m", db.memoryLimit),
		SecurityContext: &corev1.SecurityContextArgs{AllowPrivilegeEscalation: pulumi.Bool(false)},
		VolumeMounts: corev1.VolumeMountArray{corev1.VolumeMountArgs{
			Name:      pulumi.String("data"),
			MountPath: pulumi.String("/var/lib/postgresql/data"),
			SubPath:   pulumi.String("postgres"),
		}},
	}
}

// exporter returns the container next to the database that serves its metrics.
func (a *application) exporter(db database) corev1.ContainerArgs {
	env := variables(map[string]string{
		"DATA_SOURCE_URI":  "127.0.0.1:5432/" + db.database + "?sslmode=disable",
		"DATA_SOURCE_USER": db.user,
	})
	return corev1.ContainerArgs{
		Name:            pulumi.String("metrics"),
		Image:           pulumi.String(a.Image(exporterImage)),
		Env:             append(env, a.secretVariables(map[string]string{"DATA_SOURCE_PASS": db.passwordKey})...),
		Ports:           corev1.ContainerPortArray{port("metrics", metricsPort)},
		Resources:       resources("10m", "32Mi", "100m", "128Mi"),
		SecurityContext: restricted(),
	}
}

// claim asks for the volume of one database.
func (a *application) claim() corev1.PersistentVolumeClaimTypeArgs {
	spec := &corev1.PersistentVolumeClaimSpecArgs{
		AccessModes: pulumi.ToStringArray([]string{"ReadWriteOnce"}),
		Resources: &corev1.VolumeResourceRequirementsArgs{
			Requests: pulumi.StringMap{"storage": pulumi.String(a.storage)},
		},
	}
	if class := a.StorageClass(); class != "" {
		spec.StorageClassName = pulumi.String(class)
	}
	return corev1.PersistentVolumeClaimTypeArgs{
		Metadata: &metav1.ObjectMetaArgs{Name: pulumi.String("data")}, Spec: spec,
	}
}

// protect lets only the application's own pods reach a database, and only
// Prometheus its metrics.
func (a *application) protect(ctx *pulumi.Context, db database) error {
	allow := func(from *networkingv1.NetworkPolicyPeerArgs, port int) networkingv1.NetworkPolicyIngressRuleArgs {
		return networkingv1.NetworkPolicyIngressRuleArgs{
			From:  networkingv1.NetworkPolicyPeerArray{from},
			Ports: networkingv1.NetworkPolicyPortArray{networkingv1.NetworkPolicyPortArgs{Port: pulumi.Int(port)}},
		}
	}
	application := &networkingv1.NetworkPolicyPeerArgs{
		PodSelector: &metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{partOf: pulumi.String(applicationName)}},
	}
	prometheus := &networkingv1.NetworkPolicyPeerArgs{
		NamespaceSelector: &metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{
			"kubernetes.io/metadata.name": pulumi.String(projects.Prometheus().Namespace),
		}},
	}
	_, err := networkingv1.NewNetworkPolicy(ctx, db.name, &networkingv1.NetworkPolicyArgs{
		Metadata: a.Meta(db.name, a.namespace),
		Spec: &networkingv1.NetworkPolicySpecArgs{
			PodSelector: &metav1.LabelSelectorArgs{MatchLabels: selector(db.name)},
			PolicyTypes: pulumi.ToStringArray([]string{"Ingress"}),
			Ingress: networkingv1.NetworkPolicyIngressRuleArray{
				allow(application, 5432),
				allow(prometheus, metricsPort),
			},
		},
	}, a.Provider())
	return err
}
