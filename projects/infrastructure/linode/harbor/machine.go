package harbor

import (
	_ "embed"
	"fmt"
	"net/netip"
	"strings"

	"github.com/pulumi/pulumi-linode/sdk/v5/go/linode"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/linode/internal/environment"
	"mara/projects/internal/inputs"
	"mara/projects/internal/settings"
)

// installer is the StackScript that turns a bare machine into a Harbor.
//
//go:embed install.sh
var installer string

// makeMachine declares the machine, the script that sets it up when it first
// starts, and the firewall, which stands before the script has installed anything.
func makeMachine(
	ctx *pulumi.Context, cfg *settings.Settings, password pulumi.StringOutput,
) (*linode.Instance, error) {
	image, keys := pulumi.String(cfg.String("harbor:image")), cfg.List("harbor:ssh_authorized_keys")
	script, err := linode.NewStackScript(ctx, "installer", &linode.StackScriptArgs{
		Label:       environment.Label(ctx.Stack(), "harbor"),
		Description: pulumi.String("Installs Harbor with a certificate of Let's Encrypt"),
		Images:      pulumi.StringArray{image},
		Script:      pulumi.String(installer),
	})
	if err != nil {
		return nil, err
	}
	// The label is fixed, so a machine that replaces another has to wait for it to go. In another
	// region it gets another address, which its certificate is not for: only a new machine has one.
	machine, err := linode.NewInstance(ctx, "harbor", &linode.InstanceArgs{
		Label:          environment.Label(ctx.Stack(), "harbor"),
		Region:         pulumi.String(cfg.String("lke:region")),
		Type:           pulumi.String(cfg.String("harbor:instance_type")),
		Image:          image,
		AuthorizedKeys: inputs.List(keys),
		StackscriptId:  environment.Number(script.ID()),
		StackscriptData: pulumi.StringMap{
			"harbor_admin_password": password,
			"harbor_version":        pulumi.String(cfg.String("harbor:version")),
			"harbor_email":          pulumi.String(cfg.String("harbor:email")),
		},
		Tags: environment.Tags(ctx),
	}, pulumi.DeleteBeforeReplace(true), pulumi.ReplaceOnChanges([]string{"region"}))
	if err != nil {
		return nil, err
	}
	return machine, makeFirewall(ctx, machine, len(keys) > 0)
}

// makeFirewall lets in what the registry needs: HTTPS, and HTTP, over which
// the certificate authority asks whose host it is. It names the machine, not the machine it: another
// firewallId replaces a machine, and with it all images.
func makeFirewall(ctx *pulumi.Context, machine *linode.Instance, ssh bool) error {
	inbound := linode.FirewallInboundArray{allow("web", "80, 443")}
	if ssh {
		inbound = append(inbound, allow("ssh", "22"))
	}
	_, err := linode.NewFirewall(ctx, "firewall", &linode.FirewallArgs{
		Label:          environment.Label(ctx.Stack(), "harbor"),
		InboundPolicy:  pulumi.String("DROP"),
		OutboundPolicy: pulumi.String("ACCEPT"),
		Inbounds:       inbound,
		Linodes:        pulumi.IntArray{environment.Number(machine.ID())},
		Tags:           environment.Tags(ctx),
	})
	return err
}

// allow returns a rule that lets everyone reach some TCP ports.
func allow(label, ports string) linode.FirewallInboundArgs {
	return linode.FirewallInboundArgs{
		Label:    pulumi.String(label),
		Action:   pulumi.String("ACCEPT"),
		Protocol: pulumi.String("TCP"),
		Ports:    pulumi.String(ports),
		Ipv4s:    pulumi.ToStringArray([]string{"0.0.0.0/0"}),
		Ipv6s:    pulumi.ToStringArray([]string{"::/0"}),
	}
}

// hostname returns the name of the machine's public address in Linode's DNS.
func hostname(addresses []string) (string, error) {
	for _, text := range addresses {
		if address, err := netip.ParseAddr(text); err == nil && address.Is4() && !address.IsPrivate() {
			return strings.ReplaceAll(text, ".", "-") + ".ip.linodeusercontent.com", nil
		}
	}
	return "", fmt.Errorf("the machine has no public address among %v", addresses)
}
