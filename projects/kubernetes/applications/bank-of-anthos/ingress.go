package bank

import (
	"errors"
	"fmt"
	"strings"

	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/stackref"
)

// demoUser is one of the users that the demo data creates.
const demoUser = "testuser"

// publish makes the Ingress and exports where the application is.
func (a *application) publish(ctx *pulumi.Context, controller *stackref.Reference, frontend pulumi.Resource) error {
	host := a.hostOf(controller)
	meta := a.Meta(applicationName, a.namespace)
	meta.Annotations = a.annotations()
	if _, err := networkingv1.NewIngress(ctx, applicationName, &networkingv1.IngressArgs{
		Metadata: meta,
		Spec: &networkingv1.IngressSpecArgs{
			IngressClassName: controller.String("ingress_class"),
			Tls: networkingv1.IngressTLSArray{networkingv1.IngressTLSArgs{
				Hosts: pulumi.StringArray{host}, SecretName: pulumi.String(applicationName + "-tls"),
			}},
			Rules: networkingv1.IngressRuleArray{networkingv1.IngressRuleArgs{
				Host: host,
				Http: networkingv1.HTTPIngressRuleValueArgs{Paths: networkingv1.HTTPIngressPathArray{
					networkingv1.HTTPIngressPathArgs{
						Path: pulumi.String("/"), PathType: pulumi.String("Prefix"),
						Backend: networkingv1.IngressBackendArgs{Service: networkingv1.IngressServiceBackendArgs{
							Name: pulumi.String("frontend"),
							Port: networkingv1.ServiceBackendPortArgs{Number: pulumi.Int(80)},
						}},
					},
				}},
			}},
		},
	}, a.Provider(), pulumi.DependsOn([]pulumi.Resource{frontend})); err != nil {
		return err
	}
	ctx.Export("host", host)
	ctx.Export("application_url", host.ApplyT(contain.Value(a.url)).(pulumi.StringOutput))
	ctx.Export("demo_user", pulumi.String(a.loginHint()))
	return nil
}

// annotations ask cert-manager for a certificate. To prove that the host is
// ours, cert-manager adds a path to this very Ingress: the controller does not
// take a second one for the same host.
// https://cert-manager.io/docs/usage/ingress/
func (a *application) annotations() pulumi.StringMap {
	annotations := pulumi.StringMap{"cert-manager.io/cluster-issuer": pulumi.String(projects.ClusterIssuer)}
	if a.acme {
		annotations["acme.cert-manager.io/http01-edit-in-place"] = pulumi.String("true")
	}
	return annotations
}

// hostOf returns the host name of the application. The controller serves only named hosts, so
// a load balancer that has just an address gets a name of sslip.io, which resolves any name
// that contains an address to that address.
func (a *application) hostOf(controller *stackref.Reference) pulumi.StringOutput {
	switch {
	case a.host != "":
		return pulumi.String(a.host).ToStringOutput()
	case a.Local():
		return pulumi.String("localhost").ToStringOutput()
	}
	addresses := pulumi.All(controller.String("hostname"), controller.String("ip"))
	return addresses.ApplyT(contain.Try(func(found []any) (string, error) {
		return balancerHost(found[0].(string), found[1].(string))
	})).(pulumi.StringOutput)
}

// balancerHost names the host behind a load balancer.
func balancerHost(hostname, ip string) (string, error) {
	switch {
	case hostname != "":
		return hostname, nil
	case ip != "":
		return strings.NewReplacer(".", "-", ":", "-").Replace(ip) + ".sslip.io", nil
	}
	return "", errors.New("the ingress controller's load balancer has no address yet: " +
		"run the same command again in a minute, or set bank-of-anthos:host")
}

// url returns the application's address for a browser. On kind the port may be another one of
// this machine.
func (a *application) url(host string) string {
	if a.Local() && a.httpsPort != 443 {
		return fmt.Sprintf("https://%s:%d", host, a.httpsPort)
	}
	return "https://" + host
}

// loginHint says whom to log in as.
func (a *application) loginHint() string {
	if a.demoData {
		return demoUser
	}
	return "none: sign up in the application"
}
