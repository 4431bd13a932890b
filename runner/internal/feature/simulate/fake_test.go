package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/runner/internal/feature/simulate"
)

// What follows is a cloud in miniature: a network that others live in, a
// machine that has everything else, and a namespaced thing on a cluster.

const fakeSchema = `{
  "name": "fake", "version": "1.2.3",
  "provider": {"inputProperties": {
    "region": {"type": "string"}, "retries": {"type": "integer"}, "zones": {"type": "array", "items": {"type": "string"}}
  }},
  "types": {
    "fake:index:disk": {
      "type": "object", "required": ["size"],
      "properties": {"size": {"type": "integer"}, "kind": {"type": "string"}, "deviceId": {"type": "string"}}
    },
    "fake:index:color": {"type": "string", "enum": [{"value": "red"}, {"value": "green"}]}
  },
  "resources": {
    "fake:net/network:Network": {
      "inputProperties": {"range": {"type": "string"}, "tags": {"type": "object", "additionalProperties": {"type": "string"}}},
      "requiredInputs": ["range"],
      "properties": {
        "arn": {"type": "string"}, "range": {"type": "string"}, "tags": {"type": "object", "additionalProperties": {"type": "string"}}
      },
      "required": ["arn", "range"]
    },
    "fake:index:Machine": {
      "inputProperties": {
        "network": {"type": "string"}, "label": {"type": "string"}, "root": {"$ref": "#/types/fake:index:disk"},
        "extra": {"type": "array", "items": {"$ref": "#/types/fake:index:disk"}},
        "ratio": {"type": "number"}, "running": {"type": "boolean"}, "password": {"type": "string"},
        "values": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
        "script": {"$ref": "pulumi.json#/Asset"},
        "color": {"$ref": "#/types/fake:index:color"}, "kind": {"type": "string", "const": "machine"},
        "either": {"oneOf": [{"type": "string"}, {"$ref": "#/types/fake:index:disk"}]}
      },
      "requiredInputs": ["network", "root"],
      "properties": {
        "arn": {"type": "string"}, "address": {"type": "string"}, "cores": {"type": "integer"}, "note": {"type": "string"},
        "network": {"type": "string"}, "label": {"type": "string"}, "root": {"$ref": "#/types/fake:index:disk"},
        "extra": {"type": "array", "items": {"$ref": "#/types/fake:index:disk"}}, "running": {"type": "boolean"},
        "password": {"type": "string"}, "token": {"type": "string", "secret": true},
        "values": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}}
      },
      "required": ["arn", "address", "cores", "network", "root", "token"]
    },
    "fake:index:Plain": {
      "inputProperties": {
        "name": {"type": "string", "willReplaceOnChanges": true}, "size": {"type": "string"},
        "disks": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}}
      },
      "properties": {
        "name": {"type": "string"}, "size": {"type": "integer"}, "password": {"type": "string", "secret": true},
        "color": {"$ref": "#/types/fake:index:color"}, "disks": {"type": "array", "items": {"$ref": "#/types/fake:index:disk"}}
      },
      "required": ["name", "size", "password", "color"]
    }
  },
  "functions": {
    "fake:index:getZones": {
      "inputs": {"properties": {"state": {"type": "string"}}, "required": ["state"]},
      "outputs": {
        "properties": {"id": {"type": "string"}, "state": {"type": "string"}, "names": {"type": "array", "items": {"type": "string"}}},
        "required": ["id", "state"]
      }
    },
    "fake:index:getPlain": {
      "outputs": {"properties": {"id": {"type": "string"}, "key": {"type": "string", "secret": true}}, "required": ["id", "key"]}
    }
  }
}`

const clusterSchema = `{
  "name": "cluster", "version": "4.5.6",
  "provider": {"inputProperties": {"server": {"type": "string"}, "forget": {"type": "boolean"}, "identity": {"type": "string"}}},
  "types": {
    "cluster:v1:meta": {"type": "object", "properties": {"name": {"type": "string"}, "group": {"type": "string"}}}
  },
  "resources": {
    "cluster:v1:Thing": {
      "inputProperties": {"metadata": {"$ref": "#/types/cluster:v1:meta"}},
      "properties": {"metadata": {"$ref": "#/types/cluster:v1:meta"}}, "required": ["metadata"]
    },
    "cluster:v1:Group": {
      "inputProperties": {"metadata": {"$ref": "#/types/cluster:v1:meta"}},
      "properties": {"metadata": {"$ref": "#/types/cluster:v1:meta"}}, "required": ["metadata"]
    }
  }
}`

const (
	networkType = "fake:net/network:Network"
	machineType = "fake:index:Machine"
	thingType   = "cluster:v1:Thing"
	groupType   = "cluster:v1:Group"
	zonesToken  = "fake:index:getZones"
	plainType   = "fake:index:Plain"
)

func fakePackages() []simulate.Package {
	return []simulate.Package{fakeCloud(), fakeCluster()}
}

func fakeCloud() simulate.Package {
	return simulate.Package{
		Name: "fake", Schemas: [][]byte{[]byte(fakeSchema)},
		Words: map[string][]simulate.Words{
			"quota": {
				{Types: "fake:net/*", Text: "too many networks, {name} ({type}) in {region}"}, {Text: "too many of type {type}"},
			},
			"deletion-blocked": {{Types: "fake:net/*", Text: "{id} is in use"}},
			"not-yet-visible":  {{Types: "fake:*", Text: "not found"}},
			"not-ready":        {{Types: "fake:*", Text: "not ready"}},
		},
		Defaults: func(o simulate.Object) map[string]any {
			return map[string]any{"arn": "arn:fake:" + o.Config("region", "nowhere") + ":" + o.ID, "nosuch": "x"}
		},
		Resources: []simulate.Resource{
			{
				Token:     networkType,
				Latency:   simulate.Latency{Create: time.Second, Delete: time.Second},
				ID:        func(o simulate.Object) string { return "net-" + o.Hex("id", 8) },
				ReplaceOn: []string{"range"},
				Links: func(o simulate.Object) simulate.Links {
					return simulate.Links{Provides: []simulate.Fact{{Name: "network/" + o.ID, InUse: "the network has machines"}}}
				},
			},
			fakeMachine(),
		},
		Invokes: []simulate.Invoke{{
			Token: zonesToken,
			Answer: func(o simulate.Object) (map[string]any, error) {
				if o.Text("state") == "broken" {
					return nil, errors.New("the zones are broken")
				}
				return map[string]any{"names": []any{"a", "b"}}, nil
			},
		}},
	}
}

func fakeMachine() simulate.Resource {
	return simulate.Resource{
		Token:     machineType,
		ID:        func(o simulate.Object) string { return o.TextOr("label", o.Name()) },
		ReplaceOn: []string{"label", "root.kind"},
		AutoName:  "label",
		Check: func(o simulate.Object) []simulate.Problem {
			if o.Number("root.size", 1) < 1 {
				return []simulate.Problem{{Path: "root.size", Reason: "must be at least 1"}}
			}
			return nil
		},
		Outputs: func(o simulate.Object) map[string]any {
			return map[string]any{
				"address": o.IPv4("address"),
				"root":    map[string]any{"deviceId": "sd" + o.Hex("device", 2)},
			}
		},
		Links: func(o simulate.Object) simulate.Links {
			fact := "network/" + o.Text("network")
			return simulate.Links{
				Provides: []simulate.Fact{{Name: "server/" + o.ID}},
				Requires: []simulate.Requirement{{Fact: fact, Missing: fmt.Sprintf("network %q not found", o.Text("network"))}},
			}
		},
	}
}

func fakeCluster() simulate.Package {
	group := thingResource(groupType)
	group.Links = func(o simulate.Object) simulate.Links {
		return simulate.Links{Provides: []simulate.Fact{
			{Name: o.Scope + "/group/" + o.Text("metadata.name")},
			{Name: o.Scope + "/implied/" + o.Text("metadata.name") + "/implied"},
		}}
	}
	return simulate.Package{
		Name: "cluster", Schemas: [][]byte{[]byte(clusterSchema)},
		Resources: []simulate.Resource{group, thingResource(thingType)},
		Dynamic: func(token string) (simulate.Resource, bool) {
			custom := thingResource(token)
			custom.Like = thingType
			return custom, strings.HasPrefix(token, "cluster:example.com/")
		},
		Scope: func(config map[string]any, _ func(string) []string) (simulate.Scope, error) {
			server, _ := config["server"].(string)
			if server == "" {
				return simulate.Scope{}, errors.New("no server given")
			}
			forget, _ := config["forget"].(bool)
			identity, _ := config["identity"].(string)
			return simulate.Scope{
				Name: server, Identity: identity, Needs: "server/" + server, Unreachable: "cluster unreachable: " + server, Forgiving: forget,
			}, nil
		},
	}
}

func thingResource(token string) simulate.Resource {
	return simulate.Resource{
		Token:    token,
		AutoName: "metadata.name",
		Implied:  func(o simulate.Object) string { return o.Scope + "/implied/" + o.ID },
		ID: func(o simulate.Object) string {
			return o.TextOr("metadata.group", "default") + "/" + o.Text("metadata.name")
		},
		Links: func(o simulate.Object) simulate.Links {
			group := o.Text("metadata.group")
			if group == "" {
				return simulate.Links{}
			}
			return simulate.Links{Requires: []simulate.Requirement{{
				Fact: o.Scope + "/group/" + group, Missing: fmt.Sprintf("groups %q not found", group),
			}}}
		},
	}
}

// engine is the engine's side of a connection.
type engine struct {
	pulumirpc.ResourceProviderClient
	t *testing.T
}

func start(t *testing.T, opts simulate.Options) *simulate.Clouds {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	clouds, err := simulate.Start(t.Context(), fakePackages(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := clouds.Close(); err != nil {
			t.Error(err)
		}
	})
	return clouds
}

// connect dials the provider of a package and configures it.
func connect(t *testing.T, clouds *simulate.Clouds, pkg string, config map[string]any) engine {
	t.Helper()
	conn, err := grpc.NewClient("127.0.0.1:"+port(t, clouds, pkg), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	e := engine{pulumirpc.NewResourceProviderClient(conn), t}
	if _, err := e.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: e.pack(config)}); err != nil {
		t.Fatal(err)
	}
	return e
}

func port(t *testing.T, clouds *simulate.Clouds, pkg string) string {
	t.Helper()
	for attached := range strings.SplitSeq(clouds.Env()["PULUMI_DEBUG_PROVIDERS"], ",") {
		if name, port, _ := strings.Cut(attached, ":"); name == pkg {
			return port
		}
	}
	t.Fatalf("%s is not served", pkg)
	return ""
}

func (e engine) pack(values map[string]any) *structpb.Struct {
	return e.packMap(resource.NewPropertyMapFromMap(values))
}

func (e engine) packMap(m resource.PropertyMap) *structpb.Struct {
	e.t.Helper()
	packed, err := plugin.MarshalProperties(m, plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true})
	if err != nil {
		e.t.Fatal(err)
	}
	return packed
}

func (e engine) unpack(s *structpb.Struct) resource.PropertyMap {
	e.t.Helper()
	m, err := plugin.UnmarshalProperties(s, plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true})
	if err != nil {
		e.t.Fatal(err)
	}
	return m
}

func urn(token, name string) string {
	return "urn:pulumi:dev::project::" + token + "::" + name
}

// create makes a resource that must succeed.
func (e engine) create(token, name string, inputs map[string]any) (string, resource.PropertyMap) {
	e.t.Helper()
	id, outputs, err := e.tryCreate(e.t.Context(), token, name, resource.NewPropertyMapFromMap(inputs))
	if err != nil {
		e.t.Fatalf("creating %s: %v", name, err)
	}
	return id, outputs
}

func (e engine) tryCreate(ctx context.Context, token, name string, inputs resource.PropertyMap) (string, resource.PropertyMap, error) {
	e.t.Helper()
	resp, err := e.Create(ctx, &pulumirpc.CreateRequest{Urn: urn(token, name), Properties: e.packMap(inputs)})
	return resp.GetId(), e.unpack(resp.GetProperties()), err
}

func (e engine) preview(token, name string, inputs resource.PropertyMap) resource.PropertyMap {
	e.t.Helper()
	resp, err := e.Create(e.t.Context(), &pulumirpc.CreateRequest{Urn: urn(token, name), Properties: e.packMap(inputs), Preview: true})
	if err != nil {
		e.t.Fatal(err)
	}
	return e.unpack(resp.GetProperties())
}

func (e engine) exists(token, name, id string) bool {
	e.t.Helper()
	resp, err := e.Read(e.t.Context(), &pulumirpc.ReadRequest{Urn: urn(token, name), Id: id, Properties: e.pack(map[string]any{"a": 1})})
	if err != nil {
		e.t.Fatal(err)
	}
	return resp.GetId() != ""
}

func (e engine) delete(token, name, id string, inputs map[string]any) error {
	_, err := e.Delete(e.t.Context(), &pulumirpc.DeleteRequest{Urn: urn(token, name), Id: id, OldInputs: e.pack(inputs)})
	return err
}

func (e engine) check(token string, inputs resource.PropertyMap) *pulumirpc.CheckResponse {
	e.t.Helper()
	resp, err := e.Check(e.t.Context(), &pulumirpc.CheckRequest{Urn: urn(token, "x"), News: e.packMap(inputs)})
	if err != nil {
		e.t.Fatal(err)
	}
	return resp
}

func onNetwork(id string) map[string]any {
	return map[string]any{"network": id, "label": "web", "root": map[string]any{"size": 8}}
}

// files lists what a store holds.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		info, _ := entry.Info()
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = info.ModTime().String() + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func writeFile(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
