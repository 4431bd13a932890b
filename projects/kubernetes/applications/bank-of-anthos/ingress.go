package bank

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/contain"
	"mara/projects/internal/stackref"
)

// demoUser is one of the users that the demo data creates.
const demoUser = "testuser"

// publish declares the Ingress and exports where the application is.
func (a *application) publish(controller *stackref.Reference, frontend pulumi.Resource) error {
	host := a.hostOf(controller)
	backend := cluster.Values{"service": cluster.Values{"name": "frontend", "port": cluster.Values{"number": 80}}}
	paths := []cluster.Values{{"path": "/", "pathType": "Prefix", "backend": backend}}
	if _, err := a.Declare(a.ctx, cluster.Object{
		APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Name: applicationName, Namespace: a.namespace,
		Annotations: a.annotations(),
		Fields: cluster.Values{"spec": cluster.Values{
			"ingressClassName": controller.String("ingress_class"),
			"tls":              []cluster.Values{{"hosts": []any{host}, "secretName": applicationName + "-tls"}},
			"rules":            []cluster.Values{{"host": host, "http": cluster.Values{"paths": paths}}},
		}},
	}, pulumi.DependsOn([]pulumi.Resource{frontend})); err != nil {
		return err
	}
	loginHint := demoUser
	if !a.demoData() {
		loginHint = "none: sign up in the application"
	}
	a.ctx.Export("host", host)
	a.ctx.Export("application_url", pulumi.Sprintf("https://%s%s", host, a.port()))
	a.ctx.Export("demo_user", pulumi.String(loginHint))
	return nil
}

// annotations ask cert-manager for a certificate. To prove that the host is
// ours, cert-manager adds a path to this very Ingress: the controller does not
// take a second one for the same host.
// https://cert-manager.io/docs/usage/ingress/
func (a *application) annotations() pulumi.StringMap {
	annotations := pulumi.StringMap{"cert-manager.io/cluster-issuer": pulumi.String(projects.ClusterIssuer)}
	if a.settings.String("certmgr:issuer") == "acme" {
		annotations["acme.cert-manager.io/http01-edit-in-place"] = pulumi.String("true")
	}
	return annotations
}

// hostOf returns the host name of the application. The controller serves only named hosts, so
// a load balancer that has just an address gets a name of sslip.io, which resolves any name
// that contains an address to that address.
func (a *application) hostOf(controller *stackref.Reference) pulumi.StringOutput {
	switch host := a.settings.String("bank-of-anthos:host"); {
	case host != "":
		return pulumi.String(host).ToStringOutput()
	case a.Local():
		return pulumi.String(projects.LocalHost).ToStringOutput()
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

// port returns what follows the host in the address for a browser. On kind the port may be another one of this
// machine, and elsewhere one of the nodes.
func (a *application) port() string {
	ofMachine, ofNodes := a.settings.Int("kind:https_port"), a.settings.Int(projects.HTTPSNodePort)
	if a.Local() && ofMachine != 443 {
		return fmt.Sprintf(":%d", ofMachine)
	}
	if _, ok := a.NodePorts(); ok {
		return fmt.Sprintf(":%d", ofNodes)
	}
	return ""
}
