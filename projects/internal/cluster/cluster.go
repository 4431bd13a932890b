// Package cluster connects a program to the environment's Kubernetes cluster:
// one explicit provider made from the kubeconfig project's output, the labels
// that every object carries, and Helm releases configured the same way
// everywhere. Nothing here ever looks at the user's own kubectl context.
//
// Objects are declared by their manifests, and not with the Kubernetes SDK's types for them: a package that mentions
// those compiles eight thousand functions for their sake, which takes seven seconds, and the SDK's own packages a
// minute.
package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/utilities"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
	"mara/projects/model"
	"mara/projects/naming"
)

// Cluster is the environment's cluster as one program deploys to it.
type Cluster struct {
	Infrastructure model.Infrastructure // what hosts the cluster

	settings   *settings.Settings
	small      bool
	mirror     string
	onInsecure string // what namespaces do with Pods below their level: enforce or warn
	kubeconfig pulumi.StringOutput
	identity   string // of a cluster that is there already; "" if it is not configured
	provider   *kubernetes.Provider
	labels     map[string]string
}

// Connect makes the provider for the cluster. The project has to declare
// kubernetes:infra_type and cluster:identity; it declares kubernetes:mirror when it deploys images
// or charts. Problems in the settings are returned here, all at once.
func Connect(ctx *pulumi.Context, s *settings.Settings) (*Cluster, error) {
	infrastructure := s.Infrastructure()
	images := ""
	if s.Declares(projects.Mirror) {
		images = strings.Trim(s.String(projects.Mirror), "/")
	}
	small := s.Declares(projects.SmallKey) && s.Bool(projects.SmallKey)
	identity := s.ClusterIdentity()
	onInsecure := "enforce"
	if s.Declares(projects.PodSecurity) {
		onInsecure = s.String(projects.PodSecurity)
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	kubeconfig := stackref.New(ctx, projects.Kubeconfig().Name).String("kubeconfig") // a secret output
	c := &Cluster{
		Infrastructure: infrastructure,

		settings:   s,
		small:      infrastructure.Local || infrastructure.Existing != nil && small,
		mirror:     images,
		onInsecure: onInsecure,
		kubeconfig: kubeconfig,
		identity:   identity,
		labels: map[string]string{
			"app.kubernetes.io/managed-by": "mara",
			"mara.dev/project":             labelValue(ctx.Project()),
			"mara.dev/stack":               labelValue(ctx.Stack()),
		},
	}
	var err error
	if c.provider, err = kubernetes.NewProvider(ctx, "cluster", c.providerArgs()); err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return c, nil
}

// ConnectIn connects like Connect, and makes the namespace that the program deploys to.
func ConnectIn(ctx *pulumi.Context, s *settings.Settings, namespace string) (*Cluster, pulumi.StringOutput, error) {
	c, err := Connect(ctx, s)
	if err != nil {
		return nil, pulumi.StringOutput{}, err
	}
	made, err := c.Namespace(ctx, namespace)
	return c, made, err
}

// providerArgs returns the arguments of every provider for the objects of the cluster.
func (c *Cluster) providerArgs() *kubernetes.ProviderArgs {
	args := &kubernetes.ProviderArgs{
		Kubeconfig:            c.kubeconfig,
		EnableServerSideApply: pulumi.Bool(true),
		// Names are explicit, so a changed ConfigMap or Secret has to be updated
		// in place: a replacement would take it away from running pods.
		EnableConfigMapMutable: pulumi.Bool(true),
		EnableSecretMutable:    pulumi.Bool(true),
		// Most charts have hooks; Pulumi's warning about them says nothing the user can act on.
		SuppressHelmHookWarnings: pulumi.Bool(true),
	}
	if c.identity != "" {
		args.ClusterIdentifier = pulumi.String(c.identity)
	}
	return args
}

// Local reports whether the cluster runs on the user's own machine.
func (c *Cluster) Local() bool { return c.Infrastructure.Local }

// Small reports whether there is one of everything and little memory, as on the user's own machine.
func (c *Cluster) Small() bool { return c.small }

// simulatedAddress is that of a node of a simulated cluster, among the addresses for documentation.
const simulatedAddress = "203.0.113.10"

// NodePorts reports whether the cluster is entered by ports of its nodes; address is where.
func (c *Cluster) NodePorts() (address string, ok bool) {
	entry := c.settings.String(projects.EntryKey)
	if c.settings.Declares(projects.AddressKey) {
		address = c.settings.String(projects.AddressKey)
	}
	if address == "" && c.settings.Simulated() {
		address = simulatedAddress // that of a node is asked from a real cluster
	}
	return address, c.Infrastructure.Existing != nil && entry == projects.NodePorts
}

// StorageClass returns the storage class of volumes; "" means the cluster's default.
func (c *Cluster) StorageClass() string {
	return cmp.Or(c.settings.String(projects.StorageClass), c.Infrastructure.StorageClass)
}

// Claim returns what a volume of a size is claimed with.
func (c *Cluster) Claim(size string) Values {
	claim := Values{"accessModes": []string{"ReadWriteOnce"}, "resources": Values{"requests": Values{"storage": size}}}
	if class := c.StorageClass(); class != "" {
		claim["storageClassName"] = class
	}
	return claim
}

// Replicas returns the configured number of pods; the default is one in a small cluster
// and the given number elsewhere.
func (c *Cluster) Replicas(key string, cloud int) int {
	switch {
	case c.settings.IsSet(key):
		return c.settings.Int(key)
	case c.Small():
		return 1
	}
	return cloud
}

// Provider returns the option that every Kubernetes resource needs.
func (c *Cluster) Provider() pulumi.ResourceOption { return pulumi.Provider(c.provider) }

// Labels returns the common labels and any others, given as key, value.
func (c *Cluster) Labels(extra ...string) pulumi.StringMap {
	labels := maps.Clone(c.labels)
	for i := 0; i+1 < len(extra); i += 2 {
		labels[extra[i]] = extra[i+1]
	}
	return pulumi.ToStringMap(labels)
}

// Namespace makes a namespace, and returns its name as an input for what goes into
// it. Destroying it takes everything inside along, such as the volume claims that
// charts leave behind.
func (c *Cluster) Namespace(ctx *pulumi.Context, name string) (pulumi.StringOutput, error) {
	made, err := c.Declare(ctx, Object{
		APIVersion: "v1", Kind: "Namespace", Name: name,
		Labels: []string{"pod-security.kubernetes.io/" + c.onInsecure, c.podSecurity(name)},
	})
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	return made.Name(), nil
}

// Opaque is the type of a Secret that holds anything.
const Opaque = "Opaque"

// Secret makes a Secret of a type.
func (c *Cluster) Secret(
	ctx *pulumi.Context, name string, namespace pulumi.StringInput, kind string, data pulumi.StringMap,
	options ...pulumi.ResourceOption,
) (*Declared, error) {
	return c.Declare(ctx, Object{
		APIVersion: "v1", Kind: "Secret", Name: name, Namespace: namespace,
		Fields: Values{"type": kind, "stringData": pulumi.ToSecret(data)},
	}, append(options, HideSecretData())...)
}

// HideSecretData keeps encrypted in the state what the API server says of a Secret.
func HideSecretData() pulumi.ResourceOption {
	return pulumi.AdditionalSecretOutputs([]string{"data", "stringData"})
}

// Hidden returns a text that the state keeps encrypted, for the data of a Secret.
func Hidden(text string) pulumi.StringOutput {
	return pulumi.ToSecret(pulumi.String(text)).(pulumi.StringOutput)
}

// Object is an object of the cluster as a manifest has it.
type Object struct {
	APIVersion, Kind, Name string
	Namespace              pulumi.StringInput // nil for a kind without one
	Resource               string             // name of the resource; "" for that of the object
	Annotations            pulumi.StringMap
	Labels                 []string // besides the common ones: key, value
	Fields                 Values   // everything but apiVersion, kind and metadata
}

// Declared is an object that a program has declared.
type Declared struct {
	pulumi.CustomResourceState

	Metadata pulumi.MapOutput `pulumi:"metadata"`
}

// Name returns the object's name, which is known once the object is there.
func (d *Declared) Name() pulumi.StringOutput {
	return d.Metadata.ApplyT(contain.Value(func(metadata map[string]any) string {
		name, _ := metadata["name"].(string)
		return name
	})).(pulumi.StringOutput)
}

// Found is an object that a program reads.
type Found struct {
	pulumi.CustomResourceState

	Data   pulumi.StringMapOutput `pulumi:"data"`
	Status pulumi.MapOutput       `pulumi:"status"`
}

// Read reads an object of a core kind as a resource.
func (c *Cluster) Read(
	ctx *pulumi.Context, kind, resource string, namespace, name pulumi.StringInput, opts ...pulumi.ResourceOption,
) (*Found, error) {
	id := pulumi.Sprintf("%s/%s", namespace, name).ApplyT(contain.Value(func(id string) pulumi.ID {
		return pulumi.ID(id)
	})).(pulumi.IDOutput)
	found := &Found{}
	return found, ctx.ReadResource(token("v1", kind), resource, id, nil, found, append(opts, c.Provider())...)
}

// Declare declares an object with the common labels.
func (c *Cluster) Declare(ctx *pulumi.Context, o Object, opts ...pulumi.ResourceOption) (*Declared, error) {
	fields, err := inputsOf(o.Fields)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
	}
	meta := pulumi.Map{"name": pulumi.String(o.Name), "labels": c.Labels(o.Labels...)}
	if o.Namespace != nil {
		meta["namespace"] = o.Namespace
	}
	if o.Annotations != nil {
		meta["annotations"] = o.Annotations
	}
	fields["apiVersion"], fields["kind"], fields["metadata"] = pulumi.String(o.APIVersion), pulumi.String(o.Kind), meta
	declared := &Declared{}
	return declared, ctx.RegisterResource(token(o.APIVersion, o.Kind), cmp.Or(o.Resource, o.Name), fields, declared,
		utilities.PkgResourceDefaultOpts(append(opts, c.Provider()))...)
}

// token returns Pulumi's type of an object.
func token(apiVersion, kind string) string {
	if !strings.Contains(apiVersion, "/") {
		apiVersion = "core/" + apiVersion
	}
	return "kubernetes:" + apiVersion + ":" + kind
}

// Image returns the name to pull an image by: as given, or with the mirror in place of its own
// registry.
func (c *Cluster) Image(name string) string {
	return naming.InMirror(c.mirror, name)
}

// Registry returns the registry host to pull images from, for charts that take host and
// repository separately: as given, or the mirror.
func (c *Cluster) Registry(host string) string { return cmp.Or(c.mirror, host) }

// labelValue makes a text fit for the value of a label: at most 63 characters,
// letters and digits at both ends.
func labelValue(text string) string {
	if len(text) > 63 {
		text = text[:63]
	}
	return strings.Trim(text, "-_.")
}
