package query

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFromState: no value that Pulumi or Kubernetes calls a secret is left.
func TestFromState(t *testing.T) {
	t.Parallel()
	const secret = `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"hidden"}`
	const object = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n",` +
		`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hidden","a":"b"}},"data":{"k":"hidden"},"stringData":` + secret + `}`
	state := `{"resources":[
	  {"urn":"urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev","type":"pulumi:pulumi:Stack","outputs":{"k":` + secret + `}},
	  {"urn":"urn:pulumi:dev::p::pulumi:providers:aws::default","type":"pulumi:providers:aws","inputs":{"token":"hidden"}},
	  {"urn":"urn:pulumi:dev::p::aws:rds/instance:Instance::db","type":"aws:rds/instance:Instance","id":"db-1","modified":"2026-11-01T00:00:00Z",
	   "inputs":{"password":` + secret + `,"list":[{"deep":` + secret + `}],"size":12345678901234567890}},
	  {"urn":"urn:pulumi:dev::p::kubernetes:core/v1:Secret::s","type":"kubernetes:core/v1:Secret","inputs":` + object + `,
	   "outputs":` + strings.TrimSuffix(object, "}") + `,"__inputs":` + object + `}}
	]}`
	items, err := FromState(Environment{"dev", "aws"}, "p", []byte(state))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(items)
	if err != nil || len(items) != 2 || strings.Contains(string(text), "hidden") {
		t.Fatalf("%v: %d items: %s", err, len(items), text)
	}
	if inputs, _ := items[1].(map[string]any)["inputs"].(map[string]any); inputs["stringData"] != Secret {
		t.Errorf("a map that is secret as a whole reads %v", inputs["stringData"])
	}
	var d Document
	d.Add(items)
	q, err := Compile(`.items[] | {source, environment, provider, project, type, name, namespace, id, modified, kind: .object.kind, size: .inputs.size, password: .inputs.password}`)
	if err != nil {
		t.Fatal(err)
	}
	results, err := q.Run(t.Context(), d.Value())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(results)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"environment":"dev","id":"db-1","kind":null,"modified":"2026-11-01T00:00:00Z","name":"db","namespace":null,"password":"[secret]",` +
		`"project":"p","provider":"aws","size":12345678901234567890,"source":"state","type":"aws:rds/instance:Instance"},` +
		`{"environment":"dev","id":null,"kind":"Secret","modified":null,"name":"s","namespace":"n","password":null,"project":"p","provider":"aws",` +
		`"size":null,"source":"state","type":"kubernetes:core/v1:Secret"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestFromObject(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n"}}`:                      "kubernetes:core/v1:Pod n/a",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}}`:                          "kubernetes:apps/v1:Deployment <nil>/d",
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"hidden"}}`:             "kubernetes:core/v1:Secret <nil>/s",
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":"hidden","b":1}}`: "kubernetes:core/v1:Secret <nil>/s",
	} {
		item, err := FromObject(Environment{"dev", "kind"}, []byte(object))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(item)
		if err != nil || strings.Contains(string(text), "hidden") {
			t.Errorf("%v: %s", err, text)
		}
		namespace := "<nil>"
		if n, ok := item["namespace"].(string); ok {
			namespace = n
		}
		if got := item["type"].(string) + " " + namespace + "/" + item["name"].(string); got != want || item["source"] != "live" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, err := FromObject(Environment{Stack: "dev"}, []byte("{")); err == nil {
		t.Error("half an object is taken")
	}
}
