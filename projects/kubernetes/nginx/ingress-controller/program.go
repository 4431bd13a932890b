// Package controller is the Pulumi program that deploys the F5 NGINX Ingress
// Controller from the image that kic-image-push has put into the environment's
// registry. Its Service offers HTTP and HTTPS only: status page and metrics stay
// on the pods.
package controller

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/helm"
	"mara/projects/internal/cluster"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
	"mara/projects/model"
)

const (
	release      = "nginx-ingress"
	service      = release + "-controller" // the chart's name for its Service
	ingressClass = "nginx"
	license      = "nginx-plus-license"
)

// options is what the configuration says.
type options struct {
	plus            bool
	license         string // the licence token; "" without Plus
	customResources bool
	keepCRDs        bool
	tracing         bool
	sourceRanges    []string
	publicImage     string // where the environment has no registry; "" with one
	httpPort        int    // of the nodes, where the cluster is entered by them
	httpsPort       int
}

// image is where the controller comes from.
type image struct {
	repository, tag, digest pulumi.StringOutput
}

// Program deploys the controller and exports the address it is reached at.
func Program(ctx *pulumi.Context) error {
	s := settings.New(ctx, projects.IngressController())
	o := read(s)
	c, err := cluster.Connect(ctx, s)
	if err != nil {
		return err
	}
	namespace := stackref.New(ctx, projects.IngressControllerNamespace().Name).String("namespace")
	chart := cluster.Chart{
		Release: release, Chart: "nginx-ingress", Group: "nginx", Namespace: namespace,
		Values: values(c, o, imageOf(ctx, c, o)), SkipCRDs: true,
	}
	needs, err := prerequisites(ctx, c, chart, o)
	if err != nil {
		return err
	}
	deployed, err := c.Release(ctx, chart, pulumi.DependsOn(needs))
	if err != nil {
		return err
	}
	return export(ctx, c, deployed)
}

// imageOf returns the controller's image: the one in the environment's registry, or the public one without a registry.
func imageOf(ctx *pulumi.Context, c *cluster.Cluster, o options) image {
	if o.publicImage == "" {
		push := stackref.New(ctx, projects.KICImagePush().Name)
		return image{
			repository: push.String("image_repository"), tag: push.String("image_tag"), digest: push.String("image_digest"),
		}
	}
	repository, tag, digest := model.SplitImage(c.Image(o.publicImage))
	text := func(value string) pulumi.StringOutput { return pulumi.String(value).ToStringOutput() }
	return image{repository: text(repository), tag: text(tag), digest: text(digest)}
}

// read takes the options from the configuration.
func read(s *settings.Settings) options {
	o := options{
		plus:            s.Bool("kic:nginx_plus"),
		customResources: s.Bool("nginx:custom_resources"),
		keepCRDs:        s.Bool("nginx:keep_crds"),
		tracing:         s.Bool("nginx:tracing"),
		sourceRanges:    s.List("nginx:source_ranges"),
	}
	o.httpPort, o.httpsPort = s.Int(projects.HTTPNodePort), s.Int(projects.HTTPSNodePort)
	public := cmp.Or(s.String("kic:image_name"), projects.KICImage)
	if key := s.Infrastructure().Registry.Address.Name; key != "" && s.String(key) == "" {
		o.publicImage = public
	}
	if o.plus {
		o.license = readLicense(s)
	}
	return o
}

// readLicense reads the licence token that NGINX Plus does not start without.
func readLicense(s *settings.Settings) string {
	const key = "kic:jwt_path"
	token, err := os.ReadFile(s.String(key))
	if err != nil && s.Err() == nil { // else a rule has said it
		s.Reject(key, "names a file that cannot be read: %w", err)
	}
	return strings.TrimSpace(string(token))
}

// prerequisites declares the resources that have to exist before the controller starts: the
// definitions of the kinds that it serves, and its licence.
func prerequisites(ctx *pulumi.Context, c *cluster.Cluster, chart cluster.Chart, o options) ([]pulumi.Resource, error) {
	var needs []pulumi.Resource
	if o.customResources {
		definitions, err := c.Definitions(ctx, chart, o.keepCRDs)
		if err != nil {
			return nil, err
		}
		needs = append(needs, definitions...)
	}
	if o.plus {
		// https://docs.nginx.com/nginx-ingress-controller/install/license-secret/
		token := pulumi.StringMap{"license.jwt": cluster.Hidden(o.license)}
		secret, err := c.Secret(ctx, license, chart.Namespace, "nginx.com/license", token)
		if err != nil {
			return nil, err
		}
		needs = append(needs, secret)
	}
	return needs, nil
}

// export finds out where the controller is reached. On kind that is this
// machine; a load balancer's address is on the Service once the release is
// ready, because Helm waits for it.
func export(ctx *pulumi.Context, c *cluster.Cluster, deployed *helm.Release) error {
	ctx.Export("ingress_class", pulumi.String(ingressClass))
	if c.Local() {
		ctx.Export("address", pulumi.String(localAddress))
		ctx.Export("hostname", pulumi.String(localAddress))
		ctx.Export("ip", pulumi.String(""))
		return nil
	}
	if at, ok := c.NodePorts(); ok {
		hostname, ip := at, ""
		if _, err := netip.ParseAddr(at); err == nil {
			hostname, ip = "", at
		}
		ctx.Export("address", pulumi.String(at))
		ctx.Export("hostname", pulumi.String(hostname))
		ctx.Export("ip", pulumi.String(ip))
		return nil
	}
	balancer, err := c.Read(ctx, "Service", service, deployed.Namespace(), pulumi.String(service))
	if err != nil {
		return fmt.Errorf("reading the load balancer's address: %w", err)
	}
	hostname := entry(balancer, "hostname")
	ip := entry(balancer, "ip")
	ctx.Export("hostname", hostname)
	ctx.Export("ip", ip)
	ctx.Export("address", pulumi.All(hostname, ip).ApplyT(contain.Value(func(found []any) string {
		if hostname := found[0].(string); hostname != "" {
			return hostname
		}
		return found[1].(string)
	})))
	return nil
}

// entry returns a field of the first entry of a load balancer's status, if it has one: AWS gives a host name, Linode an
// IP address and a host name.
func entry(balancer *cluster.Found, field string) pulumi.StringOutput {
	return balancer.Status.ApplyT(contain.Value(func(status map[string]any) string {
		of, _ := status["loadBalancer"].(map[string]any)
		entries, _ := of["ingress"].([]any)
		if len(entries) == 0 {
			return ""
		}
		first, _ := entries[0].(map[string]any)
		text, _ := first[field].(string)
		return text
	})).(pulumi.StringOutput)
}
