package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/model/wire"
)

// fakeCloud has one list.
type fakeCloud struct {
	t      *testing.T
	access cloud.Access
}

func (f fakeCloud) Account(ctx context.Context) (cloud.Account, error) {
	if _, ok := ctx.Deadline(); ok {
		<-ctx.Done()
		return cloud.Account{}, cloud.Late("the cloud", ctx.Err())
	}
	return cloud.Account{ID: f.access.Env["ACCOUNT"], Name: f.access.Profile}, nil
}

func (f fakeCloud) Choices(_ context.Context, list model.List) ([]cloud.Choice, error) {
	if list != model.Zones {
		return nil, errors.New("there is no such list")
	}
	return []cloud.Choice{{Value: f.access.Region + "a"}}, nil
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	clouds := map[string]cloud.Connect{"fake": func(_ context.Context, access cloud.Access) (cloud.Client, error) {
		return fakeCloud{t, access}, nil
	}}
	cases := []struct {
		name string
		in   wire.Question
		want wire.Answer
	}{
		{"account", wire.Question{Provider: "fake", Profile: "work"}, wire.Answer{Account: cloud.Account{ID: "1", Name: "work"}}},
		{"choices", wire.Question{Provider: "fake", Region: "r", List: model.Zones}, wire.Answer{Choices: []cloud.Choice{{Value: "ra"}}}},
		{"too late", wire.Question{Provider: "fake", Until: time.Now()}, wire.Answer{Error: &cloud.Error{
			Text: "the cloud did not answer in time", Next: "check the network and its proxy", Unsure: true, Unreachable: true}}},
		{"no such list", wire.Question{Provider: "fake", List: "x"}, wire.Answer{Error: &cloud.Error{Text: "there is no such list", Unsure: true}}},
		{"no cloud", wire.Question{Provider: "kind"}, wire.Answer{Error: &cloud.Error{Text: "kind has no cloud that could be asked", Unsure: true}}},
	}
	for _, c := range cases {
		question, err := json.Marshal(c.in)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		var got wire.Answer
		err = errors.Join(answer(t.Context(), clouds, []string{"ACCOUNT=1"}, bytes.NewReader(question), &out), json.Unmarshal(out.Bytes(), &got))
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v: %s", c.name, err, diff)
		}
	}
	if err := answer(t.Context(), clouds, nil, strings.NewReader("no JSON"), &bytes.Buffer{}); err == nil {
		t.Error("no JSON: no error")
	}
}
