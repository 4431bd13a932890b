package preflight

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/programhost"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/reach"
)

// Plugin is a resource plugin of Pulumi.
type Plugin struct {
	Name    string
	Version string // that the programs' SDK asks for; "" for any
	Project string // that uses it
	Own     bool   // a program of the user asks for it: it may come from another server than Pulumi's
}

// PluginOptions are the inputs of Plugins.
type PluginOptions struct {
	Wanted  []Plugin
	Env     map[string]string
	Beside  string // directory of the engine, which may have plugins
	Address string // that plugins are downloaded from; PluginAddress if it is ""
	GitHub  string // where Pulumi asks first; gitHubAddress if it is ""
}

// PluginAddress is the address of Pulumi's plugins.
const PluginAddress = "https://get.pulumi.com/releases/plugins"

const gitHubAddress = "https://api.github.com"

// Plugins checks whether the resource plugins are installed or can be downloaded,
// which Pulumi does when it first needs one.
func Plugins(o PluginOptions) Check {
	return Check{Name: "plugins", Title: "plugins", Group: Engine, Look: o.look}
}

func (o PluginOptions) look(ctx context.Context) []Finding {
	var installed, missing []Plugin
	var findings []Finding
	for _, plugin := range o.Wanted {
		path, ambient := o.onPath(plugin)
		switch {
		case ambient && plugin.Version != "":
			text := fmt.Sprintf("Pulumi takes %s from the PATH (%s), whatever its version is, and not %s",
				plugin.Name, path, plugin)
			findings = append(findings, Doubtful(text,
				"remove it from the PATH, or set PULUMI_IGNORE_AMBIENT_PLUGINS=true")...)
		case ambient || o.isInstalled(plugin):
			installed = append(installed, plugin)
		default:
			missing = append(missing, plugin)
		}
	}
	if len(installed) > 0 {
		findings = append(findings, Good(list(installed)+" installed")...)
	}
	var coming []Plugin
	for i, wrong := range o.obtainAll(ctx, missing) {
		if wrong == nil {
			coming = append(coming, missing[i])
		}
		for at := range wrong {
			if missing[i].Own { // where it comes from is not known here
				wrong[at].Status = Warning
			}
		}
		findings = append(findings, wrong...)
	}
	if len(coming) > 0 {
		findings = append(findings, Good(list(coming)+" will be downloaded when first needed")...)
	}
	return findings
}

// onPath finds a plugin on the PATH, which Pulumi searches first.
func (o PluginOptions) onPath(p Plugin) (string, bool) {
	found, ok := findTool(p.program(), o.Env)
	return found.path, ok && !isOn(o.Env["PULUMI_IGNORE_AMBIENT_PLUGINS"])
}

func (p Plugin) program() string { return "pulumi-resource-" + p.Name }

// isInstalled reports whether a plugin is next to Pulumi or among the plugins that it
// has downloaded, where a .partial file marks an incomplete one.
func (o PluginOptions) isInstalled(p Plugin) bool {
	if _, err := os.Stat(filepath.Join(o.Beside, p.program())); err == nil && o.Beside != "" {
		return true
	}
	dir := filepath.Join(programhost.PulumiHome(o.Env), "plugins", "resource-"+p.Name+"-v"+p.Version)
	if p.Own && p.Version == "" {
		versions, _ := filepath.Glob(dir + "[0-9]*") // the pattern is right
		return slices.ContainsFunc(versions, func(dir string) bool { return filepath.Ext(dir) != ".partial" && filepath.Ext(dir) != ".lock" })
	}
	info, err := os.Stat(dir)
	_, partial := os.Stat(dir + ".partial")
	return err == nil && info.IsDir() && partial != nil
}

// obtainAll checks all downloads concurrently, with a shorter limit than the check:
// a timeout must not hide which plugins are missing.
func (o PluginOptions) obtainAll(ctx context.Context, plugins []Plugin) [][]Finding {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	wrong, _ := parallel.Limited(ctx, len(plugins), plugins, func(ctx context.Context, p Plugin) ([]Finding, error) {
		return o.obtain(ctx, p), nil
	})
	return wrong
}

// obtain checks whether a plugin can be downloaded; nil if it can.
func (o PluginOptions) obtain(ctx context.Context, p Plugin) []Finding {
	install := fmt.Sprintf("install it with `runner pulumi %s -- plugin install resource %s v%s`",
		p.Project, p.Name, p.Version)
	switch {
	case p.Own && p.Version == "":
		return Doubtful(fmt.Sprintf("%s is not installed, and the project %s names no version of it: Pulumi takes the newest of "+
			"the day", p.Name, p.Project), "name the version in its Pulumi.yaml or in the list of its dependencies")
	case p.Version == "":
		return Bad(fmt.Sprintf("pulumi-resource-%s is neither next to the runner nor on PATH", p.Name),
			"install it next to the runner, or try --simulate")
	case isOn(o.Env["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"]):
		text := fmt.Sprintf("%s is not installed, and PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION forbids to download it", p)
		return Bad(text, install)
	}
	address := fmt.Sprintf("%s/pulumi-resource-%s-v%s-%s-%s.tar.gz",
		cmp.Or(o.Address, PluginAddress), p.Name, p.Version, runtime.GOOS, runtime.GOARCH)
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return Doubtful(fmt.Sprintf("%s is not installed: %v", p, err), install)
	}
	response, err := httpClient(o.Env).Do(request)
	if err != nil {
		text := fmt.Sprintf("%s is not installed, and cannot be downloaded now: %v", p, reach.Bare(err))
		if ctx.Err() == nil && o.isOffline(ctx) {
			return Bad(text, install+" where there is a network")
		}
		return Doubtful(text, install+" where there is a network")
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Doubtful(fmt.Sprintf("%s is not installed, and %s answers %s", p, request.URL.Host, response.Status), install)
	}
	return nil
}

// isOffline reports whether Pulumi cannot download a plugin from its other source either.
// A mirror of the user's may have it.
func (o PluginOptions) isOffline(ctx context.Context) bool {
	if o.Env["PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"] != "" {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, cmp.Or(o.GitHub, gitHubAddress), nil)
	if err != nil {
		return false
	}
	response, err := httpClient(o.Env).Do(request)
	if err != nil {
		return ctx.Err() == nil
	}
	response.Body.Close()
	return false
}

// String returns the name with the version.
func (p Plugin) String() string {
	if p.Version == "" {
		return p.Name
	}
	return p.Name + " " + p.Version
}

func list(plugins []Plugin) string {
	names := lists.Map(plugins, Plugin.String)
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// isOn parses a variable as Pulumi does, and reports whether it is true.
func isOn(value string) bool {
	on, err := strconv.ParseBool(value)
	return err == nil && on
}

// askTime bounds a request over the network. It leaves a check the time to report
// what has not been answered.
const askTime = DefaultLimit - time.Second

// httpClient returns a client that uses the same proxy as Pulumi and its plugins: the
// environment file may name one.
func httpClient(env map[string]string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:             cloud.Proxy(env),
		DisableKeepAlives: true, // each host gets one request
	}}
}
