package projects

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/naming"
	"mara/projects/offers"
)

// disjoint refuses overlapping ranges of addresses.
func disjoint(first, second string) config.Rule {
	return func(v config.Values) []config.Finding {
		a, errA := netip.ParsePrefix(v.Text(first))
		b, errB := netip.ParsePrefix(v.Text(second))
		if errA != nil || errB != nil || !a.Overlaps(b) {
			return nil
		}
		if !v.IsSet(second) && v.IsSet(first) {
			return config.Wrong(first, "is %s, which overlaps %s", a, v.WithDefault(second))
		}
		return config.Wrong(second, "is %s, which overlaps %s", b, v.WithDefault(first))
	}
}

// distinct refuses equal ports; 0 means any free port.
func distinct(keys ...string) config.Rule {
	return func(v config.Values) []config.Finding {
		users := map[int]string{}
		for _, key := range keys {
			port, ok := v.Int(key)
			if !ok || port == 0 {
				continue
			}
			other, taken := users[port]
			switch {
			case taken && !v.IsSet(key) && v.IsSet(other):
				return config.Wrong(other, "is %d, the port of %s by default", port, key)
			case taken:
				return config.Wrong(key, "is %d, the port of %s%s", port, other, byDefault(v, other))
			}
			users[port] = key
		}
		return nil
	}
}

// ordered refuses a number that is more than the number of the next key. It names the key that is set.
func ordered(keys ...string) config.Rule {
	return func(v config.Values) (found []config.Finding) {
		for i, small := range keys[:len(keys)-1] {
			large := keys[i+1]
			least, isNumber := v.Int(small)
			most, isBound := v.Int(large)
			switch {
			case !isNumber || !isBound || least <= most:
			case v.IsSet(large):
				found = append(found, config.Wrong(large, "is %d; it may not be less than %s (%d)", most, small, least)...)
			default:
				found = append(found, config.Wrong(small, "is %d; it may not be more than %s (%d)", least, large, most)...)
			}
		}
		return found
	}
}

// autoscaled judges the limits of autoscaling that poolKeys declares.
func autoscaled(group string) config.Rule {
	smallest, largest := group+":min_nodes", group+":max_nodes"
	return func(v config.Values) []config.Finding {
		least, _ := v.Int(smallest)
		most, _ := v.Int(largest)
		switch {
		case least == 0 && most > 0:
			text := fmt.Sprintf("must be at least 1 when %s is set", largest)
			return []config.Finding{{Key: smallest, At: largest, Text: text}}
		case least > 0 && most == 0:
			return []config.Finding{{Key: largest, At: smallest, Text: fmt.Sprintf("is not set, but %s is", smallest)}}
		}
		return ordered(smallest, largest)(v)
	}
}

// offered doubts a name that the cloud did not offer on the day of its list.
func offered(key string, list func() offers.List) config.Rule {
	return func(v config.Values) []config.Finding {
		if text := list().Doubt(v.Text(key)); text != "" {
			return config.Doubtful(key, "%s", text)
		}
		return nil
	}
}

// offersOf returns the rules for the choices that a cloud offers in lists.
func offersOf(provider, region, nodeType, version string) []config.Rule {
	return []config.Rule{
		offered(region, func() offers.List { return offers.Of(provider).Regions }),
		offered(nodeType, func() offers.List { return offers.Of(provider).NodeTypes }),
		supported(version, provider),
		knownStorageClass(provider),
	}
}

// supported judges a version of Kubernetes by the days on which the cloud's support ends.
func supported(key, provider string) config.Rule {
	return func(v config.Values) []config.Finding {
		wrong, doubt := offers.Of(provider).Kubernetes.Judge(v.Text(key), time.Now())
		switch {
		case wrong != "":
			return config.Wrong(key, "%s", wrong)
		case doubt != "" && v.IsSet(key):
			return config.Doubtful(key, "%s", doubt)
		}
		return nil
	}
}

// knownStorageClass doubts a StorageClass that a new cluster does not have.
func knownStorageClass(provider string) config.Rule {
	return func(v config.Values) []config.Finding {
		class, known := v.Text(StorageClass), offers.Of(provider).StorageClasses
		if class == "" || slices.Contains(known, class) {
			return nil
		}
		return config.Doubtful(StorageClass, "is %q, which a new cluster does not have; it has %s%s", class,
			strings.Join(known, ", "), config.DidYouMean(class, known))
	}
}

// smallestVolume doubts volumes that are smaller than what the cloud makes of them.
func smallestVolume(gib float64, keys ...string) config.Rule {
	return func(v config.Values) (found []config.Finding) {
		for _, key := range keys {
			if size, ok := bytesOf(v.Text(key)); ok && size < gib*(1<<30) {
				text := fmt.Sprintf("is %s; the smallest volume has %.0fGi, and costs as much", v.Text(key), gib)
				found = append(found, config.Finding{Key: key, Text: text, Doubt: true})
			}
		}
		return found
	}
}

// intelPlatform requires an image for the processors that most nodes have.
func intelPlatform(v config.Values) []config.Finding {
	const key = "kic:platform"
	if platform := v.Text(key); platform != "" && platform != "linux/amd64" {
		return config.Wrong(key, "is %s, but the nodes run linux/amd64", platform)
	}
	return nil
}

// acmeIssuer judges what an authority on the internet needs.
func acmeIssuer(v config.Values) (found []config.Finding) {
	const issuer, email = "certmgr:issuer", "certmgr:acme_email"
	if v.Text(issuer) != "acme" {
		return nil
	}
	public := isPublicAuthority(v.Text("certmgr:acme_server"))
	switch domain := v.Text(email)[strings.LastIndex(v.Text(email), "@")+1:]; {
	case domain == "":
		found = append(found, config.Finding{Key: email, At: issuer, Text: "is not set, but certmgr:issuer is acme"})
	case public && slices.Contains([]string{"example.com", "example.org", "example.net"}, domain):
		found = append(found, config.Doubtful(email, "is an address at %s, which Let's Encrypt refuses", domain)...)
	}
	if name := v.Text("bank-of-anthos:host"); public && isLocalName(name) {
		found = append(found, config.Doubtful("bank-of-anthos:host",
			"is %s, a name of no domain on the internet, for which certmgr:acme_server gives no certificate", name)...)
	}
	host, _ := InfrastructureByName(v.Text(InfraType))
	switch by := v.Text("certmgr:acme_dns"); {
	case by == "" && host.Local && isPublicAuthority(v.Text("certmgr:acme_server")):
		found = append(found, config.Wrong(issuer, "is acme, but an authority on the internet cannot reach a %s cluster: "+
			"use self-signed, or set certmgr:acme_dns", host.Name)...)
	case by == Route53 && host.Account.Region == "":
		found = append(found, config.Wrong("certmgr:acme_dns", "is %s, which works on EKS only", Route53)...)
	case by == Route53 && len(v.List("eks:dns_zones")) == 0:
		found = append(found, config.Wrong("eks:dns_zones", "is not set: cert-manager has no right to change records")...)
	case by != "" && !v.Bool(InstallCertKey):
		found = append(found, config.Wrong("certmgr:acme_dns",
			"is set, but the cluster's own cert-manager is used, which reads its tokens elsewhere")...)
	}
	return found
}

// isPublicAuthority reports whether an ACME server is one that has to reach a cluster from the internet. An authority
// of one's own reaches what one's network reaches.
func isPublicAuthority(server string) bool {
	address, err := url.Parse(server)
	if err != nil {
		return false
	}
	for _, domain := range []string{
		"letsencrypt.org", "zerossl.com", "buypass.com", "buypass.no", "pki.goog", "ssl.com", "sslcom.com",
	} {
		if address.Hostname() == domain || strings.HasSuffix(address.Hostname(), "."+domain) {
			return true
		}
	}
	return false
}

// isLocalName reports whether a host name is in no domain of the internet.
func isLocalName(host string) bool {
	for _, domain := range []string{
		".local", ".localhost", ".internal", ".lan", ".home", ".test", ".invalid", ".example",
	} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// retentionFits requires that what Prometheus keeps fits on its volume.
func retentionFits(v config.Values) []config.Finding {
	const kept, volume = "prometheus:retention_size", "prometheus:storage_size"
	// Prometheus counts in powers of 1024, with or without an i.
	size, ok := bytesOf(strings.TrimSuffix(strings.TrimSuffix(v.Text(kept), "B"), "i") + "i")
	room, hasRoom := bytesOf(v.Text(volume))
	if !ok || !hasRoom || size < room {
		return nil
	}
	text := fmt.Sprintf("is %s, but %s is only %s: the volume would be full first", v.Text(kept), volume, v.Text(volume))
	return []config.Finding{{Key: kept, At: volume, Text: text}}
}

// bytesOf returns how many bytes a size of Kubernetes has, such as 10Gi.
func bytesOf(text string) (float64, bool) {
	split := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if split < 0 {
		split = len(text)
	}
	number, err := strconv.ParseFloat(text[:split], 64)
	unit, isBinary := strings.CutSuffix(text[split:], "i")
	base := 1000.0
	if isBinary {
		base = 1024
	}
	power := strings.Index(" KMGTP", strings.ToUpper(unit))
	if unit == "" {
		power = 0
	}
	return number * math.Pow(base, float64(power)), err == nil && power >= 0
}

// chartRules returns the rules for the keys that chartKeys declares.
func chartRules(defaults chart) []config.Rule {
	version, repository := ChartKey(defaults.group, ChartVersion), ChartKey(defaults.group, ChartRepository)
	file := ChartKey(defaults.group, ValuesFile)
	return []config.Rule{
		func(v config.Values) []config.Finding {
			text := v.Text(version)
			hasV, wantsV := strings.HasPrefix(text, "v"), strings.HasPrefix(defaults.version, "v")
			if hasV == wantsV || text == "" || v.Text(repository) != defaults.repository {
				return nil
			}
			meant := strings.TrimPrefix(text, "v")
			if wantsV {
				meant = "v" + text
			}
			return config.Wrong(version, "is %s, but the versions of this chart are written as %s: did you mean %s?", text,
				defaults.version, meant)
		},
		func(v config.Values) []config.Finding {
			if address, err := url.Parse(v.Text(repository)); err == nil && defaults.name != "" && path.Base(address.Path) == defaults.name &&
				v.Text(repository) != defaults.repository {
				return config.Doubtful(repository, "is %s, which ends with the name of the chart: write the address of the repository, "+
					"without it", v.Text(repository))
			}
			return nil
		},
		func(v config.Values) []config.Finding { return valuesFile(v, file) },
		func(v config.Values) []config.Finding { return flatValues(v, ChartKey(defaults.group, Values)) },
	}
}

// flatValues doubts values of a chart that are written as helm's --set takes them.
func flatValues(v config.Values, key string) []config.Finding {
	for _, name := range lists.Keys(v.Map(key)) {
		if before, after, isPath := strings.Cut(name, "."); isPath && before != "" && after != "" {
			return config.Doubtful(key, "has %q, one name for a chart; write nested maps: {%s: {%s: ...}}", name, before, after)
		}
	}
	return nil
}

// quorum doubts two members, of which none decides alone: they fail as soon as one of them does.
func quorum(key string) config.Rule {
	return func(v config.Values) []config.Finding {
		if n, ok := v.Int(key); ok && n == 2 {
			return config.Doubtful(key, "is 2: when one fails, the other cannot decide alone; write 1 or 3")
		}
		return nil
	}
}

// valuesFile requires a file with chart values to be there and to be a map.
func valuesFile(v config.Values, key string) []config.Finding {
	path := v.Text(key)
	if path == "" || v.Dir == "" && !filepath.IsAbs(path) {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.Dir, path)
	}
	content, err := files.Read(path, files.Text)
	if err != nil {
		return config.Wrong(key, "names a file that cannot be read: %s; the path begins at %s", reasonOf(err),
			config.Directory)
	}
	var value any
	if err := yaml.Unmarshal(content, &value); err != nil {
		return config.Wrong(key, "is %s, which is not a YAML map of chart values: %s", v.Text(key),
			strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n ", ""), "yaml: "))
	}
	switch value.(type) {
	case nil, map[string]any:
	case []any:
		return config.Wrong(key, "is %s, which is not a YAML map of chart values, but a list", v.Text(key))
	default:
		return config.Wrong(key, "is %s, which is not a YAML map of chart values, but a text", v.Text(key))
	}
	return nil
}

// readable judges a file of this machine. One that is not there may be on the machine that deploys.
func readable(key string, v config.Values) []config.Finding {
	info, err := os.Stat(v.Text(key))
	switch {
	case !config.AbsolutePath.Matches(v.Text(key)): // its form has said so
		return nil
	case errors.Is(err, os.ErrNotExist):
		return config.Doubtful(key, "names a file that is not on this machine: %s", v.Text(key))
	case err != nil:
		return config.Wrong(key, "names a file that cannot be read: %s", reasonOf(err))
	case !info.Mode().IsRegular():
		return config.Wrong(key, "is %q, which is not a file", v.Text(key))
	}
	return nil
}

// reasonOf returns an error without the call that failed.
func reasonOf(err error) string {
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		return failed.Path + ": " + failed.Err.Error()
	}
	return err.Error()
}

// PlusRegistry is F5's registry of commercial images. One logs in with the licence token as user and any password:
// docs.nginx.com/nginx-ingress-controller/install/images/registry-download.
const PlusRegistry = "private-registry.nginx.com"

// KICDockerfile is where a source of the ingress controller has its recipe.
const KICDockerfile = "build/Dockerfile"

// controllerImage judges where the image of the ingress controller comes from.
func controllerImage(v config.Values) []config.Finding {
	if v.Text("kic:image_origin") == "source" {
		return controllerSource(v)
	}
	const key = "kic:image_name"
	name := v.Text(key)
	if name == "" && v.Bool("kic:nginx_plus") {
		name = KICPlusImage
	}
	if registry, _ := naming.SplitRegistry(naming.InMirror(v.Text(Mirror), name)); registry == PlusRegistry {
		return needed(v, "kic:jwt_path", key, "the registry of NGINX Plus asks for the licence token")
	}
	if strings.HasSuffix(name, ":latest") {
		return config.Doubtful(key, "is %s, a different image from day to day; name a version", name)
	}
	return nil
}

// controllerSource judges a source that is built.
func controllerSource(v config.Values) []config.Finding {
	const source, target = "kic:source", "kic:source_target"
	plus := v.Bool("kic:nginx_plus")
	if path := v.Text(source); filepath.IsAbs(path) {
		if _, err := os.Stat(filepath.Join(path, KICDockerfile)); err != nil {
			return config.Wrong(source, "is not the source of the ingress controller: %s", reasonOf(err))
		}
	}
	if text := v.Text(target); text != "" && plus != strings.Contains(text, "-plus") {
		return config.Wrong(target, "is %s, which does not agree with kic:nginx_plus, which is %v", text, plus)
	}
	if !plus {
		return nil
	}
	const why = "NGINX Plus is built with the certificate and the key of its repository"
	return slices.Concat(needed(v, "kic:repo_cert_path", source, why), needed(v, "kic:repo_key_path", source, why))
}

// controllerLicence judges the licence token that NGINX Plus does not start without.
func controllerLicence(v config.Values) []config.Finding {
	if !v.Bool("kic:nginx_plus") {
		return nil
	}
	return needed(v, "kic:jwt_path", "kic:nginx_plus", "kic:nginx_plus is true, and NGINX Plus needs its licence token")
}

// needed requires a key to name a file that is there.
func needed(v config.Values, key, at, why string) []config.Finding {
	if v.Text(key) == "" {
		return []config.Finding{{Key: key, At: at, Text: "is not set: " + why}}
	}
	return readable(key, v)
}
