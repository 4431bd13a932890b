package config

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Form is the syntax of a string, or of each item of a list.
type Form struct {
	Title   string                   // "an e-mail address", as messages describe it
	Pattern string                   // regular expression for the whole text; "" without one
	Fits    func(text string) bool   // a further condition; nil without one
	Meant   func(text string) string // valid text that a wrong one may stand for, or ""; nil without

	compile sync.Once
	regex   *regexp.Regexp // of Pattern, once it is compiled
}

// NewForm returns a form that a regular expression describes; it begins with ^ and ends with $.
func NewForm(title, pattern string) *Form { return &Form{Title: title, Pattern: pattern} }

// Matches reports whether a text has the form.
func (f *Form) Matches(text string) bool {
	f.compile.Do(func() { f.regex = regexp.MustCompile(f.Pattern) }) // "" matches every text
	return f.regex.MatchString(text) && (f.Fits == nil || f.Fits(text))
}

// validate returns an error for a text that does not have the form; nil takes every text.
func (f *Form) validate(verb, text string) error {
	if f == nil || f.Matches(text) {
		return nil
	}
	hint := ""
	if f.Meant != nil && f.Meant(text) != "" {
		hint = fmt.Sprintf("; did you mean %s?", f.Meant(text))
	}
	return refuse("%s %q, which is not %s%s", verb, text, f.Title, hint)
}

// hostName matches the name of a DNS entry: an Ingress takes no other host, and no IP address.
const hostName = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`

// The forms of strings that more than one kind of project has.
var (
	Email = &Form{Title: "an e-mail address", Fits: func(text string) bool {
		address, err := mail.ParseAddress(text)
		return err == nil && address.Address == text
	}}
	Host = &Form{Title: "a host name in lower case", Pattern: hostName, Fits: func(text string) bool {
		return len(text) <= 253
	}}
	// GatewayName is the namespace and the name of a Gateway of the Gateway API.
	GatewayName = &Form{Title: "the namespace and the name of a Gateway, such as infra/public",
		Pattern: `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`}
	// Range is an IPv4 range without bits below its mask.
	Range = &Form{Title: "an IPv4 range such as 10.0.0.0/16", Meant: withoutHostBits, Fits: func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Addr().Is4() && prefix == prefix.Masked()
	}}
	// AnyRange is an IPv4 or IPv6 range.
	AnyRange = &Form{Title: "an address range such as 203.0.113.0/24", Meant: asRange, Fits: func(text string) bool {
		_, err := netip.ParsePrefix(text)
		return err == nil
	}}
	// AddressOrRange is an IP address or a range.
	AddressOrRange = &Form{Title: "an address or an address range such as 203.0.113.0/24", Fits: func(text string) bool {
		_, isRange := netip.ParsePrefix(text)
		_, isAddress := netip.ParseAddr(text)
		return isRange == nil || isAddress == nil
	}}
	Address = &Form{Title: "an IP address", Fits: func(text string) bool {
		_, err := netip.ParseAddr(text)
		return err == nil
	}}
	// Storage is a size as Kubernetes takes it, but for an m at its end: that is a thousandth of a byte.
	Storage = &Form{Title: "a size such as 10Gi", Fits: isQuantity,
		Pattern: `^[0-9]+(\.[0-9]+)?([eE][0-9]+|Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?$`}
	// Processors is an amount of processor time as Kubernetes takes it.
	Processors = &Form{Title: "an amount of processors such as 250m or 2", Fits: isQuantity,
		Pattern: `^[0-9]+(\.[0-9]+)?m?$`}
	// Cron is a time at which something is done again and again, for the parser that Kubernetes and Velero use.
	Cron = &Form{Title: "a time as cron writes it, such as 0 3 * * * or @daily", Fits: func(text string) bool {
		_, err := cron.ParseStandard(text)
		return err == nil
	}}
	// Charts is where Helm finds charts.
	Charts = &Form{Title: "a URL that begins with https:// or oci://", Fits: hasScheme("https", "http", "oci")}
	Web    = &Form{Title: "a URL that begins with https:// or http://", Fits: hasScheme("https", "http")}
	// Registry is a registry's host, perhaps with a directory in it.
	Registry = NewForm("a registry's host, with a port and a path where needed, without https://",
		`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]+)?(/[a-z0-9._/-]+)?$`)
	// Duration is a span of time as Go writes it.
	Duration = &Form{Title: "a duration such as 8h or 30m", Fits: func(text string) bool {
		length, err := time.ParseDuration(text)
		return err == nil && length > 0
	}}
	// Image names an image with its version, in the grammar of distribution/reference without its rare corners.
	Image = NewForm("an image with a tag or a digest, in lower case, such as nginx/nginx-ingress:5.5.4",
		`^((localhost|[a-zA-Z0-9-]*[.:][a-zA-Z0-9.:-]*)/)?[a-z0-9]+(([.]|_{1,2}|-+)[a-z0-9]+)*(/[a-z0-9]+(([.]|_{1,2}|-+)[a-z0-9]+)*)*`+
			`(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}(@sha256:[a-f0-9]{64})?|@sha256:[a-f0-9]{64})$`)
	// Version is a version of three numbers.
	Version = NewForm("a version such as 2.15.1", `^[0-9]+\.[0-9]+\.[0-9]+$`)
	// ChartVersion is a version of a Helm chart: a semantic version, perhaps with a v.
	ChartVersion = NewForm("a version such as 1.2.3", `^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	// KubernetesMinor is a version of Kubernetes. It refuses the 1.3 that is left of 1.30 without quotes.
	KubernetesMinor = &Form{Title: "a version of Kubernetes, major.minor in quotes", Pattern: `^1\.[0-9]{2}$`,
		Meant: Group(`^v?(1\.[0-9]{2})(\..*)?$`)}
	Platform     = NewForm("a platform such as linux/amd64", `^[a-z]+/[a-z0-9]+(/v[0-9]+)?$`)
	AbsolutePath = &Form{Title: "an absolute path", Fits: filepath.IsAbs}
)

// isQuantity reports whether Kubernetes takes a text as an amount that is not negative.
func isQuantity(text string) bool {
	amount, err := resource.ParseQuantity(text)
	return err == nil && amount.Sign() >= 0
}

// Group returns a function that finds the first group of a regular expression in a text, or "" if it does not match.
func Group(pattern string) func(text string) string {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(text string) string {
		if match := compiled().FindStringSubmatch(text); match != nil {
			return match[1]
		}
		return ""
	}
}

// withoutHostBits returns the range that an address in it stands for.
func withoutHostBits(text string) string {
	if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Addr().Is4() {
		return prefix.Masked().String()
	}
	return ""
}

// asRange returns the range of a single address.
func asRange(text string) string {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()).String()
	}
	return ""
}

// hasScheme returns a condition for URLs with a host.
func hasScheme(schemes ...string) func(text string) bool {
	return func(text string) bool {
		address, err := url.Parse(text)
		return err == nil && address.Host != "" && slices.Contains(schemes, address.Scheme)
	}
}
