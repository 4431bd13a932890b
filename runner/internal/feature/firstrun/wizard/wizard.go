// Package wizard asks the user for missing configuration: the questions of a
// provider, in order, with choices from its cloud. It writes nothing, and returns the
// changes to make.
package wizard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/machine/prompt"
)

// Asker asks the user.
type Asker interface {
	Ask(ctx context.Context, q prompt.Question) (string, error)
	Choose(ctx context.Context, c prompt.Choice) (string, error)
	ChooseMany(ctx context.Context, c prompt.Choice) ([]string, error)
}

// Wizard asks for missing configuration.
type Wizard struct {
	Asker   Asker
	Clouds  cloud.Clients
	Env     map[string]string // for the clouds
	Sources config.Sources    // of environment variables
	Out     io.Writer         // for messages between the questions
	First   bool              // nothing is configured or deployed yet: ask every question
	// Strict ends the questions with an error if the cloud refuses the credentials.
	Strict bool
	Back   bool // the question before the first one can be asked again
}

// Interview is a Wizard at work on one file.
type Interview struct {
	Wizard
	provider model.Provider
	file     config.StackFile
	given    []config.Change
	answers  map[string]any
	changes  []config.Change
	asked    []string          // the keys, in order
	earlier  map[string]string // answers that were taken back
	cloud    source
}

// Begin prepares the questions about a stack file. They are not about values that are given for this run.
func (w Wizard) Begin(p model.Provider, file config.StackFile, given ...config.Change) *Interview {
	i := &Interview{
		Wizard: w, provider: p, file: file, given: given, answers: map[string]any{}, earlier: map[string]string{},
	}
	for _, change := range given {
		i.answers[change.Key] = change.Value
	}
	return i
}

// Complete asks for the required values that the file lacks, and in a first run all questions. Its error is
// prompt.ErrBack where the user wants to return to what was asked before.
func (i *Interview) Complete(ctx context.Context) ([]config.Change, error) {
	for {
		q, ok := i.next()
		if !ok {
			return i.changes, nil
		}
		err := i.ask(ctx, q)
		if errors.Is(err, prompt.ErrBack) && i.TakeBack() {
			continue
		}
		if err != nil {
			return nil, err
		}
	}
}

// TakeBack makes the last question open again. It reports whether there was one.
func (i *Interview) TakeBack() bool {
	last := len(i.asked) - 1
	if last < 0 {
		return false
	}
	key := i.asked[last]
	i.asked = i.asked[:last]
	if answer, ok := i.answers[key]; ok {
		i.earlier[key] = config.Show(answer)
	}
	delete(i.answers, key)
	i.changes = slices.DeleteFunc(i.changes, func(c config.Change) bool { return c.Key == key })
	return true
}

// Asked reports whether a question was asked.
func (i *Interview) Asked() bool { return len(i.asked) > 0 }

// next returns the next question; ok is false if there is none.
func (i *Interview) next() (q model.Question, ok bool) {
	if i.First {
		if q, ok := lists.Find(i.provider.Questions, i.open); ok {
			return q, true
		}
	}
	if missing := i.provider.Missing(i.with(), i.Sources); len(missing) > 0 {
		return i.question(missing[0]), true
	}
	return q, false
}

// open reports whether a question is to be asked.
func (i *Interview) open(q model.Question) bool {
	_, set := i.file.Lookup(q.Key)
	_, answered := i.answers[q.Key]
	return (!set || q.Required) && !answered && !slices.Contains(i.asked, q.Key) && q.When.Met(i.value)
}

// question returns the question for a key; a key without one is asked by its name.
func (i *Interview) question(key config.Key) model.Question {
	q, ok := lists.Find(i.provider.Questions, func(q model.Question) bool { return q.Key == key.Name })
	if !ok {
		q = model.Question{Key: key.Name, Text: key.Name}
	}
	q.Required = true
	return q
}

// value returns the current value of a key: its answer, its value in the file, or its
// default.
func (i *Interview) value(key string) any {
	if answer, ok := i.answers[key]; ok {
		return answer
	}
	return i.provider.Value(i.file, key)
}

// ask asks one question and records the answer; an empty one sets nothing.
func (i *Interview) ask(ctx context.Context, q model.Question) error {
	if err := i.checkAccess(ctx, q); err != nil {
		return err
	}
	key := i.provider.Key(q.Key)
	key.Required = key.Required || q.Required
	answer, err := i.answer(ctx, q, key)
	if err != nil {
		return err
	}
	i.asked = append(i.asked, q.Key)
	if answer == nil {
		return nil
	}
	i.answers[q.Key] = answer
	i.changes = append(i.changes, config.Change{Key: q.Key, Value: answer})
	return nil
}

// answer asks the user and returns the parsed answer, nil for an empty one.
func (i *Interview) answer(ctx context.Context, q model.Question, key config.Key) (any, error) {
	question := prompt.Question{
		Text: q.Text, Help: key.Doc, Default: i.defaultOf(q, key), Back: i.Back || i.Asked(),
		Check: func(answer string) error { return i.check(q, key, answer) },
	}
	options := optionsOf(key)
	if q.List != "" {
		options = i.choices(ctx, q.List)
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	var text string
	var err error
	switch {
	case len(options) > 0 && key.Kind == config.List:
		return i.chooseMany(ctx, question, q, options)
	case len(options) > 0:
		question.Default = cmp.Or(question.Default, key.Example)
		if before := i.earlier[q.Key]; before != "" {
			options = withOptions(options, before)
		}
		text, err = i.Asker.Choose(ctx, prompt.Choice{Question: question, Options: options, Other: q.List != ""})
	default:
		if question.Default == "" && key.Required && key.Example != "" {
			question.Text += " (such as " + key.Example + ")"
		}
		text, err = i.Asker.Ask(ctx, question)
	}
	if err != nil || text == "" {
		return nil, err
	}
	return key.Parse(text)
}

func (i *Interview) chooseMany(ctx context.Context, question prompt.Question, q model.Question,
	options []prompt.Option) (any, error) {
	first := options[:min(q.DefaultCount, len(options))]
	chosen := lists.Map(first, func(o prompt.Option) string { return o.Value })
	if before := i.earlier[q.Key]; before != "" {
		chosen = strings.Split(strings.Trim(before, "[]"), ", ")
		options = withOptions(options, chosen...)
	}
	choice := prompt.Choice{Question: question, Options: options, Chosen: chosen, Other: true}
	values, err := i.Asker.ChooseMany(ctx, choice)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, value := range values {
		list = append(list, value)
	}
	return list, nil
}

// withOptions returns options with these values, too.
func withOptions(options []prompt.Option, values ...string) []prompt.Option {
	for _, value := range values {
		if !slices.ContainsFunc(options, func(o prompt.Option) bool { return o.Value == value }) {
			options = append(options, prompt.Option{Value: value})
		}
	}
	return options
}

func optionsOf(key config.Key) []prompt.Option {
	values := key.Allowed
	if key.Kind == config.Bool {
		values = []string{"false", "true"}
	}
	return withOptions(nil, values...)
}

// defaultOf returns the default answer: the value of a variable, of another key, or
// the default of the key.
func (i *Interview) defaultOf(q model.Question, key config.Key) string {
	if before, ok := i.earlier[q.Key]; ok {
		return before
	}
	if set := key.Set(i.Sources); set.IsSet() {
		return set.Text
	}
	if q.DefaultKey != "" {
		return config.Show(i.value(q.DefaultKey))
	}
	value := key.Default
	if q.AtLeast != "" && q.Fits(value, i.value) != nil {
		value = i.value(q.AtLeast)
	}
	return config.Show(value)
}

func (i *Interview) check(q model.Question, key config.Key, answer string) error {
	if answer == "" {
		if key.Required || key.Default != nil {
			return errors.New("an answer is needed")
		}
		return nil
	}
	value, err := key.Parse(answer)
	if err == nil {
		err = q.Fits(value, i.value)
	}
	if err == nil {
		err = i.judge(key, value)
	}
	return err
}

// judge applies the rules of the provider's projects to an answer. What depends on a question that is still to be asked
// is left to that question.
func (i *Interview) judge(key config.Key, value any) error {
	file := i.with(config.Change{Key: key.Name, Value: value})
	problems, _ := i.provider.Judge(file, "")
	for _, problem := range problems {
		isOpen := slices.ContainsFunc(i.provider.Questions, func(q model.Question) bool {
			_, answered := i.answers[q.Key]
			return q.Key != key.Name && !answered && strings.Contains(problem.Text, q.Key)
		})
		if problem.Key == key.Name && !isOpen {
			return errors.New(problem.Text)
		}
	}
	return nil
}

// with returns the file with what was given and answered, and more changes.
func (i *Interview) with(more ...config.Change) config.StackFile {
	entries := lists.Map(slices.Concat(i.given, i.changes, more), func(c config.Change) config.Entry {
		return config.Entry{Key: c.Key, Value: c.Value}
	})
	file := i.file
	file.Entries = slices.Concat(file.Entries, entries)
	return file
}

func (i *Interview) printf(format string, args ...any) {
	fmt.Fprintln(i.Out, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}

// source is the state of the cloud that choices come from.
type source struct {
	checked bool // its account was asked for
	givenUp bool // it is out of reach, and is not asked again
	warned  string
}

// checkAccess asks the cloud once for the account of the credentials, as soon as the questions that lead to them are
// answered: a user should not answer a dozen questions in vain. It prints the account, so that the user notices a
// wrong one in time.
func (i *Interview) checkAccess(ctx context.Context, q model.Question) error {
	if i.Clouds == nil || i.cloud.checked || i.leadsToCloud(q.Key) || !i.First && q.List == "" {
		return nil
	}
	i.cloud.checked = true
	ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
	defer cancel()
	client, err := i.Clouds(ctx, i.provider.InfraType(), cloud.AccessTo(i.provider, i.Env, i.known))
	if err == nil && client == nil {
		return nil
	}
	var account cloud.Account
	if err == nil {
		defer i.notePatience().Stop()
		account, err = client.Account(ctx)
	}
	if err == nil {
		i.printf("%s: %s", i.provider.Title, account)
		return nil
	}
	if cause := context.Cause(ctx); errors.Is(ctx.Err(), context.Canceled) {
		return cause
	}
	if refused, ok := errors.AsType[*cloud.Error](err); i.Strict && ok && !refused.Unsure {
		return err
	}
	i.giveUp(err)
	i.warn(ctx, err)
	return nil
}

// leadsToCloud reports whether the answer about a key decides with which credentials the cloud is asked.
func (i *Interview) leadsToCloud(key string) bool {
	keys := []string{i.provider.Account.Profile}
	if existing := i.provider.Existing; existing != nil {
		keys = append(keys, existing.Kubeconfig, existing.Context)
	}
	return slices.Contains(keys, key)
}

// notePatience reports a cloud that takes its time.
func (i *Interview) notePatience() *time.Timer {
	return time.AfterFunc(time.Second, func() { i.printf("asking %s ...", i.provider.Title) })
}

// giveUp keeps a cloud that is out of reach from being asked again.
func (i *Interview) giveUp(err error) {
	answered, is := errors.AsType[*cloud.Error](err)
	i.cloud.givenUp = !is || answered.Unreachable
}

// choices lists the options that the cloud offers. If the cloud does not answer, it
// reports why, and the question is for free text.
func (i *Interview) choices(ctx context.Context, list model.List) []prompt.Option {
	if i.Clouds == nil || i.cloud.givenUp {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
	defer cancel()
	client, err := i.Clouds(ctx, i.provider.InfraType(), cloud.AccessTo(i.provider, i.Env, i.known))
	if err != nil || client == nil {
		i.warn(ctx, err)
		return nil
	}
	defer i.notePatience().Stop()
	choices, err := client.Choices(ctx, list)
	if err != nil {
		i.warn(ctx, err)
		i.giveUp(err)
		return nil
	}
	return lists.Map(choices, func(c cloud.Choice) prompt.Option { return prompt.Option{Value: c.Value, Note: c.Note} })
}

// known returns the answer to a key, or its value in the file; "" if it is no string.
func (i *Interview) known(key string) string {
	value, ok := i.answers[key]
	if !ok {
		entry, _ := i.file.Lookup(key)
		value = entry.Value
	}
	text, _ := value.(string)
	return text
}

// warn reports once why a cloud does not answer, and the consequence. It ignores errors after a cancellation by the
// user.
func (i *Interview) warn(ctx context.Context, err error) {
	if err == nil || i.cloud.warned == err.Error() || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	i.cloud.warned = err.Error()
	i.printf("warning: %s; there is no list to choose from", err)
	var next interface{ NextStep() string }
	if errors.As(err, &next) && next.NextStep() != "" {
		i.printf("hint: %s", next.NextStep())
	}
}
