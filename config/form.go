package config

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Form is the syntax that a string must have, as messages describe it.
type Form string

// The forms of strings.
const (
	Email Form = "an e-mail address"
	Host  Form = "a host name in lower case"
	// Range is an IPv4 range without bits below its mask.
	Range Form = "an IPv4 range such as 10.0.0.0/16"
	// Storage is a size as Kubernetes takes it.
	Storage Form = "a size such as 10Gi"
	// Charts is where Helm finds charts.
	Charts Form = "a URL that begins with https:// or oci://"
	// Registry is a host, with a port and a path if need be.
	Registry Form = "a registry's host, with a port and a path where needed, without https://"
	// Duration is a span of time as Go writes it.
	Duration Form = "a duration such as 8h or 30m"
	// Image names an image with its version.
	Image Form = "an image with a tag or a digest"
)

// hostName matches the name of a DNS entry: an Ingress takes no other host, and no IP address.
const hostName = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`

func (f Form) fits(text string) bool {
	switch f {
	case Email:
		address, err := mail.ParseAddress(text)
		return err == nil && address.Address == text
	case Host:
		return len(text) <= 253 && regexp.MustCompile(hostName).MatchString(text)
	case Range:
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Addr().Is4() && prefix == prefix.Masked()
	case Storage:
		return storageSize.MatchString(text)
	case Charts:
		address, err := url.Parse(text)
		return err == nil && address.Host != "" && slices.Contains([]string{"https", "http", "oci"}, address.Scheme)
	case Registry:
		return registryPath.MatchString(text)
	case Duration:
		length, err := time.ParseDuration(text)
		return err == nil && length > 0
	case Image:
		name := text[strings.LastIndexByte(text, '/')+1:]
		return strings.ContainsAny(name, ":@") && !strings.ContainsAny(text, " ")
	}
	return true
}

// hint suggests a valid value.
func (f Form) hint(text string) string {
	if prefix, err := netip.ParsePrefix(text); f == Range && err == nil && prefix.Addr().Is4() {
		return fmt.Sprintf("; did you mean %s?", prefix.Masked())
	}
	return ""
}

var (
	storageSize  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$`)
	registryPath = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]+)?(/[a-z0-9._/-]+)?$`)
)
