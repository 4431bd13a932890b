package wizard_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers"
	"mara/runner/internal/feature/firstrun/wizard"
	"mara/runner/internal/machine/prompt"
)

// script answers questions by their text, and fails the test on one that it does
// not know. "" takes the default.
type script struct {
	t       *testing.T
	answers map[string]string
	asked   []string // text, default and options of each
}

func (s *script) answer(q prompt.Question, options []prompt.Option) (string, error) {
	s.t.Helper()
	line := fmt.Sprintf("%s (%s)", q.Text, q.Default)
	for _, option := range options {
		line += " " + option.Value
	}
	s.asked = append(s.asked, line)
	answer, ok := s.answers[q.Text]
	if !ok {
		s.t.Errorf("unexpected question %q", q.Text)
		return "", errors.New("unexpected question")
	}
	delete(s.answers, q.Text)
	if answer == "" {
		answer = q.Default
	}
	if len(options) > 0 {
		return answer, nil
	}
	return answer, q.Check(answer)
}

func (s *script) Ask(_ context.Context, q prompt.Question) (string, error) { return s.answer(q, nil) }

func (s *script) Choose(_ context.Context, c prompt.Choice) (string, error) {
	return s.answer(c.Question, c.Options)
}

func (s *script) ChooseMany(_ context.Context, c prompt.Choice) ([]string, error) {
	c.Default = strings.Join(c.Chosen, ",")
	answer, err := s.answer(c.Question, c.Options)
	return strings.Split(answer, ","), err
}

// fakeCloud has these lists, and wants to be asked for them in these regions.
type fakeCloud struct {
	lists  map[model.List][]cloud.Choice
	errors map[model.List]error
	err    error
	region string
	asked  *[]string
}

func (c fakeCloud) Account(context.Context) (cloud.Account, error) {
	return cloud.Account{ID: "1234", Name: "ann"}, c.err
}

func (c fakeCloud) Choices(_ context.Context, list model.List) ([]cloud.Choice, error) {
	*c.asked = append(*c.asked, string(list)+" in "+c.region)
	return c.lists[list], cmp.Or(c.errors[list], c.err)
}

func offered() map[model.List][]cloud.Choice {
	return map[model.List][]cloud.Choice{
		model.Regions:            {{Value: "eu-north-1"}, {Value: "us-east-1"}},
		model.Zones:              {{Value: "a"}, {Value: "b"}, {Value: "c"}, {Value: "d"}},
		model.KubernetesVersions: {{Value: "1.36"}, {Value: "1.35"}},
		model.NodeTypes:          {{Value: "t3.large"}},
	}
}

// complete runs a wizard and returns its changes, its questions and its output.
func complete(
	t *testing.T, provider, content string, answers map[string]string, fake fakeCloud, environ ...string,
) (changes []string, asked []string, printed string, err error) {
	t.Helper()
	p, err := providers.ByName(provider)
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.ParseStack("f", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &script{t: t, answers: answers}
	w := wizard.Wizard{
		First: !strings.Contains(content, "certmgr"), Asker: s, Out: &out, Sources: config.Sources{Process: environ},
		Clouds: func(_ context.Context, _ string, access cloud.Access) (cloud.Client, error) {
			fake.region = access.Region
			return fake, nil
		},
	}
	got, err := w.Begin(p, file).Complete(t.Context())
	for _, change := range got {
		changes = append(changes, fmt.Sprintf("%s=%s %T", change.Key, config.Show(change.Value), change.Value))
	}
	for text := range s.answers {
		if err == nil {
			t.Errorf("%q was not asked", text)
		}
	}
	return changes, s.asked, out.String(), err
}

// TestAWS: zones come after the region, numbers fit one another, the account is
// shown once.
func TestAWS(t *testing.T) {
	t.Parallel()
	var asked []string
	changes, questions, printed, err := complete(t, "aws", "config:\n  kubernetes:infra_type: aws\n", map[string]string{
		"AWS profile (empty: none)": "", "AWS region": "eu-north-1", "Availability zones": "", "Kubernetes version": "1.35",
		"Type of the nodes": "", "Smallest number of nodes": "7", "Largest number of nodes": "", "Number of nodes to begin with": "",
		"Where certificates come from": "acme", "Address that the certificate authority writes to (such as ops@example.com)": "ann@example.com",
	}, fakeCloud{lists: offered(), asked: &asked})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{
		"aws:region=eu-north-1 string", "vpc:azs=[a, b, c] []interface {}", "eks:k8s_version=1.35 string", "eks:instance_type=t3.large string",
		"eks:min_size=7 int", "eks:max_size=7 int", "eks:desired_capacity=7 int", "certmgr:issuer=acme string", "certmgr:acme_email=ann@example.com string",
	}, changes); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]string{
		"AWS profile (empty: none) ()", "AWS region (us-east-1) eu-north-1 us-east-1", "Availability zones (a,b,c) a b c d", "Kubernetes version (1.36) 1.36 1.35",
		"Type of the nodes (t3.large) t3.large", "Smallest number of nodes (3)", "Largest number of nodes (7)", "Number of nodes to begin with (7)",
		"Where certificates come from (self-signed) self-signed acme", "Address that the certificate authority writes to (such as ops@example.com) ()",
	}, questions); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]string{"regions in ", "availability zones in eu-north-1", "Kubernetes versions in eu-north-1", "node types in eu-north-1"}, asked); diff != "" {
		t.Error(diff)
	}
	if printed != "Amazon Web Services: account 1234 as ann\n" {
		t.Errorf("printed %q", printed)
	}
}

// TestBack: < opens the last question again, with the answer that it had, and at the first one it leads out.
func TestBack(t *testing.T) {
	t.Parallel()
	p, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.ParseStack("f", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &series{answers: []string{"2", "8080", "<", "<", "3", "", "8443", ""}}
	i := wizard.Wizard{Asker: s, Out: &bytes.Buffer{}, First: true}.Begin(p, file)
	changes, err := i.Complete(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Number of worker nodes (0)", "Port of this machine for HTTP (80) <", "Port of this machine for HTTPS (443) <",
		"Port of this machine for HTTP (8080) <", "Number of worker nodes (2)", "Port of this machine for HTTP (8080) <",
		"Port of this machine for HTTPS (443) <", "Port of this machine for the registry (5001) <",
	}
	if diff := gocmp.Diff(want, s.asked); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, change := range changes {
		got = append(got, fmt.Sprintf("%s=%s", change.Key, config.Show(change.Value)))
	}
	if diff := gocmp.Diff([]string{"kind:workers=3", "kind:http_port=8080", "kind:https_port=8443", "kind:registry_port=5001"}, got); diff != "" {
		t.Error(diff)
	}
	if !i.TakeBack() || !i.Asked() { // as from the confirmation after the questions
		t.Error("the last question cannot be asked again")
	}
	s.answers = []string{"<", "<", "<", "<"}
	if _, err := i.Complete(t.Context()); !errors.Is(err, prompt.ErrBack) {
		t.Errorf("before the first question: %v", err)
	}
}

// series answers questions one after the other.
type series struct {
	answers, asked []string
}

func (s *series) Ask(_ context.Context, q prompt.Question) (string, error) {
	line := fmt.Sprintf("%s (%s)", q.Text, q.Default)
	if q.Back {
		line += " <"
	}
	s.asked = append(s.asked, line)
	answer := s.answers[0]
	if s.answers = s.answers[1:]; answer == prompt.Back {
		return "", prompt.ErrBack
	}
	return cmp.Or(answer, q.Default), nil
}

func (s *series) Choose(context.Context, prompt.Choice) (string, error) {
	return "", errors.New("unexpected choice")
}

func (s *series) ChooseMany(context.Context, prompt.Choice) ([]string, error) {
	return nil, errors.New("unexpected choice")
}

// TestRefusedCredentials: an operation ends before the other questions, others only warn.
func TestRefusedCredentials(t *testing.T) {
	t.Parallel()
	p, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	for _, strict := range []bool{true, false} {
		refused := &cloud.Error{Text: "Linode refuses the token", Next: "set LINODE_TOKEN"}
		asked, printed := []string{}, &bytes.Buffer{}
		s := &checker{}
		w := wizard.Wizard{
			Asker: s, Out: printed, First: true, Strict: strict,
			Clouds: func(context.Context, string, cloud.Access) (cloud.Client, error) {
				return fakeCloud{err: refused, asked: &asked}, nil
			},
		}
		_, err := w.Begin(p, config.StackFile{}).Complete(t.Context())
		if strict && (!errors.Is(err, refused) || printed.Len() > 0) {
			t.Errorf("an operation: %v, printed %q", err, printed)
		}
		if !strict && (errors.Is(err, refused) || !strings.HasPrefix(printed.String(), "warning: Linode refuses the token")) {
			t.Errorf("others: %v, printed %q", err, printed)
		}
	}
}

// TestWithoutCloud: the questions are for free text, the reason is printed once, and
// the cloud is not asked again.
func TestWithoutCloud(t *testing.T) {
	t.Parallel()
	var asked []string
	changes, questions, printed, err := complete(t, "linode", "", map[string]string{
		"Linode region": "", "Kubernetes version": "1.35", "Type of the nodes": "", "Number of nodes": "",
		"Highly available control plane (costs extra, cannot be turned off later)": "", "Type of the registry's machine": "",
		"Address for warnings about the registry's certificate (empty: none)": "", "Where certificates come from": "",
	}, fakeCloud{err: &cloud.Error{Text: "there is no network", Next: "find one", Unreachable: true}, asked: &asked})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 0 || questions[0] != "Linode region (us-ord)" || changes[1] != "lke:k8s_version=1.35 string" {
		t.Errorf("asked %q, questions %q, changes %q", asked, questions, changes)
	}
	if printed != "warning: there is no network; there is no list to choose from\nhint: find one\n" {
		t.Errorf("printed %q", printed)
	}
}

// TestListsThatFail: a list that is empty, or that fails, does not keep the other ones from being asked for.
func TestListsThatFail(t *testing.T) {
	t.Parallel()
	var asked []string
	empty := &cloud.Error{Text: "the list of regions is empty", Unsure: true}
	failed := &cloud.Error{Text: "Linode failed: Internal Server Error (500)", Unsure: true}
	_, questions, printed, err := complete(t, "linode", "", map[string]string{
		"Linode region": "", "Kubernetes version": "1.35", "Type of the nodes": "", "Number of nodes": "",
		"Highly available control plane (costs extra, cannot be turned off later)": "", "Type of the registry's machine": "",
		"Address for warnings about the registry's certificate (empty: none)": "", "Where certificates come from": "",
	}, fakeCloud{lists: offered(), asked: &asked, errors: map[model.List]error{model.Regions: empty, model.NodeTypes: failed}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{"regions in ", "Kubernetes versions in ", "node types in ", "node types in "}, asked); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(questions[1], "1.36 1.35") {
		t.Errorf("questions %q", questions)
	}
	const want = "Linode: account 1234 as ann\nwarning: the list of regions is empty; there is no list to choose from\n" +
		"warning: Linode failed: Internal Server Error (500); there is no list to choose from\n"
	if printed != want {
		t.Errorf("printed %q", printed)
	}
}

// TestOnlyWhatIsMissing of a configuration that there is.
func TestOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	const existing = "config:\n  kubernetes:infra_type: aws\n  certmgr:issuer: acme\n"
	var asked []string
	changes, questions, _, err := complete(t, "aws", existing, map[string]string{
		"AWS region": "us-east-1", "Address that the certificate authority writes to (such as ops@example.com)": "ann@example.com",
	}, fakeCloud{lists: offered(), asked: &asked})
	if err != nil || len(questions) != 2 {
		t.Errorf("%v: asked %q", err, questions)
	}
	if diff := gocmp.Diff([]string{"aws:region=us-east-1 string", "certmgr:acme_email=ann@example.com string"}, changes); diff != "" {
		t.Error(diff)
	}
	changes, _, _, err = complete(t, "aws", existing+"  certmgr:acme_email: ann@example.com\n", nil, fakeCloud{}, "AWS_REGION=us-east-1")
	if err != nil || changes != nil {
		t.Errorf("%v: changed %q", err, changes)
	}
}

// TestWrongAnswers: they are rejected at once.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"many": "must be a whole number", "0": "smallest allowed value is 1", "": "an answer is needed",
	} {
		q := model.Question{Key: "eks:min_size"}
		p, _ := providers.ByName("aws")
		p.Questions = []model.Question{q}
		err := check(t, p, answer)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", answer, err)
		}
	}
	p, _ := providers.ByName("linode")
	p.Questions = []model.Question{{Key: "harbor:email"}}
	if err := check(t, p, "ann"); err == nil || !strings.Contains(err.Error(), "not an e-mail address") || check(t, p, "") != nil {
		t.Errorf("an address that is none: %v", err)
	}
	p, _ = providers.ByName("aws")
	p.Questions = []model.Question{{Key: "eks:desired_capacity", AtLeast: "eks:min_size", AtMost: "eks:max_size"}}
	for answer, want := range map[string]string{"2": "may not be less than eks:min_size (3)", "7": "may not be more than eks:max_size (6)"} {
		if err := check(t, p, answer); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// check returns the error of the first question for an answer.
func check(t *testing.T, p model.Provider, answer string) error {
	t.Helper()
	file, err := config.ParseStack("f", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{answer: answer}
	if _, err = (wizard.Wizard{Asker: c, Out: &bytes.Buffer{}, First: true}).Begin(p, file).Complete(t.Context()); !errors.Is(err, errChecked) {
		t.Fatal(err)
	}
	return c.err
}

var errChecked = errors.New("checked")

type checker struct {
	answer string
	err    error
}

func (c *checker) Ask(_ context.Context, q prompt.Question) (string, error) {
	c.err = q.Check(c.answer)
	return "", errChecked
}

func (c *checker) Choose(context.Context, prompt.Choice) (string, error) { return "", nil }

func (c *checker) ChooseMany(context.Context, prompt.Choice) ([]string, error) { return nil, nil }

// TestInterruptedWhileTheCloudIsAsked: that is the end of the questions, not a
// reason to ask for free text.
func TestInterruptedWhileTheCloudIsAsked(t *testing.T) {
	t.Parallel()
	p, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	var printed bytes.Buffer
	w := wizard.Wizard{
		First: true, Asker: &script{t: t}, Out: &printed,
		Clouds: func(context.Context, string, cloud.Access) (cloud.Client, error) {
			cancel(stopped)
			return nil, errors.New("no answer")
		},
	}
	if changes, err := w.Begin(p, config.StackFile{}).Complete(ctx); !errors.Is(err, stopped) || changes != nil || printed.Len() > 0 {
		t.Errorf("got %v, %v; printed %q", changes, err, &printed)
	}
}
