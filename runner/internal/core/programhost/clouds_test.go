package programhost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
)

// askAWS returns a client of AWS whose host a script plays.
func askAWS(t *testing.T, body string) cloud.Client {
	t.Helper()
	path := fake(t, body)
	clouds := Clouds(func() (string, error) { return path, nil }, projects.InfrastructureByName)
	client, err := clouds(t.Context(), "aws", cloud.Access{Env: map[string]string{"AWS_SECRET_ACCESS_KEY": "hush"}, Region: "eu-north-1", Profile: "work"})
	if err != nil || client == nil {
		t.Fatalf("%v, %v", client, err)
	}
	return client
}

// TestClouds: credentials are in the environment and nowhere else.
func TestClouds(t *testing.T) {
	t.Parallel()
	asked := filepath.Join(t.TempDir(), "question")
	client := askAWS(t, `[ "$*" = "--cloud" ] && [ "$AWS_SECRET_ACCESS_KEY" = hush ] || exit 1
cat > `+asked+`
echo '{"account":{"id":"1","name":"me","clock_ahead":1000},"choices":[{"value":"a","note":"b"}]}'`)
	who, err := client.Account(t.Context())
	if diff := cmp.Diff(cloud.Account{ID: "1", Name: "me", ClockAhead: 1000}, who); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	choices, err := client.Choices(t.Context(), model.Zones)
	if diff := cmp.Diff([]cloud.Choice{{Value: "a", Note: "b"}}, choices); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	question, err := os.ReadFile(asked)
	want := `{"provider":"aws","region":"eu-north-1","profile":"work","list":"availability zones"}`
	if strings.TrimSpace(string(question)) != want || err != nil {
		t.Errorf("asked %s, %v; want %s", question, err, want)
	}
}

func TestCloudsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	cases := []struct {
		name, body string
		ctx        context.Context
		want       string
	}{
		{"says why", `echo '{"error":{"text":"AWS refuses","next":"log in"}}'`, t.Context(), "AWS refuses"},
		{"too late", `sleep 60`, late, "did not answer in time"},
		{"cancelled", `sleep 60`, cancelled, "context canceled"},
		{"dies", `echo "panic: oh" >&2; exit 2`, t.Context(), "exit status 2 (panic: oh)"},
		{"of another build", `echo "flag provided but not defined"`, t.Context(), "invalid character"},
	}
	for _, c := range cases {
		_, err := askAWS(t, c.body).Account(c.ctx)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		var explained *cloud.Error
		if c.name == "says why" && (!errors.As(err, &explained) || explained.Next != "log in") {
			t.Errorf("got %#v", err)
		}
	}
}

func TestNoCloudToAsk(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"kind", "other"} {
		if client, err := Clouds(nil, projects.InfrastructureByName)(t.Context(), provider, cloud.Access{}); client != nil || err != nil {
			t.Errorf("%s: %v, %v", provider, client, err)
		}
	}
	missing := errors.New("there is no host")
	client, err := Clouds(func() (string, error) { return "", missing }, projects.InfrastructureByName)(t.Context(), "linode", cloud.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Account(t.Context()); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
}
