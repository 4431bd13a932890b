package contract

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
)

// Claim is something that only one object of a cluster can have.
type Claim struct {
	Place
	What     string // "the Deployment shop/web", "the host shop.example.com", "port 30080 of the nodes"
	Resource string // name of the resource in the program
	Cluster  string // the option provider, as the program has it
}

// NamespaceClaim returns what is claimed by whoever makes a namespace.
func NamespaceClaim(name string) string { return "the Namespace " + name }

// HostClaim returns what is claimed by an Ingress that serves a whole host.
func HostClaim(host string) string { return "the host " + host }

// PortClaim returns what is claimed by a Service with a port of the nodes.
func PortClaim(port string) string { return "port " + port + " of the nodes" }

// Claims lists what the Kubernetes objects of a program claim, as far as it says so in plain text. value returns what an
// expression such as "pulumi.stack", or the name of a configured value, stands for.
func (s Source) Claims(value func(name string) (string, bool)) (claims []Claim) {
	if s.Root == nil {
		return nil
	}
	c := claimant{resources: map[string]*yaml.Node{}, value: value}
	for name, resource := range pairs(valueOf(s.Root, "resources")) {
		c.resources[name.Value] = resource
	}
	for name, resource := range pairs(valueOf(s.Root, "resources")) {
		place := Claim{Place: Place{File: s.File, Line: name.Line}, Resource: name.Value,
			Cluster: entry(valueOf(resource, "options"), "provider")}
		for _, what := range c.of(resource) {
			place.What = what
			if !slices.Contains(claims, place) {
				claims = append(claims, place)
			}
		}
	}
	return claims
}

// claimant finds claims in the resources of a program.
type claimant struct {
	resources map[string]*yaml.Node
	value     func(name string) (string, bool)
}

// of returns what a resource claims.
func (c claimant) of(resource *yaml.Node) (claims []string) {
	kind, isObject := strings.CutPrefix(entry(resource, "type"), "kubernetes:")
	properties := valueOf(resource, "properties")
	kind = kind[strings.LastIndex(kind, ":")+1:]
	if kind == "CustomResource" {
		kind = entry(properties, "kind")
	}
	meta := valueOf(properties, "metadata")
	name, isKnown := c.text(valueOf(meta, "name"))
	namespace, inKnown := c.text(valueOf(meta, "namespace"))
	hasNamespace := valueOf(meta, "namespace") != nil
	switch {
	case !isObject || kind == "" || strings.HasSuffix(kind, "Patch") || valueOf(valueOf(resource, "options"), "import") != nil ||
		valueOf(resource, "get") != nil:
		return nil // it changes or reads an object of somebody else
	case kind == "Namespace" && isKnown:
		claims = append(claims, NamespaceClaim(name))
	case isKnown && hasNamespace && inKnown:
		claims = append(claims, "the "+kind+" "+namespace+"/"+name)
	case isKnown && !hasNamespace:
		claims = append(claims, "the "+kind+" "+name)
	}
	spec := valueOf(properties, "spec")
	switch kind {
	case "Ingress":
		class, _ := c.text(valueOf(spec, "ingressClassName"))
		for _, rule := range items(valueOf(spec, "rules")) {
			claims = append(claims, c.hosts(rule, class)...)
		}
	case "Service":
		for _, port := range items(valueOf(spec, "ports")) {
			if number, ok := c.text(valueOf(port, "nodePort")); ok && number != "0" {
				claims = append(claims, PortClaim(number))
			}
		}
	}
	return claims
}

// hosts returns the hosts and paths of a rule of an Ingress. Another class than ours has another controller.
func (c claimant) hosts(rule *yaml.Node, class string) (claims []string) {
	host, ok := c.text(valueOf(rule, "host"))
	if !ok || host == "" {
		return nil
	}
	host = strings.ToLower(host)
	of := ""
	if class != "" && class != "nginx" {
		of = " of the IngressClass " + class
	}
	for _, path := range items(valueOf(valueOf(rule, "http"), "paths")) {
		text, ok := c.text(valueOf(path, "path"))
		switch {
		case valueOf(path, "path") == nil || ok && text == "/":
			claims = append(claims, HostClaim(host)+of)
		case ok:
			claims = append(claims, HostClaim(host)+" with the path "+text+of)
		}
	}
	return claims
}

// items returns the items of a list.
func items(node *yaml.Node) []*yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	return node.Content
}

// text returns the text of a scalar whose interpolations are known.
func (c claimant) text(node *yaml.Node) (text string, ok bool) {
	return c.textWithin(node, 5)
}

// textWithin follows references to the names of other resources, up to a depth: they may form a cycle.
func (c claimant) textWithin(node *yaml.Node, depth int) (text string, ok bool) {
	if node == nil || node.Kind != yaml.ScalarNode || depth == 0 {
		return "", false
	}
	rest := node.Value
	for {
		before, after, found := strings.Cut(rest, "${")
		text += before
		if !found {
			return text, true
		}
		if strings.HasSuffix(before, "$") { // "$${" is a text
			return "", false
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", false
		}
		value, known := c.value(name)
		if resource, isName := strings.CutSuffix(name, ".metadata.name"); isName && c.resources[resource] != nil {
			at := valueOf(valueOf(valueOf(c.resources[resource], "properties"), "metadata"), "name")
			value, known = c.textWithin(at, depth-1)
		}
		if !known {
			return "", false
		}
		text, rest = text+value, tail
	}
}

// Problem returns the claim as the place of a problem.
func (c Claim) Problem(text string) config.Problem {
	return config.Problem{File: c.File, Line: c.Line, Text: text}
}
