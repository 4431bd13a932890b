package cluster

import (
	"maps"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/settings"
)

// checkNodes refuses a cluster on which nothing could run: kind lets the
// control plane take workload only when it is the cluster's single node.
func checkNodes(cfg *settings.Settings) {
	if cfg.Int("kind:control_planes") > 1 && cfg.Int("kind:workers") == 0 {
		cfg.Reject("kind:workers", "must be at least 1 with several control planes")
	}
}

// checkPorts refuses one port for two purposes.
func checkPorts(cfg *settings.Settings) {
	user := map[int]string{}
	for _, key := range []string{"kind:http_port", "kind:https_port", "kind:api_server_port"} {
		port := cfg.Int(key)
		if other, ok := user[port]; ok && port != 0 {
			cfg.Reject(key, "is %d, which %s has already", port, other)
		}
		user[port] = key
	}
}

// address reads an IP address.
func address(cfg *settings.Settings, key string) string {
	text := cfg.String(key)
	if _, err := netip.ParseAddr(text); err != nil {
		cfg.Reject(key, "is %q, which is not an IP address", text)
	}
	return text
}

// mounts reads the directories to mount, written HOST:NODE or HOST:NODE:ro.
func mounts(cfg *settings.Settings) pulumi.MapArray {
	var all pulumi.MapArray
	for _, text := range cfg.List("kind:mounts") {
		host, node, readOnly, ok := parseMount(text)
		if !ok {
			cfg.Reject("kind:mounts", "has %q, which is not two absolute paths with a colon between, with or without :ro", text)
			continue
		}
		all = append(all, pulumi.Map{
			"hostPath": pulumi.String(host), "containerPath": pulumi.String(node), "readOnly": pulumi.Bool(readOnly),
		})
	}
	return all
}

func parseMount(text string) (host, node string, readOnly, ok bool) {
	rest, readOnly := strings.CutSuffix(text, ":ro")
	// The node's path is the part after the last colon: a host path of Windows has one of its own.
	colon := strings.LastIndex(rest, ":")
	if colon < 0 {
		return "", "", false, false
	}
	host, node = rest[:colon], rest[colon+1:]
	return host, node, readOnly, filepath.IsAbs(host) && path.IsAbs(node)
}

// mirrors reads where to pull a registry's images from.
func mirrors(cfg *settings.Settings) pulumi.StringMap {
	configured := cfg.Map("kind:registry_mirrors")
	if len(configured) == 0 {
		return nil
	}
	inputs := pulumi.StringMap{}
	for _, host := range slices.Sorted(maps.Keys(configured)) {
		target, _ := configured[host].(string)
		parsed, err := url.Parse(target)
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			cfg.Reject("kind:registry_mirrors", "maps %s to %v, which is not an http or https URL", host, configured[host])
			continue
		}
		inputs[host] = pulumi.String(target)
	}
	return inputs
}
