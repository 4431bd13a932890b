package catalogue

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/layout"
)

// applications makes a project of each application in mara.yaml.
func (b *builder) applications() []entry {
	names := lists.Map(b.mara.Applications, func(a config.Application) string { return a.Name.Text })
	var hostKeys []string
	if b.builtIn != nil {
		hostKeys = slices.Clone(b.builtIn.Application.HostKeys)
	}
	for _, a := range b.mara.Applications {
		if !a.IsRouted() {
			hostKeys = append(hostKeys, a.Key("host"))
		}
	}
	var entries []entry
	for _, a := range b.mara.Applications {
		if b.builtIn == nil || b.builtIn.Application.Program == nil {
			b.problem(a.Name.Line, "the application %s needs a runner that has the program of applications", a.Name.Text)
			return nil
		}
		b.checkConnections(a, names)
		b.checkPlace(a)
		dir := layout.Of(b.root, false).Application(a.Name.Text)
		made, err := writeApplication(a, b.builtIn.Application.Program, dir)
		if err != nil {
			b.problem(a.Name.Line, "the program of the application %s cannot be written: %v", a.Name.Text, err)
			continue
		}
		shown, err := filepath.Rel(b.root, dir)
		if err != nil {
			shown = dir
		}
		declared := config.MaraProject{
			Line: a.Name.Line, MaraTimes: config.MaraTimes{Estimate: time.Minute}, Edges: true,
			Path:  config.Word{Text: filepath.ToSlash(shown), Line: a.Name.Line},
			Reads: []config.Word{{Text: b.builtIn.Application.Reads, Line: a.Name.Line}},
			When:  a.Where.When, Providers: a.Where.Providers,
		}
		if a.Host.Text != "" {
			declared.Outputs = []config.Word{{Text: "url", Line: a.Name.Line}}
		}
		if e, ok := b.entry(declared); ok {
			e.project.Own.Generated = true
			e.project.Own.Access = made.Access
			e.project.Namespace = a.Name.Text
			e.project.Volumes = made.Volumes
			e.project.Keys, e.project.Rules = keysOfApplication(a, e.project.Keys), append(rulesOfApplication(a, hostKeys),
				unguarded(a.Name.Text, b.builtIn.Application.NamespaceKeys))
			e.project.Path = "applications/" + a.Name.Text
			e.application, e.routed = true, a.IsRouted()
			entries = append(entries, e)
		}
	}
	return entries
}

// keysOfApplication adds to the keys of an application what mara.yaml holds their values to.
func keysOfApplication(a config.Application, keys []config.Key) []config.Key {
	least, most := 1, 1000
	for i := range keys {
		switch key := &keys[i]; key.Name {
		case a.Key("image"):
			key.Form = config.Image
		case a.Key("host"):
			key.Form = config.Host
		case a.Key("gateway"):
			key.Form = config.GatewayName
		case a.Key("replicas"), a.Key("min"), a.Key("max"):
			key.Min, key.Max = &least, &most
		}
	}
	return keys
}

// rulesOfApplication judges what its values have to agree with: one another, and the hosts in hostKeys that come before
// its own.
func rulesOfApplication(a config.Application, hostKeys []string) []config.Rule {
	smallest, largest, host := a.Key("min"), a.Key("max"), a.Key("host")
	limits := func(v config.Values) []config.Finding {
		least, hasLeast := v.Int(smallest)
		most, hasMost := v.Int(largest)
		if !hasLeast || !hasMost || least <= most {
			return nil
		}
		return []config.Finding{{Key: largest, At: smallest, Text: fmt.Sprintf("is %d, which is less than %s", most,
			v.WithDefault(smallest))}}
	}
	hosts := func(v config.Values) []config.Finding {
		name := v.Text(host)
		for _, key := range hostKeys {
			if name == "" || key == host {
				return nil // each two are compared once
			}
			if v.Text(key) == name {
				return config.Wrong(host, "is %s, the host of %s; the ingress controller takes one Ingress for a host", name,
					config.Key{Name: key}.Namespace())
			}
		}
		return nil
	}
	latest := func(v config.Values) []config.Finding {
		if image := v.Text(a.Key("image")); v.IsSet(a.Key("image")) && strings.HasSuffix(image, ":latest") {
			return []config.Finding{{Key: a.Key("image"), Doubt: true,
				Text: fmt.Sprintf("is %s, a different image from day to day; name a version", image)}}
		}
		return nil
	}
	if a.IsRouted() {
		return []config.Rule{limits, latest}
	}
	return []config.Rule{limits, hosts, latest}
}

// unguarded refuses an application whose namespace the value of a key lists, which makes that namespace as well.
func unguarded(name string, keys []string) config.Rule {
	return func(v config.Values) []config.Finding {
		for _, key := range keys {
			if _, taken := v.Map(key)[name]; taken {
				return config.Wrong(key, "has the namespace %s, which the application %s makes; take it out, or give the application "+
					"another name", name, name)
			}
		}
		return nil
	}
}

// checkPlace refuses names of namespaces that every cluster has.
func (b *builder) checkPlace(a config.Application) {
	if name := a.Name.Text; name == "default" || strings.HasPrefix(name, "kube-") {
		b.problem(a.Name.Line, "applications.%s: every cluster has a namespace %s already, which is Kubernetes' own; "+
			"give the application another name", name, name)
	}
}

// checkConnections refuses connections to applications that are not in the file.
func (b *builder) checkConnections(a config.Application, names []string) {
	for _, word := range a.Connects {
		if _, err := netip.ParsePrefix(word.Text); err != nil && !slices.Contains(names, word.Text) {
			b.problem(word.Line, "applications.%s.connects names %q, which is no application of this file%s", a.Name.Text,
				word.Text, config.DidYouMean(word.Text, names))
		}
	}
}

// writeApplication makes the program of an application, and writes it unless it is there already.
func writeApplication(
	a config.Application, program func(config.Application) (model.Made, error), dir string,
) (model.Made, error) {
	made, err := program(a)
	if err != nil {
		return made, fmt.Errorf("making it: %w", err)
	}
	file := filepath.Join(dir, config.ManifestFile)
	if existing, err := files.Read(file, files.Text); err == nil && string(existing) == string(made.Text) {
		return made, nil
	}
	return made, atomicfile.WriteDeep(file, made.Text, 0o644, 0o755)
}

// beforeApplications lists what an application waits for, where the provider has it: its host, its certificate, and
// what scales and limits it.
func (b *builder) beforeApplications() (names []string) {
	if b.builtIn == nil {
		return nil
	}
	for _, project := range b.builtIn.Projects {
		if project.Applications == model.TheyWait {
			names = append(names, project.Name)
		}
	}
	return names
}
