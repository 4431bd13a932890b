package bank

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const (
	applicationName = "bank-of-anthos"
	partOf          = "app.kubernetes.io/part-of"
)

// services deploys the stateless components, each after the database it needs,
// and returns the frontend's Deployment.
func (a *application) services(ctx *pulumi.Context, databases map[string]pulumi.Resource) (pulumi.Resource, error) {
	var frontend pulumi.Resource
	for _, part := range a.components() {
		if part.port > 0 {
			if err := a.service(ctx, part.name, part.port, 8080); err != nil {
				return nil, err
			}
		}
		deployment, err := a.deployment(ctx, part, databases[part.database])
		if err != nil {
			return nil, err
		}
		if part.replicas > 1 {
			if err := a.budget(ctx, part.name); err != nil {
				return nil, err
			}
		}
		if part.name == "frontend" {
			frontend = deployment
		}
	}
	return frontend, nil
}

// deployment runs one component.
func (a *application) deployment(
	ctx *pulumi.Context, part component, database pulumi.Resource,
) (*appsv1.Deployment, error) {
	options := []pulumi.ResourceOption{a.Provider()}
	if database != nil {
		options = append(options, pulumi.DependsOn([]pulumi.Resource{database}))
	}
	return appsv1.NewDeployment(ctx, part.name, &appsv1.DeploymentArgs{
		Metadata: a.Meta(part.name, a.namespace),
		Spec: &appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(part.replicas),
			Selector: &metav1.LabelSelectorArgs{MatchLabels: selector(part.name)},
			Template: &corev1.PodTemplateSpecArgs{
				Metadata: &metav1.ObjectMetaArgs{Labels: a.Labels(labels(part.name)...)},
				Spec:     a.pod(part),
			},
		},
	}, options...)
}

// pod runs as an ordinary user on a file system that it cannot write to.
func (a *application) pod(part component) *corev1.PodSpecArgs {
	volumes := corev1.VolumeArray{
		corev1.VolumeArgs{Name: pulumi.String("tmp"), EmptyDir: corev1.EmptyDirVolumeSourceArgs{}},
	}
	mounts := corev1.VolumeMountArray{corev1.VolumeMountArgs{Name: pulumi.String("tmp"), MountPath: pulumi.String("/tmp")}}
	if part.keys {
		volumes = append(volumes, a.keys(part.signs))
		mounts = append(mounts, corev1.VolumeMountArgs{
			Name: pulumi.String("keys"), MountPath: pulumi.String("/tmp/.ssh"), ReadOnly: pulumi.Bool(true),
		})
	}
	container := corev1.ContainerArgs{
		Name:            pulumi.String(part.name),
		Image:           pulumi.String(a.Image(imageOf(part.name))),
		EnvFrom:         fromConfigMaps(part.config...),
		Env:             append(variables(part.env), a.secretVariables(part.secrets)...),
		Resources:       resources(a.cpu(part.cpu), part.memory, part.cpuLimit, part.memoryLimit),
		SecurityContext: restricted(),
		VolumeMounts:    mounts,
	}
	if part.port > 0 {
		container.Ports = corev1.ContainerPortArray{port("http", 8080)}
	}
	probe(&container, part)
	return &corev1.PodSpecArgs{
		ServiceAccountName:            a.account,
		AutomountServiceAccountToken:  pulumi.Bool(false),
		TerminationGracePeriodSeconds: pulumi.Int(5),
		SecurityContext: &corev1.PodSecurityContextArgs{
			RunAsNonRoot: pulumi.Bool(true), RunAsUser: pulumi.Int(1000),
			RunAsGroup: pulumi.Int(1000), FsGroup: pulumi.Int(1000),
			SeccompProfile: seccompProfile(),
		},
		Containers: corev1.ContainerArray{container},
		Volumes:    volumes,
	}
}

// keys returns the volume with the public key and, for the service that signs tokens, the
// private one.
func (a *application) keys(private bool) corev1.VolumeArgs {
	items := corev1.KeyToPathArray{
		corev1.KeyToPathArgs{Key: pulumi.String("jwtRS256.key.pub"), Path: pulumi.String("publickey")},
	}
	if private {
		items = append(items, corev1.KeyToPathArgs{Key: pulumi.String("jwtRS256.key"), Path: pulumi.String("privatekey")})
	}
	return corev1.VolumeArgs{
		Name:   pulumi.String("keys"),
		Secret: corev1.SecretVolumeSourceArgs{SecretName: a.credentials, Items: items},
	}
}

// probe sets the probes. A Java service gets five minutes to start.
func probe(container *corev1.ContainerArgs, part component) {
	get := func(path string, period, failures int) *corev1.ProbeArgs {
		return &corev1.ProbeArgs{
			HttpGet:          corev1.HTTPGetActionArgs{Path: pulumi.String(path), Port: pulumi.Int(8080)},
			PeriodSeconds:    pulumi.Int(period),
			TimeoutSeconds:   pulumi.Int(10),
			FailureThreshold: pulumi.Int(failures),
		}
	}
	if part.startup != "" {
		container.StartupProbe = get(part.startup, 10, 30)
	}
	if part.ready != "" {
		container.ReadinessProbe = get(part.ready, 5, 6)
	}
	if part.live != "" {
		container.LivenessProbe = get(part.live, 20, 6)
	}
}

// service makes the Service of a component.
func (a *application) service(ctx *pulumi.Context, name string, outer, inner int) error {
	_, err := corev1.NewService(ctx, name, &corev1.ServiceArgs{
		Metadata: a.Meta(name, a.namespace),
		Spec: &corev1.ServiceSpecArgs{
			Type:     pulumi.String("ClusterIP"),
			Selector: selector(name),
			Ports: corev1.ServicePortArray{corev1.ServicePortArgs{
				Name: pulumi.String("main"), Port: pulumi.Int(outer), TargetPort: pulumi.Int(inner),
			}},
		},
	}, a.Provider())
	return err
}

// budget keeps at least one pod running while nodes are being drained.
func (a *application) budget(ctx *pulumi.Context, name string) error {
	_, err := policyv1.NewPodDisruptionBudget(ctx, name, &policyv1.PodDisruptionBudgetArgs{
		Metadata: a.Meta(name, a.namespace),
		Spec: &policyv1.PodDisruptionBudgetSpecArgs{
			MaxUnavailable: pulumi.Int(1),
			Selector:       &metav1.LabelSelectorArgs{MatchLabels: selector(name)},
		},
	}, a.Provider())
	return err
}

// labels returns the labels that select a component's pods, as key, value.
func labels(name string) []string {
	return []string{"app.kubernetes.io/name", name, partOf, applicationName}
}

func selector(name string) pulumi.StringMap {
	return pulumi.StringMap{"app.kubernetes.io/name": pulumi.String(name), partOf: pulumi.String(applicationName)}
}

func port(name string, number int) corev1.ContainerPortArgs {
	return corev1.ContainerPortArgs{Name: pulumi.String(name), ContainerPort: pulumi.Int(number)}
}

// cpu returns the processor time that a container requests. On the user's own machine the
// scheduler would run out of it long before the processors do.
func (a *application) cpu(cloud string) string {
	if a.Local() {
		return "20m"
	}
	return cloud
}

func resources(cpu, memory, cpuLimit, memoryLimit string) *corev1.ResourceRequirementsArgs {
	return &corev1.ResourceRequirementsArgs{
		Requests: pulumi.StringMap{"cpu": pulumi.String(cpu), "memory": pulumi.String(memory)},
		Limits:   pulumi.StringMap{"cpu": pulumi.String(cpuLimit), "memory": pulumi.String(memoryLimit)},
	}
}

// seccompProfile allows the system calls that the container runtime does by
// default.
func seccompProfile() *corev1.SeccompProfileArgs {
	return &corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")}
}

// restricted returns the security context of everything that needs no rights.
func restricted() *corev1.SecurityContextArgs {
	return &corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false),
		Privileged:               pulumi.Bool(false),
		ReadOnlyRootFilesystem:   pulumi.Bool(true),
		RunAsNonRoot:             pulumi.Bool(true),
		RunAsUser:                pulumi.Int(1000),
		Capabilities:             &corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
	}
}
