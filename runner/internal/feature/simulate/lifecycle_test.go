package simulate_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/runner/internal/feature/simulate"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", map[string]any{"region": "here"})
	net, outputs := e.create(networkType, "net", map[string]any{"range": "10.0.0.0/8"})
	if !strings.HasPrefix(net, "net-") {
		t.Errorf("got the id %q", net)
	}
	want := map[string]any{"arn": "arn:fake:here:" + net, "range": "10.0.0.0/8", "tags": map[string]any{}}
	if diff := cmp.Diff(want, outputs.Mappable()); diff != "" {
		t.Error(diff)
	}

	inputs := with(onNetwork(net), "password", resource.MakeSecret(resource.NewStringProperty("hush")))
	id, outputs := e.create(machineType, "m", inputs)
	if id != "web" {
		t.Errorf("got the id %q, want the label", id)
	}
	for _, secret := range []resource.PropertyKey{"password", "token"} {
		if !outputs[secret].IsSecret() {
			t.Errorf("%s is not secret: %v", secret, outputs[secret])
		}
	}
	root := outputs["root"].ObjectValue()
	if root["size"].NumberValue() != 8 || !strings.HasPrefix(root["deviceId"].StringValue(), "sd") {
		t.Errorf("got the root %v, want input and generated value together", root)
	}
	if _, ok := outputs["note"]; ok {
		t.Errorf("an optional output was generated: %v", outputs["note"])
	}
}

func TestOutputsAreDeterministic(t *testing.T) {
	t.Parallel()
	var seen []resource.PropertyMap
	for range 2 {
		e := connect(t, start(t, simulate.Options{}), "fake", nil)
		net, _ := e.create(networkType, "net", map[string]any{"range": "r"})
		_, outputs := e.create(machineType, "m", onNetwork(net))
		resp, err := e.Update(t.Context(), &pulumirpc.UpdateRequest{
			Urn: urn(machineType, "m"), Id: "web", News: e.pack(with(onNetwork(net), "running", true)),
		})
		if err != nil {
			t.Fatal(err)
		}
		updated := e.unpack(resp.GetProperties())
		if !updated["running"].BoolValue() || !updated["address"].DeepEquals(outputs["address"]) || !updated["token"].DeepEquals(outputs["token"]) {
			t.Errorf("an update changed what was generated:\n%v\n%v", outputs, updated)
		}
		seen = append(seen, outputs)
	}
	if !seen[0].DeepEquals(seen[1]) {
		t.Errorf("two clouds differ:\n%v\n%v", seen[0], seen[1])
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := connect(t, start(t, simulate.Options{Dir: dir}), "fake", nil)
	inputs := resource.NewPropertyMapFromMap(onNetwork("net-1"))
	inputs["network"] = resource.MakeComputed(resource.NewStringProperty(""))
	outputs := e.preview(machineType, "m", inputs)
	for _, key := range []resource.PropertyKey{"arn", "address", "network", "cores"} {
		if !outputs[key].IsComputed() {
			t.Errorf("%s is %v, want unknown", key, outputs[key])
		}
	}
	if token := outputs["token"]; !token.IsSecret() || !token.SecretValue().Element.IsComputed() {
		t.Errorf("token is %v, want a secret unknown", token)
	}
	root := outputs["root"].ObjectValue()
	if root["size"].NumberValue() != 8 || !root["deviceId"].IsComputed() {
		t.Errorf("root is %v, want the known size and an unknown device", root)
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("a preview left %v", got)
	}
}

func TestPreviewOfUpdate(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	net, _ := e.create(networkType, "net", map[string]any{"range": "r"})
	id, old := e.create(machineType, "m", onNetwork(net))
	resp, err := e.Update(t.Context(), &pulumirpc.UpdateRequest{
		Urn: urn(machineType, "m"), Id: id, Preview: true,
		Olds: e.packMap(old), News: e.pack(with(onNetwork(net), "running", true)),
	})
	if err != nil {
		t.Fatal(err)
	}
	outputs := e.unpack(resp.GetProperties())
	if !outputs["address"].DeepEquals(old["address"]) || !outputs["running"].BoolValue() {
		t.Errorf("got %v, want what stays and the new input to be known", outputs)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	same := resource.NewPropertyMapFromMap(onNetwork("n"))
	cases := []struct {
		name          string
		token         string
		before, after map[string]any
		diffs         []string
		replaces      []string
		deleteFirst   bool
	}{
		{name: "same", token: machineType, before: onNetwork("n"), after: onNetwork("n")},
		{name: "same but secret", token: machineType, before: onNetwork("n"), after: map[string]any{
			"network": resource.MakeSecret(same["network"]), "label": "web", "root": map[string]any{"size": 8}}},
		{name: "update", token: machineType, before: onNetwork("n"), after: with(onNetwork("n"), "running", true), diffs: []string{"running"}},
		{name: "nested update", token: machineType, before: onNetwork("n"), after: with(onNetwork("n"), "root", map[string]any{"size": 9}), diffs: []string{"root"}},
		{name: "removal", token: machineType, before: with(onNetwork("n"), "running", true), after: onNetwork("n"), diffs: []string{"running"}},
		{name: "replacement of something named", token: machineType, before: onNetwork("n"), after: with(onNetwork("n"), "label", "other"),
			diffs: []string{"label"}, replaces: []string{"label"}, deleteFirst: true},
		{name: "nested replacement", token: machineType, before: onNetwork("n"), after: with(onNetwork("n"), "root", map[string]any{"size": 8, "kind": "x"}),
			diffs: []string{"root"}, replaces: []string{"root"}, deleteFirst: true},
		{name: "replacement", token: networkType, before: map[string]any{"range": "a"}, after: map[string]any{"range": "b"},
			diffs: []string{"range"}, replaces: []string{"range"}},
		{name: "not known yet", token: networkType, before: map[string]any{"range": "a"},
			after: map[string]any{"range": resource.MakeComputed(resource.NewStringProperty(""))}, diffs: []string{"range"}, replaces: []string{"range"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			resp, err := e.Diff(t.Context(), &pulumirpc.DiffRequest{
				Urn: urn(c.token, "x"), Id: "x", OldInputs: e.pack(c.before), News: e.pack(c.after),
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.diffs, resp.GetDiffs()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.replaces, resp.GetReplaces()); diff != "" {
				t.Error(diff)
			}
			if resp.GetDeleteBeforeReplace() != c.deleteFirst {
				t.Errorf("deletes first: %v, want %v", resp.GetDeleteBeforeReplace(), c.deleteFirst)
			}
			if changed := resp.GetChanges() == pulumirpc.DiffResponse_DIFF_SOME; changed != (len(c.diffs) > 0) {
				t.Errorf("got %v for the diffs %v", resp.GetChanges(), c.diffs)
			}
		})
	}
}

func TestWhatExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := connect(t, start(t, simulate.Options{Dir: dir}), "fake", nil)
	net, _ := e.create(networkType, "net", map[string]any{"range": "r"})
	id, _ := e.create(machineType, "m", with(onNetwork(net), "password", "hush-hush"))
	before := files(t, dir)
	for name, content := range before {
		if strings.Contains(content, "hush") {
			t.Errorf("%s holds a property: %s", name, content)
		}
	}
	if !e.exists(machineType, "m", id) {
		t.Error("the machine does not exist")
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("a refresh wrote: %s", diff)
	}

	// Another process sees the same clouds.
	again := connect(t, start(t, simulate.Options{Dir: dir}), "fake", nil)
	wantError(t, again.delete(networkType, "net", net, nil), "the network has machines (web)")
	if !again.exists(networkType, "net", net) {
		t.Error("a refused deletion deleted")
	}

	// The machine is deleted without Pulumi.
	if err := os.Remove(filepath.Join(dir, "fake", "index.Machine", "web.json")); err != nil {
		t.Fatal(err)
	}
	if e.exists(machineType, "m", id) || again.exists(machineType, "m", id) {
		t.Error("the machine still exists")
	}
	if err := e.delete(machineType, "m", id, onNetwork(net)); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	_, err := e.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: urn(machineType, "m"), Id: id, News: e.pack(onNetwork(net))})
	wantError(t, err, "does not exist any more")

	if err := again.delete(networkType, "net", net, nil); err != nil {
		t.Error(err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	_, _, err := e.tryCreate(t.Context(), machineType, "m", resource.NewPropertyMapFromMap(onNetwork("net-none")))
	wantError(t, err, `network "net-none" not found`)
	net, _ := e.create(networkType, "net", map[string]any{"range": "r"})
	e.create(machineType, "m", onNetwork(net))
	_, _, err = e.tryCreate(t.Context(), machineType, "other", resource.NewPropertyMapFromMap(onNetwork(net)))
	wantError(t, err, `"web" already exists; it belongs to `+urn(machineType, "m"))
	if status.Code(err) != codes.AlreadyExists {
		t.Errorf("got the code %v", status.Code(err))
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	first, _ := e.create(networkType, "net", map[string]any{"range": "a"})
	second, _ := e.create(networkType, "net", map[string]any{"range": "b"})
	if first == second {
		t.Errorf("a replacement has the id %q of what it replaces", first)
	}
	// The engine did not live to see the end of the first creation.
	e.create(machineType, "m", onNetwork(first))
	e.create(machineType, "m", onNetwork(first))
}

func TestCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clouds := start(t, simulate.Options{Dir: dir})
	cloud := connect(t, clouds, "fake", nil)
	c := connect(t, clouds, "cluster", map[string]any{"server": "web"})
	grouped := map[string]any{"metadata": map[string]any{"name": "t", "group": "g"}}
	group := map[string]any{"metadata": map[string]any{"name": "g"}}

	_, _, err := c.tryCreate(t.Context(), groupType, "g", resource.NewPropertyMapFromMap(group))
	wantError(t, err, "cluster unreachable: web")
	net, _ := cloud.create(networkType, "net", map[string]any{"range": "r"})
	machine, _ := cloud.create(machineType, "m", onNetwork(net))

	_, _, err = c.tryCreate(t.Context(), thingType, "t", resource.NewPropertyMapFromMap(grouped))
	wantError(t, err, `groups "g" not found`)
	groupID, _ := c.create(groupType, "g", group)
	thingID, _ := c.create(thingType, "t", grouped)
	if groupID != "default/g" || thingID != "g/t" {
		t.Errorf("got the ids %q and %q", groupID, thingID)
	}
	if _, ok := files(t, dir)["cluster/web/v1.Thing/g%2Ft.json"]; !ok {
		t.Errorf("the record is not where it is expected: %v", files(t, dir))
	}

	// A group implies a thing that no program made.
	found, err := c.Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(thingType, "i"), Id: "g/implied"})
	if err != nil || found.GetId() != "g/implied" || c.exists(thingType, "i", "g/other") {
		t.Errorf("got %v, %v for what a group implies", found, err)
	}

	// What is in a group goes with the group.
	if err := c.delete(groupType, "g", groupID, group); err != nil {
		t.Fatal(err)
	}
	if c.exists(thingType, "t", thingID) || c.exists(thingType, "i", "g/implied") {
		t.Error("the thing outlived its group")
	}
	c.create(groupType, "g", group)

	// And everything goes with the cluster.
	if err := cloud.delete(machineType, "m", machine, onNetwork(net)); err != nil {
		t.Fatal(err)
	}
	wantError(t, c.delete(groupType, "g", groupID, group), "cluster unreachable: web")
	_, err = c.Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(groupType, "g"), Id: groupID})
	wantError(t, err, "cluster unreachable: web")
	forgiving := connect(t, clouds, "cluster", map[string]any{"server": "web", "forget": true})
	if err := forgiving.delete(groupType, "g", groupID, group); err != nil {
		t.Errorf("a forgiving provider: %v", err)
	}
	if forgiving.exists(groupType, "g", groupID) {
		t.Error("a forgiving provider finds what it cannot reach")
	}
	cloud.create(machineType, "m", onNetwork(net))
	if c.exists(groupType, "g", groupID) {
		t.Error("a new cluster has the old one's group")
	}
}

func TestWhatVanishesTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clouds := start(t, simulate.Options{Dir: dir})
	cloud := connect(t, clouds, "fake", nil)
	net, _ := cloud.create(networkType, "net", map[string]any{"range": "r"})
	cloud.create(machineType, "m", onNetwork(net))
	c := connect(t, clouds, "cluster", map[string]any{"server": "web"})
	group := map[string]any{"metadata": map[string]any{"name": "g"}}
	inside := map[string]any{"metadata": map[string]any{"name": "t", "group": "g"}}
	c.create(groupType, "g", group)
	c.create(thingType, "t", inside)
	c.create(thingType, "u", map[string]any{"metadata": map[string]any{"name": "u", "group": "g"}})

	if err := os.Remove(filepath.Join(dir, "cluster", "web", "v1.Group", "default%2Fg.json")); err != nil {
		t.Fatal(err)
	}
	if c.exists(thingType, "t", "g/t") {
		t.Error("the thing exists without its group")
	}
	if err := c.delete(thingType, "t", "g/t", inside); err != nil {
		t.Errorf("deleting what is gone with its group: %v", err)
	}
	c.create(groupType, "g", group)
	if c.exists(thingType, "u", "g/u") {
		t.Error("the thing came to life again with its group")
	}
	c.create(thingType, "of-another-user", inside)
	if left := files(t, dir); len(left) != 4 {
		t.Errorf("got %d records, want those of network, machine, group and thing: %v", len(left), left)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{}), "fake", nil)
	net, _ := e.create(networkType, "net", map[string]any{"range": "r"})
	machine, created := e.create(machineType, "m", onNetwork(net))
	resp, err := e.Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(machineType, "other"), Id: machine, Inputs: e.pack(onNetwork(net))})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.unpack(resp.GetProperties()); !got.DeepEquals(created) {
		t.Errorf("got %v, want %v", got, created)
	}
}

func TestOneNameForTwoAtOnce(t *testing.T) {
	t.Parallel()
	clouds := start(t, simulate.Options{Slow: []simulate.Delay{delay(t, machineType+"=50ms")}})
	e := connect(t, clouds, "fake", nil)
	net, _ := e.create(networkType, "net", map[string]any{"range": "r"})
	errs := make(chan error)
	for _, name := range []string{"a", "b"} {
		go func() {
			_, _, err := e.tryCreate(t.Context(), machineType, name, resource.NewPropertyMapFromMap(onNetwork(net)))
			errs <- err
		}()
	}
	first, second := status.Code(<-errs), status.Code(<-errs)
	if min(first, second) != codes.OK || max(first, second) != codes.AlreadyExists {
		t.Errorf("got %v and %v, want one to win", first, second)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clouds := start(t, simulate.Options{Dir: dir, Speed: 1, Slow: []simulate.Delay{delay(t, networkType+"=1h")}})
	begin := func(ctx context.Context, e engine) <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, _, err := e.tryCreate(ctx, networkType, "n", resource.PropertyMap{"range": resource.NewStringProperty("r")})
			ended <- err
		}()
		return ended
	}
	first, second := connect(t, clouds, "fake", nil), connect(t, clouds, "fake", nil)
	ctx, abandon := context.WithCancel(t.Context())
	cancelled, untouched := begin(t.Context(), first), begin(ctx, second)

	// Whether the creation has begun or not: after Cancel it ends.
	if _, err := first.Cancel(t.Context(), &emptypb.Empty{}); err != nil {
		t.Fatal(err)
	}
	if err := <-cancelled; status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
	select {
	case err := <-untouched:
		t.Fatalf("cancelling one operation ended another's: %v", err)
	default:
	}
	abandon() // as if the engine had been killed
	<-untouched
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("a cancelled creation left %v", left)
	}
}

func TestAbandonedOperationsEnd(t *testing.T) {
	t.Parallel()
	said := make(lines, 100)
	clouds := start(t, simulate.Options{
		Slow: []simulate.Delay{delay(t, networkType+"=1h")},
		Log:  slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	e := connect(t, clouds, "fake", nil)
	ctx, abandon := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer abandon()
	if _, _, err := e.tryCreate(ctx, networkType, "n", resource.PropertyMap{"range": resource.NewStringProperty("r")}); err == nil {
		t.Fatal("a creation of one hour has ended")
	}
	if line := <-said; !strings.Contains(line, "error=cancelled") {
		t.Errorf("the server says %q, want that the operation is cancelled", line)
	}
}

// lines receives what is logged.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestCloseEndsWhatRuns(t *testing.T) {
	t.Parallel()
	clouds := start(t, simulate.Options{Slow: []simulate.Delay{delay(t, networkType+"=1h")}})
	e := connect(t, clouds, "fake", nil)
	done := make(chan error)
	go func() {
		_, _, err := e.tryCreate(t.Context(), networkType, "n", resource.PropertyMap{"range": resource.NewStringProperty("r")})
		done <- err
	}()
	if err := clouds.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a creation succeeded after the clouds had closed")
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clouds := start(t, simulate.Options{Dir: dir, Speed: 1000})
	var operations sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		e := connect(t, clouds, "fake", nil)
		operations.Go(func() {
			id, _ := e.create(networkType, name, map[string]any{"range": "r"})
			m, _ := e.create(machineType, name, with(onNetwork(id), "label", name))
			if err := e.delete(machineType, name, m, onNetwork(id)); err != nil {
				t.Error(err)
			}
			if err := e.delete(networkType, name, id, nil); err != nil {
				t.Error(err)
			}
		})
	}
	operations.Wait()
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAttachment(t *testing.T) {
	t.Parallel()
	first, second := start(t, simulate.Options{}), start(t, simulate.Options{})
	env := first.Env()
	if env["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] != "true" || env["PULUMI_IGNORE_AMBIENT_PLUGINS"] != "true" {
		t.Errorf("the environment %v lets real providers in", env)
	}
	if env["PULUMI_DEBUG_PROVIDERS"] == second.Env()["PULUMI_DEBUG_PROVIDERS"] {
		t.Error("two clouds share their ports")
	}
	e := connect(t, first, "fake", nil)
	if _, err := e.Attach(t.Context(), &pulumirpc.PluginAttach{Address: "127.0.0.1:1"}); err != nil {
		t.Error(err)
	}
	info, err := e.GetPluginInfo(t.Context(), &emptypb.Empty{})
	if err != nil || info.GetVersion() != "1.2.3" {
		t.Errorf("got the version %v, %v", info, err)
	}
	unknown, err := simulate.Start(t.Context(), []simulate.Package{{Name: "mystery"}}, simulate.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unknown.Close() }()
	if info, err = connect(t, unknown, "mystery", nil).GetPluginInfo(t.Context(), &emptypb.Empty{}); err != nil || info.GetVersion() != "99999.0.0" {
		t.Errorf("a package without a schema has the version %v, %v", info, err)
	}
	shaken, err := e.Handshake(t.Context(), &pulumirpc.ProviderHandshakeRequest{})
	if err != nil || !shaken.GetAcceptSecrets() {
		t.Errorf("got %v, %v", shaken, err)
	}
}

func delay(t *testing.T, s string) simulate.Delay {
	t.Helper()
	d, err := simulate.ParseDelay(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
