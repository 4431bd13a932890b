package e2e

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// transition is a change of an application, as docs/applications.md describes it.
type transition struct {
	name     string
	row      string // how its row on the page begins
	from, to string // keys of the application shop, beside its image
	with     string // flags of the second up
	token    string // the value of the secret TOKEN from the second up on
	becomes  string // the name that it has afterwards, if that is another one; "-" if it is taken out
	want     string // what happens to its objects in the cluster, in this order
	lost     string // what is missing at the worst moment, of what there is before and after it
	away     int    // Pods that are not ready at the worst moment, at a real API server
	refused  string // what the second up says instead
}

func transitions() []transition {
	return []transition{
		{name: "another image", row: "`image`, `env`, `size`, `health`, `command`, `args`, `user`", with: "--config shop:image=ghcr.io/acme/shop:1.3.0", want: "update Deployment workload"},
		{name: "another image, with a volume", row: "`image`, `env`, `size`, `health`, `command`, `args`, `user`", from: "    volume: {path: /data, size: 5Gi}\n", to: "    volume: {path: /data, size: 5Gi}\n",
			with: "--config shop:image=ghcr.io/acme/shop:1.3.0", want: "update StatefulSet workload", away: 1},
		{name: "a variable", row: "`image`, `env`, `size`, `health`, `command`, `args`, `user`", from: "    env: {LEVEL: info}\n", to: "    env: {LEVEL: debug}\n", want: "update Deployment workload"},
		{name: "a size", row: "`image`, `env`, `size`, `health`, `command`, `args`, `user`", to: "    size: medium\n", want: "update Deployment workload"},
		{name: "a health path", row: "`image`, `env`, `size`, `health`, `command`, `args`, `user`", to: "    health: /ready\n", want: "update Deployment workload"},
		{name: "the first file", row: "`files`, `secrets`", to: "    files: {/etc/a: y}\n", want: "create ConfigMap files, update Deployment workload"},
		{name: "another file", row: "`files`, `secrets`", from: "    files: {/etc/a: x}\n", to: "    files: {/etc/a: y}\n", want: "replace ConfigMap files, update Deployment workload"},
		{name: "no file any more", row: "`files`, `secrets`", from: "    files: {/etc/a: x}\n", want: "update Deployment workload, delete ConfigMap files"},
		{name: "another secret", row: "`files`, `secrets`", from: "    secrets: [TOKEN]\n", to: "    secrets: [TOKEN]\n", token: "second", want: "replace Secret secrets, update Deployment workload"},
		{name: "the first secret", row: "`files`, `secrets`", to: "    secrets: [TOKEN]\n", token: "first", want: "create Secret secrets, update Deployment workload"},
		{name: "the first command before a rollout", row: "`before`", to: "    before: [./migrate]\n", want: "create Job before"},
		{name: "another command before a rollout", row: "`before`", from: "    before: [./migrate]\n", to: "    before: [./migrate, up]\n", want: "replace Job before"},
		{name: "an image with a command before the rollout", row: "`before`", from: "    before: [./migrate]\n", to: "    before: [./migrate]\n", with: "--config shop:image=ghcr.io/acme/shop:1.3.0", want: "replace Job before, update Deployment workload"},
		{name: "more replicas", row: "`replicas: 3` to another number", from: "    replicas: 3\n", to: "    replicas: 5\n", want: "update Deployment workload"},
		{name: "to an autoscaler", row: "`replicas: 3` to `{min, max}`", from: "    replicas: 3\n", to: "    replicas: {min: 3, max: 10}\n", want: "update Deployment workload, create HorizontalPodAutoscaler scaler"},
		{name: "from an autoscaler", row: "`{min, max}` to a number", from: "    replicas: {min: 3, max: 10}\n", to: "    replicas: 3\n", want: "update Deployment workload, delete HorizontalPodAutoscaler scaler"},
		{name: "a port", row: "`port`", from: "    port: 3000\n", to: "    port: 4000\n", want: "update Deployment workload"},
		{name: "the first host", row: "the first `host`", to: "    host: a.example.com\n", want: "update NetworkPolicy network, create Ingress ingress"},
		{name: "a host", row: "`host`", from: "    host: a.example.com\n", to: "    host: b.example.com\n", want: "update Ingress ingress"},
		{name: "through a Gateway", row: "the first `gateway`", from: "    host: a.example.com\n", to: "    host: a.example.com\n    gateway: infra/public\n", want: "update NetworkPolicy network, create HTTPRoute shop/shop, create ConfigGroup route, delete Ingress ingress"},
		{name: "no host any more", row: "no `host` any more", from: "    host: b.example.com\n", want: "update NetworkPolicy network, delete Ingress ingress"},
		{name: "a bigger volume", row: "a bigger `volume`", from: "    volume: {path: /data, size: 5Gi}\n", to: "    volume: {path: /data, size: 10Gi}\n", want: "replace StatefulSet workload", lost: "workload 1 of 1"}, // its Pods stay,
		{name: "a smaller volume", row: "a smaller `volume`, another `class`", from: "    volume: {path: /data, size: 5Gi}\n", to: "    volume: {path: /data, size: 1Gi}\n", refused: "none can be made smaller"},
		{name: "another class", row: "a smaller `volume`, another `class`", from: "    volume: {path: /data, class: a}\n", to: "    volume: {path: /data, class: b}\n", refused: "none can get another class"},
		{name: "a volume where there was none", row: "a `volume` where there was none", to: "    volume: {path: /data, size: 5Gi}\n", want: "create StatefulSet workload, delete Deployment workload"},
		{name: "the name", row: "the name", becomes: "store", want: ""},
		{name: "the application is taken out", row: "the application is taken out of mara.yaml", becomes: "-", want: ""},
		{name: "no volume any more", row: "no `volume` any more", from: "    volume: {path: /data, size: 5Gi}\n", want: "create Deployment workload, delete StatefulSet workload"},
	}
}

// shopEnvironment is an environment with an application that is about to change.
type shopEnvironment struct {
	*environment
	name  string   // of the application
	where []string // flags of each command: where it runs
}

// newShop creates the environment as it is before a change.
func newShop(t *testing.T, change transition, config string, where ...string) *shopEnvironment {
	t.Helper()
	c := &shopEnvironment{environment: newEnvironment(t, embedded), name: "shop", where: where}
	c.env = append(c.env, "PULUMI_CONFIG_PASSPHRASE=for this test")
	c.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: cluster\n"+config)
	c.declare(firstImage + change.from)
	if strings.Contains(change.from, "TOKEN") {
		c.token("first")
	}
	return c
}

// firstImage is the image of an application before a change.
const firstImage = "    image: ghcr.io/acme/shop:1.2.3\n"

// declare writes mara.yaml with keys of the application.
func (c *shopEnvironment) declare(keys string) {
	c.t.Helper()
	c.write("mara.yaml", "providers: {cluster: {only: ["+c.name+"]}}\napplications:\n  "+c.name+":\n"+keys)
}

// token sets a secret of the application.
func (c *shopEnvironment) token(value string) {
	c.t.Helper()
	c.env = append(c.env, "CONTENT="+value)
	if r := c.run("secrets", "set", "shop:TOKEN", "env:CONTENT", "-s", "dev"); r.code != 0 {
		c.t.Fatalf("secrets set: %d %s%s", r.code, r.stdout, r.stderr)
	}
}

// change writes what changes, and returns the flags of the up that makes it so.
func (c *shopEnvironment) change(change transition) (flags []string) {
	c.t.Helper()
	switch change.becomes {
	case "":
		flags = strings.Fields("--only +" + c.name + " " + change.with)
	case "-":
		c.name = "another"
	default:
		c.name = change.becomes
	}
	c.declare(firstImage + change.to)
	if change.token != "" {
		c.token(change.token)
	}
	return flags
}

// up deploys the environment, and returns what happens and what it says.
func (c *shopEnvironment) up(flags ...string) ([]event.Event, string) {
	c.t.Helper()
	all := slices.Concat([]string{"up", "--yes", "-o", "json"}, c.where, flags)
	r := c.run(all...)
	if r.code != 0 {
		c.t.Fatalf("%s: exit code %d\n%s%s", strings.Join(all, " "), r.code, lastLines(r.stdout), r.stderr)
	}
	return decode(c.t, r.stdout), r.stderr
}

// refuses checks that a change is refused, with the reason.
func (c *shopEnvironment) refuses(reason string, flags ...string) {
	c.t.Helper()
	r := c.run(slices.Concat([]string{"up", "--yes"}, c.where, flags)...)
	if r.code == 0 || !strings.Contains(r.stdout+r.stderr, reason) {
		c.t.Errorf("exit code %d, want %q in\n%s%s", r.code, reason, r.stdout, r.stderr)
	}
}

// happened checks what an up has done to the objects of the application.
func (c *shopEnvironment) happened(events []event.Event, want string) {
	c.t.Helper()
	if got := strings.Join(happenedTo("shop", events), ", "); got != want {
		c.t.Errorf("happened: %s\nwant:     %s", got, want)
	}
}

// TestTransitions: docs/applications.md says what happens when a key of an application changes. The real engine runs each change
// against the rules of the simulated API server: what is changed in place, what is made before what is deleted, and that the
// application never lacks what it has before and after the change. TestProviderTransitions does it at a real one, and counts Pods.
func TestTransitions(t *testing.T) {
	t.Parallel()
	long(t)
	for _, change := range transitions() {
		t.Run(change.name, func(t *testing.T) {
			t.Parallel()
			c := newShop(t, change, "  cluster:context: mine\n", "--simulate", "--debug")
			var there objects
			_, log := c.up()
			there.follow(log)
			before := there.begin()
			flags := c.change(change)
			if change.refused != "" {
				c.refuses(change.refused, flags...)
				return
			}
			events, log := c.up(flags...)
			there.follow(log)
			c.happened(events, change.want)
			if got := there.lost(before); got != change.lost {
				t.Errorf("lost at the worst moment: %q, want %q", got, change.lost)
			}
			if change.becomes != "" {
				r := c.run("destroy", "--orphans", "--simulate", "--yes", "--debug", "-o", "json")
				there.follow(r.stderr)
				if left := there.of("shop"); r.code != 0 || len(left) > 0 || before["workload"] == 0 {
					t.Errorf("destroy --orphans: exit code %d, and %v are left\n%s", r.code, left, lastLines(r.stdout))
				}
				return
			}
			if again := changed(c.simulate(0, "preview", "--only", "+shop")); len(again) > 0 && change.with == "" {
				t.Errorf("a preview after it changes %v", again)
			}
		})
	}
}

// TestTransitionsAreOnThePage: what the page says of a change is tried, and what is tried is on the page.
func TestTransitionsAreOnThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/applications.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## What happens when I change something\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var rows []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) == 2 && cells[0] != "| change" {
			rows = append(rows, strings.TrimPrefix(cells[0], "| "))
		}
	}
	var tried []string
	for _, change := range transitions() {
		tried = append(tried, change.row)
		if !slices.Contains(rows, change.row) {
			t.Errorf("%s: the page has no row %q", change.name, change.row)
		}
	}
	for _, row := range rows {
		if !slices.Contains(tried, row) {
			t.Errorf("nothing tries %q", row)
		}
	}
	if len(rows) < 10 {
		t.Errorf("%d rows", len(rows))
	}
}

// objects are those that a simulated cluster has, as its provider reports each operation.
type objects struct {
	now    map[string]string // kinds, by what they are called in the cluster
	lowest map[string]int    // the fewest of a kind since begin
}

// worked is the line of an operation on an object.
var worked = regexp.MustCompile(`msg=simulated operation=(\w+) type=kubernetes:\S+:(\w+) id=(\S+).* error=<nil>`)

// follow takes what an operation reports with --debug.
func (o *objects) follow(log string) {
	if o.now == nil {
		o.now, o.lowest = map[string]string{}, map[string]int{}
	}
	for _, line := range worked.FindAllStringSubmatch(log, -1) {
		kind := line[2]
		if kind == "Deployment" || kind == "StatefulSet" {
			kind = "workload"
		}
		switch name := line[2] + " " + line[3]; line[1] {
		case "create":
			o.now[name] = kind
		case "delete":
			delete(o.now, name)
		}
		for kind, n := range o.counts() {
			o.lowest[kind] = min(o.lowest[kind], n)
		}
	}
}

// counts counts the objects of each kind; also of those of which there is none any more.
func (o *objects) counts() map[string]int {
	counts := map[string]int{}
	for kind := range o.lowest {
		counts[kind] = 0
	}
	for _, kind := range o.now {
		counts[kind]++
	}
	return counts
}

// begin returns how many there are, and counts the lowest number from here on.
func (o *objects) begin() map[string]int {
	o.lowest = nil
	o.lowest = o.counts()
	return maps.Clone(o.lowest)
}

// lost lists the kinds of which there were fewer than before and fewer than now. A Job has done its work.
func (o *objects) lost(before map[string]int) string {
	var lost []string
	for kind, after := range o.counts() {
		if needed := min(before[kind], after); o.lowest[kind] < needed && kind != "Job" {
			lost = append(lost, fmt.Sprintf("%s %d of %d", kind, needed-o.lowest[kind], needed))
		}
	}
	slices.Sort(lost)
	return strings.Join(lost, ", ")
}

// of lists the objects in a namespace.
func (o *objects) of(namespace string) (names []string) {
	for name := range o.now {
		if strings.Contains(name, " "+namespace+"/") || name == "Namespace "+namespace {
			names = append(names, name)
		}
	}
	return names
}

// happenedTo lists what was done to the objects of a project, in order.
func happenedTo(project string, events []event.Event) (all []string) {
	for _, e := range events {
		if e.Type == event.StepProgress && e.Project == project && e.Status == event.ActionDone && e.Action != event.Same &&
			e.Action != event.Read && strings.HasPrefix(e.Resource.Type, "kubernetes:") {
			kind := e.Resource.Type[strings.LastIndex(e.Resource.Type, ":")+1:]
			all = append(all, string(e.Action)+" "+kind+" "+e.Resource.Name)
		}
	}
	return all
}
