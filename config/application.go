package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"mara/config/lists"
)

// Application is an entry of applications in mara.yaml: a container with what it needs to run in a cluster.
type Application struct {
	Name     Word
	Image    Word
	Port     int
	Host     Word // "" for one that only the cluster reaches
	Gateway  Gateway
	Scale    Scale
	Size     Size
	Env      []Setting // variables, whose values may differ between environments
	Secrets  []Word    // variables whose values are secret
	Files    []Setting // texts by their paths
	Volume   Volume
	Health   Health
	Run      Run
	Stop     time.Duration // that it may take to end
	Connects []Word        // other applications and address ranges
	User     int           // that it runs as
	Pull     Word          // Secret to pull the image with
	Metrics  Metrics
	Where    Where
	Patch    Word // jq over the resources of the program; "" for none
}

// Metrics is where an application has metrics for Prometheus.
type Metrics struct {
	Path string // "" for none
	Port int    // that of the application, or another one
}

// Gateway is the Gateway through which the host is reached, in place of the ingress controller.
type Gateway struct {
	Name Word   // namespace/name; "" for none
	Pods string // namespace of the Pods that forward its requests: "" for its own, AnyPods for a Gateway outside of the cluster
}

// IsRouted reports whether the host is reached through a Gateway.
func (a Application) IsRouted() bool { return a.Gateway.Name.Text != "" }

// AnyPods lets requests in from everywhere.
const AnyPods = "any"

// Where is the environments that have an application.
type Where struct {
	When      Word   // jq; "" for always
	Providers []Word // nil for all
}

// Scale is how many Pods run.
type Scale struct {
	Replicas int // fixed; 0 with Min and Max
	Min, Max int
	CPU      int // percent of the requested processor time that more Pods are started above
}

// Size is what one Pod requests.
type Size struct{ CPU, Memory string }

// Setting is a name with a text.
type Setting struct {
	Name Word
	Text string
}

// Volume is a volume that each Pod keeps.
type Volume struct {
	Path  Word // "" for none
	Size  string
	Class string
}

// Health are the paths at which an application reports on itself.
type Health struct {
	Ready, Live string
	Start       time.Duration // that a start may take
}

// Run has commands; nil is that of the image, and for Before none.
type Run struct{ Command, Args, Before []string }

// Sizes returns the sizes that have a name.
func Sizes() map[string]Size {
	return map[string]Size{
		"small": {CPU: "100m", Memory: "128Mi"}, "medium": {CPU: "250m", Memory: "512Mi"}, "large": {CPU: "1", Memory: "1Gi"},
	}
}

// The forms of what an application has. Lengths are checked apart: a pattern that counts takes longer to compile, at each
// start, than all others of this package.
var (
	applicationForm = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	objectForm      = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
)

func isApplicationName(text string) bool { return len(text) <= 40 && applicationForm.MatchString(text) }

// isObjectName reports whether Kubernetes takes a name.
func isObjectName(text string) bool { return len(text) <= 253 && objectForm.MatchString(text) }

// applicationDecoder reads applications in mara.yaml.
type applicationDecoder struct{ *maraDecoder }

// application reads one application.
func (d applicationDecoder) application(key string, name Word, node *yaml.Node) Application {
	a := Application{
		Name: name, Port: 8080, Size: Sizes()["small"], Health: Health{Ready: "/", Start: time.Minute},
		Stop: 30 * time.Second, User: 10001,
	}
	if !isApplicationName(name.Text) {
		d.problem(name.Line, key, "is no name for an application: write up to 40 small letters, digits and hyphens")
	}
	d.fields(key, node,
		field{"image", d.formed(&a.Image, Image.Matches, Image.Title)},
		field{"port", d.upTo(&a.Port, 65535)},
		field{"host", d.formed(&a.Host, Host.Matches, Host.Title)},
		field{"gateway", func(key string, node *yaml.Node) { a.Gateway = d.gateway(key, node) }},
		field{"replicas", func(key string, node *yaml.Node) { a.Scale = d.scale(key, node) }},
		field{"size", func(key string, node *yaml.Node) { a.Size = d.size(key, node) }},
		field{"env", d.settings(&a.Env, isVariable,
			"is no name for a variable: write letters, digits, _, - and .", "a string")},
		field{"secrets", func(key string, node *yaml.Node) { a.Secrets = d.secretNames(key, node) }},
		field{"files", d.settings(&a.Files, isFile,
			"is not the path of a file that begins with /", "the text of the file")},
		field{"volume", func(key string, node *yaml.Node) { a.Volume = d.volume(key, node) }},
		field{"health", func(key string, node *yaml.Node) { d.health(key, node, &a.Health) }},
		field{"command", func(key string, node *yaml.Node) { a.Run.Command = d.command(key, node, true) }},
		field{"args", func(key string, node *yaml.Node) { a.Run.Args = d.arguments(key, node) }},
		field{"before", func(key string, node *yaml.Node) { a.Run.Before = d.command(key, node, true) }},
		field{"stop", d.duration(&a.Stop)},
		field{"connects", d.formedWords(&a.Connects, isConnection,
			"has %q, which is neither an application nor an address range such as 203.0.113.0/24")},
		field{"user", d.upTo(&a.User, 1<<31-1)},
		field{"pull", d.formed(&a.Pull, isObjectName, "the name of a Secret")},
		field{"metrics", func(key string, node *yaml.Node) { a.Metrics = d.metrics(key, node) }},
		field{"when", d.word(&a.Where.When)},
		field{"providers", d.words(&a.Where.Providers)},
		field{"patch", d.word(&a.Patch)},
	)
	if node.Kind != yaml.MappingNode || Child(node, "image") == nil {
		d.problem(name.Line, key, "has no image; write image: with a tag or a digest")
	}
	d.agree(key, &a)
	return a
}

// agree completes what depends on other keys, and reports what does not agree.
func (d applicationDecoder) agree(key string, a *Application) {
	scaled := a.Scale.Max > 0
	if a.Volume.Path.Text != "" && scaled {
		d.problem(a.Volume.Path.Line, key, "has a volume and replicas from %d to %d; each Pod would have a volume of "+
			"its own: write one number", a.Scale.Min, a.Scale.Max)
	}
	if a.Scale == (Scale{}) {
		a.Scale.Replicas = 2
		if a.Volume.Path.Text != "" {
			a.Scale.Replicas = 1
		}
	}
	if a.IsRouted() && a.Host.Text == "" {
		d.problem(a.Gateway.Name.Line, key, "has a gateway and no host; write the host that the Gateway serves for it")
	}
	if a.Metrics.Path != "" && a.Metrics.Port == 0 {
		a.Metrics.Port = a.Port
	}
	if file, parent := nestedFiles(a.Files); file.Text != "" {
		d.problem(file.Line, key, "has a file at %s, below %s, which is a file as well", file.Text, parent)
	}
	for _, place := range append(lists.Map(a.Files, func(s Setting) Word { return s.Name }), a.Volume.Path) {
		if system := systemOf(place.Text); system != "" {
			d.problem(place.Line, key, "has %s, and %s is the system's own in every container", place.Text, system)
		}
	}
	if taken := takenPath(a.Volume.Path.Text, a.Files); taken != "" {
		d.problem(a.Volume.Path.Line, key, "has its volume at %s, where %s is already", a.Volume.Path.Text, taken)
	}
	keys := map[string]string{}
	for _, name := range slices.Concat(lists.Map(a.Env, func(s Setting) Word { return s.Name }), a.Secrets) {
		if other := keys[VariableKey(name.Text)]; other != "" && other != name.Text {
			d.problem(name.Line, key, "has the variables %s and %s, which would have one key in stack files", other, name.Text)
		}
		keys[VariableKey(name.Text)] = name.Text
	}
	if strings.HasSuffix(a.Image.Text, ":latest") {
		d.doubt(a.Image.Line, key, "has the image %s, a different one from day to day; name a version", a.Image.Text)
	}
	names := append(lists.Map(a.Env, func(s Setting) string { return s.Name.Text }), Words(a.Secrets)...)
	for _, variable := range a.Env {
		if ofShell := shellVariable.FindStringSubmatch(variable.Text); ofShell != nil &&
			slices.Contains(append(names, "PATH", "HOME"), ofShell[1]) {
			d.doubt(variable.Name.Line, key, "has $%s in %s, where no shell is; Kubernetes replaces $(%[1]s), of variables that env and "+
				"secrets have", ofShell[1], variable.Name.Text)
		}
		if withPassword.MatchString(variable.Text) {
			d.doubt(variable.Name.Line, key, "has %s in env, with a password in plain text; write it below secrets, and store it with "+
				"`runner secrets set %s`", variable.Name.Text, a.Name.Text+":"+variable.Name.Text)
		}
		if IsCredential(variable.Name.Text) && variable.Text != "" && !strings.ContainsAny(variable.Text, "/$") {
			d.doubt(variable.Name.Line, key, "has %s in env, in plain text; write it below secrets, and store it with `runner secrets set %s`",
				variable.Name.Text, a.Name.Text+":"+variable.Name.Text)
		}
	}
	for _, secret := range a.Secrets {
		if secret.Text == "PORT" {
			d.problem(secret.Line, key, "has PORT in secrets, which is the value of port already")
		}
		if slices.ContainsFunc(a.Env, func(s Setting) bool { return s.Name.Text == secret.Text }) {
			d.problem(secret.Line, key, "has %s in env and in secrets", secret.Text)
		}
	}
	if slices.ContainsFunc(a.Env, func(s Setting) bool { return s.Name.Text == "PORT" }) {
		d.problem(a.Name.Line, key, "has PORT in env, which is the value of port already")
	}
}

// nestedFiles returns a file whose path goes on below another file, and that one.
func nestedFiles(files []Setting) (file Word, parent string) {
	for _, f := range files {
		for _, other := range files {
			if strings.HasPrefix(f.Name.Text, other.Name.Text+"/") {
				return f.Name, other.Name.Text
			}
		}
	}
	return Word{}, ""
}

// systemOf returns the directory of the kernel in which a path is, where nothing can be mounted; "" if there is none.
func systemOf(file string) string {
	for _, system := range []string{"/proc", "/sys"} {
		if clean := path.Clean(file); clean == system || strings.HasPrefix(clean, system+"/") {
			return system
		}
	}
	return ""
}

// itemsOf returns a list as it is, and anything else as the only item of one.
func itemsOf(node *yaml.Node) *yaml.Node {
	if node.Kind != yaml.ScalarNode || isNull(node) {
		return node
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{node}, Line: node.Line}
}

// takenPath returns what is where a volume would be; "" if there is nothing.
func takenPath(volume string, files []Setting) string {
	if volume == "" {
		return ""
	}
	volume = path.Clean(volume)
	if volume == "/tmp" {
		return "an empty directory of each Pod"
	}
	for _, file := range files {
		if file.Name.Text == volume {
			return "a file of its own"
		}
	}
	return ""
}

var (
	shellVariable = regexp.MustCompile(`(?:^|[^$])\$([A-Za-z_][A-Za-z0-9_]*)`)
	// withPassword matches an address with a password that is neither empty nor a reference.
	withPassword = regexp.MustCompile(`[a-z]://[^/@:\s]*:[^/@\s$]+@`)
)

// IsCredential reports whether a name certainly is that of a password, or of a key as good as one.
func IsCredential(name string) bool {
	name = strings.ToUpper(name)
	for _, ending := range []string{"PASSWORD", "PASSWD", "SECRET", "SECRET_KEY", "API_KEY", "APIKEY", "ACCESS_TOKEN", "AUTH_TOKEN", "PRIVATE_KEY"} {
		if name == ending || strings.HasSuffix(name, "_"+ending) {
			return true
		}
	}
	return false
}

// isVariable reports whether Kubernetes takes a name for a variable.
func isVariable(name string) bool { return len(validation.IsEnvVarName(name)) == 0 }

// VariableKey returns the name of the configuration key that holds a variable: YAML programs have configuration,
// resources and variables in one space of names, and a dot in a name would be a property.
func VariableKey(variable string) string {
	name := strings.NewReplacer(".", "_", "-", "_").Replace(variable)
	if strings.ToUpper(name) != name && slices.Contains(programNames(), name) {
		return "env_" + name
	}
	return name
}

// programNames lists the names in the program of an application.
func programNames() []string {
	return []string{
		"image", "host", "replicas", "min", "max", "pulumi", "kubeconfig", "cluster", "namespace", "account", "service",
		"network", "budget", "workload", "secrets", "files", "before", "scaler", "ingress",
		"gateway", "route",
	}
}

// within doubts an amount that is far from what anybody means: a number without its unit.
func (d applicationDecoder) within(key string, amount Word, least, most, what, unit string) {
	given, err := resource.ParseQuantity(amount.Text)
	if err != nil || amount.Text == "" {
		return
	}
	low, high := resource.MustParse(least), resource.MustParse(most)
	hint := ""
	if _, err := strconv.Atoi(amount.Text); err == nil {
		hint = fmt.Sprintf("; did you mean %s%s?", amount.Text, unit)
	}
	switch {
	case given.Cmp(low) < 0:
		d.doubt(amount.Line, key, "is %s, %s %s%s", amount.Text, given.AsDec(), what, hint)
	case given.Cmp(high) > 0:
		d.doubt(amount.Line, key, "is %s, which is more than %s%s", amount.Text, most, hint)
	}
}

// formed reads a string of a form.
func (d applicationDecoder) formed(to *Word, fits func(string) bool, title string) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		d.word(to)(key, node)
		if to.Text != "" && !fits(to.Text) {
			d.problem(node.Line, key, "is %q, which is not %s", to.Text, title)
		}
	}
}

// upTo reads a whole number from 1 on.
func (d applicationDecoder) upTo(to *int, most int) func(string, *yaml.Node) {
	return d.number(fmt.Sprintf(" from 1 to %d", most), 1, most, func(number int) { *to = number })
}

// scale reads a number of Pods, or its limits.
func (d applicationDecoder) scale(key string, node *yaml.Node) Scale {
	var s Scale
	if node.Kind == yaml.ScalarNode {
		d.upTo(&s.Replicas, 1000)(key, node)
		return s
	}
	s.Min, s.CPU = 2, 70
	d.fields(key, node,
		field{"min", d.upTo(&s.Min, 1000)}, field{"max", d.upTo(&s.Max, 1000)},
		field{"cpu", d.upTo(&s.CPU, 100)})
	if s.Max == 0 {
		d.problem(node.Line, key, "has no max: write how many Pods there may be at most, as in {min: %d, max: %d}", s.Min, 2*s.Min)
	} else if s.Max < s.Min {
		d.problem(node.Line, key, "has max %d, which is less than min %d", s.Max, s.Min)
	}
	return s
}

// size reads the name of a size, or its parts.
func (d applicationDecoder) size(key string, node *yaml.Node) Size {
	if node.Kind == yaml.ScalarNode {
		var name Word
		d.choice(&name, "small", "medium", "large")(key, node)
		return Sizes()[name.Text]
	}
	size, cpu, memory := Sizes()["small"], Word{}, Word{}
	d.fields(key, node,
		field{"cpu", d.formed(&cpu, Processors.Matches, Processors.Title)},
		field{"memory", d.formed(&memory, Storage.Matches, "a size such as 512Mi")})
	d.within(key, cpu, "5m", "256", "processors", "m")
	d.within(key, memory, "4Mi", "4Ti", "bytes", "Mi")
	return Size{CPU: cmp.Or(cpu.Text, size.CPU), Memory: cmp.Or(memory.Text, size.Memory)}
}

// arguments reads the arguments of a container. A text is one argument; options of a command line are several.
func (d applicationDecoder) arguments(key string, node *yaml.Node) (words []string) {
	d.items(key, itemsOf(node), func(key string, item *yaml.Node) {
		if item.Kind == yaml.ScalarNode && item.ShortTag() == "!!str" && item.Value == "" { // which a program may take
			words = append(words, "")
			return
		}
		var word Word
		if d.word(&word)(key, item); word.Text != "" {
			words = append(words, word.Text)
		}
	})
	if node.Kind == yaml.ScalarNode && strings.HasPrefix(node.Value, "-") && len(strings.Fields(node.Value)) > 1 {
		d.doubt(node.Line, key, "is one argument with blanks in it; write [%s]", strings.Join(strings.Fields(node.Value), ", "))
	}
	return words
}

// settings reads texts by their names; wrong is about a name that does not fit, and what says what each text is.
func (d applicationDecoder) settings(
	to *[]Setting, fits func(name string) bool, wrong, what string,
) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		d.entries(key, node, func(key string, name Word, value *yaml.Node) {
			if !fits(name.Text) {
				d.problem(name.Line, key, "%s", wrong)
			}
			if value.Kind != yaml.ScalarNode {
				d.problem(value.Line, key, "must be %s, not %s", what, nodeKind(value))
				return
			}
			*to = append(*to, Setting{Name: name, Text: value.Value})
		})
	}
}

// secretNames reads the names of variables whose values are secret.
func (d applicationDecoder) secretNames(key string, node *yaml.Node) (names []Word) {
	d.words(&names)(key, node)
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case !isVariable(name.Text):
			d.problem(name.Line, key, "has %q, which is no name for a variable: write letters, digits, _, - and .; "+
				"the value is stored with `runner secrets set`", name.Text)
		case seen[name.Text]:
			d.problem(name.Line, key, "has %s twice", name.Text)
		}
		seen[name.Text] = true
	}
	return names
}

// isFile reports whether a text is the path of a file.
func isFile(text string) bool { return path.IsAbs(text) && path.Clean(text) == text && text != "/" }

// volume reads a volume.
func (d applicationDecoder) volume(key string, node *yaml.Node) Volume {
	v, size := Volume{}, Word{}
	isPath := func(text string) bool {
		return path.IsAbs(text) && path.Clean(text) != "/" && !strings.Contains(text, ":")
	}
	d.fields(key, node,
		field{"path", d.formed(&v.Path, isPath, "a directory below /, such as /data")},
		field{"size", d.formed(&size, Storage.Matches, Storage.Title)},
		field{"class", d.text(&v.Class)})
	if v.Path.Text == "" {
		d.problem(node.Line, key, "has no path")
	}
	d.within(key, size, "1Mi", "64Ti", "bytes", "Gi")
	v.Size = cmp.Or(size.Text, "1Gi")
	return v
}

// health reads a path, or several.
func (d applicationDecoder) health(key string, node *yaml.Node, h *Health) {
	ready, live := Word{}, Word{}
	if node.Kind == yaml.ScalarNode {
		d.urlPath(&ready)(key, node)
	} else {
		d.fields(key, node, field{"ready", d.urlPath(&ready)}, field{"live", d.urlPath(&live)},
			field{"start", d.duration(&h.Start)})
	}
	h.Ready, h.Live = cmp.Or(ready.Text, h.Ready), live.Text
}

// urlPath reads the path of a URL.
func (d applicationDecoder) urlPath(to *Word) func(string, *yaml.Node) {
	return d.formed(to, func(text string) bool { return strings.HasPrefix(text, "/") }, "a path that begins with /")
}

// metrics reads a path, or a path and a port.
func (d applicationDecoder) metrics(key string, node *yaml.Node) Metrics {
	at, m := Word{}, Metrics{}
	if node.Kind == yaml.ScalarNode {
		d.urlPath(&at)(key, node)
	} else {
		d.fields(key, node, field{"path", d.urlPath(&at)}, field{"port", d.upTo(&m.Port, 65535)})
	}
	m.Path = cmp.Or(at.Text, "/metrics")
	return m
}

// gateway reads the name of a Gateway, or its parts.
func (d applicationDecoder) gateway(key string, node *yaml.Node) (g Gateway) {
	name := d.formed(&g.Name, GatewayName.Matches, GatewayName.Title)
	if node.Kind == yaml.ScalarNode {
		name(key, node)
		return g
	}
	pods := Word{}
	d.fields(key, node, field{"name", name}, field{"pods", d.formed(&pods, isObjectName, "a namespace, or any")})
	if g.Name.Text == "" {
		d.problem(node.Line, key, "has no name; write that of the Gateway, such as infra/public")
	}
	g.Pods = pods.Text
	return g
}

// isConnection reports whether a text names what an application may connect to.
func isConnection(text string) bool {
	_, err := netip.ParsePrefix(text)
	return err == nil || isApplicationName(text)
}

// Amount returns a number of seconds for Kubernetes.
func Amount(d time.Duration) int { return int(d.Round(time.Second) / time.Second) }

// Key returns the configuration key that holds a value of the application.
func (a Application) Key(name string) string { return a.Name.Text + ":" + name }
