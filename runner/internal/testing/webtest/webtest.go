// Package webtest has a root with a fleet for tests of the pages of `runner web`.
package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"path/filepath"
	"testing"
	"time"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/child"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/eventtest"
)

const (
	// Canary is a secret that no page may have.
	Canary = "canary-h8dqq2"
	// Hostile is a text that must be a text on every page.
	Hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&` + "\u202egnp.exe\u200b\x1b[31m"
)

// Root writes a root with a fleet: one environment is broken, one has a state with a secret and hostile names, and
// there are runs. It returns when the last of them began.
func Root(t *testing.T) (root string, at time.Time) {
	t.Helper()
	root = cmdtest.Root(t, nil)
	for name, content := range map[string]string{
		"config/layers/base.yaml": "values:\n  runner: {provider: kind, labels: {stage: prod}}\n" +
			"  pulumiConfig: {\"logstore:storage_size\": 10Gi}\n",
		"config/environments/eu.yaml": "imports: [base]\nvalues: {runner: {labels: {region: eu}}}\n",
		"config/environments/us.yaml": "imports: [base]\nvalues: {runner: {protected: true, labels: {region: us}}, " +
			"pulumiConfig: {\"logstore:storage_size\": 20Gi}}\n",
		"config/environments/broken.yaml": "imports: [nowhere]\n",
		"policies/policies.yaml":          "use: [open-ranges]\n",
		"config/rollout.yaml":             "waves:\n  - {name: all, match: {stage: prod}}\n",
	} {
		cmdtest.WriteFile(t, filepath.Join(root, name), content)
	}
	cmdtest.WriteFile(t, StateFile(root), state(t))
	runs := map[string][]event.Event{"eu": eventtest.Failure(), "us": eventtest.Success()}
	at = cmdtest.Now()
	for _, stack := range []string{"eu", "us"} {
		at = at.Add(time.Minute)
		events := runs[stack]
		events[0].Stack = stack
		if stack == "eu" {
			for i := range events {
				if events[i].Error != "" {
					events[i].Error = Hostile + "\nsecond line"
				}
				if events[i].Message != "" {
					events[i].Message = Hostile
				}
			}
		}
		j, err := journal.Create(journal.Options{Dir: layout.Of(root, false).Runs(), ID: journal.NewID(at),
			Meta: journal.Meta{User: Hostile, Host: "box",
				Environment: journal.Environment{Provider: "kind", Stack: stack}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			e.Time = e.Time.Add(at.Sub(events[0].Time))
			j.Emit(e)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return root, at
}

// StateFile returns the file with the state of the project certmgr of the environment eu.
func StateFile(root string) string {
	return filepath.Join(string(layout.Of(root, false).State()), ".pulumi/stacks/certmgr/eu.json")
}

// state returns a state with a secret and hostile names.
func state(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	secret := object{sig.Key: sig.Secret, "ciphertext": Canary}
	resources := []any{
		object{"urn": "urn:pulumi:eu::certmgr::pulumi:pulumi:Stack::certmgr-eu", "type": "pulumi:pulumi:Stack",
			"outputs": object{"token": secret, "url": "https://shop.example/", "bad": "javascript:alert(1)", "odd": Hostile}},
		object{"urn": "urn:pulumi:eu::certmgr::kubernetes:core/v1:Secret::" + Hostile,
			"type": "kubernetes:core/v1:Secret", "id": "ns/x", "created": "2026-11-20T10:00:00Z", "protect": true,
			"outputs": object{"kind": "Secret", "data": object{"a": Canary}}},
	}
	content, err := json.Marshal(object{"version": 3, "checkpoint": object{"stack": "organization/certmgr/eu",
		"latest": object{"manifest": object{}, "resources": resources}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Site returns the pages' site of a root, an hour after a time, with everything read.
func Site(t *testing.T, root string, at time.Time) page.Site {
	t.Helper()
	reader := NewReader(t, root, at)
	Read(t, reader)
	return page.Site{Reader: reader, Version: "1.2.3", Child: child.New(Answer)}
}

// NewReader returns a reader of a root, an hour after a time.
func NewReader(t *testing.T, root string, at time.Time) *view.Reader {
	t.Helper()
	d, _, _ := cmdtest.Deps(t)
	d.Now = func() time.Time { return at.Add(time.Hour) }
	reader := view.NewReader(d.Deps, session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: config.Sources{}}})
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	return reader
}

// Read reads everything.
func Read(t *testing.T, reader *view.Reader) {
	t.Helper()
	for _, err := range []error{reader.ReadFiles(view.Everything()), reader.Compare(t.Context())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := reader.Look(); err != nil {
		t.Fatal(err)
	}
}

// Answer stands in for the command that answers queries.
func Answer(_ context.Context, args ...string) ([]byte, error) {
	question := args[len(args)-1]
	switch {
	case args[0] == "policy":
		return []byte(`[{"environment":"eu","rule":"r","level":"deny","message":"no","project":"p","type":"t",` +
			`"name":"n"}]`), &child.FailedError{}
	case args[0] == "fleet":
		return []byte(`[{"environment":"us","costs":{"monthly":12.5,"currency":"USD","unpriced":["a:b:C"],"items":[` +
			`{"project":"p","type":"t","name":"<b>n</b>","what":"1 node","monthly":12.5}]}},
			{"environment":"broken","error":"nowhere.yaml is missing"}]`), &child.FailedError{}
	case question == "wrong":
		return nil, errors.New("line 1, column 3: unexpected token")
	case args[2] == "csv":
		return []byte("name,formula\nx,=HYPERLINK(1)\ny,-1\n"), nil
	case question == "part":
		return []byte(`[{"name":"seen"}]`), errors.New("the result is incomplete")
	case question == "lines":
		return []byte(`["` + Canary[:3] + `",2]`), nil
	}
	return []byte(`[{"name":"<b>x</b>","n":2}]`), nil
}
