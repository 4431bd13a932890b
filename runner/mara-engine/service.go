package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate"
	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate/client"
	cmdbackend "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/backend"
	pkgworkspace "github.com/pulumi/pulumi/pkg/v3/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/spf13/cobra"

	"mara/runner/internal/core/pulumicli/wire"
)

// serviceCommand asks Pulumi Cloud, or a server that speaks its protocol, what the commands of Pulumi ask one stack at a
// time, or do not tell. What a command is to do comes by the standard input, because it may be secret.
func serviceCommand() *cobra.Command {
	command := &cobra.Command{Use: "service", Short: "what the runner asks of Pulumi Cloud", Hidden: true}
	command.AddCommand(
		serviceQuestion("read", "read stacks, by their full names", readStacks),
		serviceQuestion("seal", "encrypt values with the key of a stack", sealValues),
		serviceQuestion("unseal", "decrypt values with the key of a stack", unsealValues),
		serviceQuestion("imports", "read the configuration of environments of Pulumi ESC", readImports),
		serviceQuestion("cancel", "cancel an update of a stack", cancelUpdate),
	)
	return command
}

// serviceQuestion makes a command that takes a question and writes an answer, both in JSON.
func serviceQuestion[Question, Answer any](use, short string,
	answer func(context.Context, httpstate.Backend, Question) (Answer, error)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		var question Question
		if err := json.NewDecoder(os.Stdin).Decode(&question); err != nil {
			return fmt.Errorf("reading the question: %w", err)
		}
		b, err := openService(c.Context())
		if err != nil {
			return err
		}
		found, err := answer(c.Context(), b, question)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(found)
	}}
}

func openService(ctx context.Context) (httpstate.Backend, error) {
	b, err := cmdbackend.NonInteractiveCurrentBackend(httpstate.ContextWithoutAgentSignup(ctx), pkgworkspace.Instance,
		cmdbackend.DefaultLoginManager, nil)
	if err != nil {
		return nil, err
	}
	if service, ok := b.(httpstate.Backend); ok {
		return service, nil
	}
	if b == nil {
		return nil, errors.New("not logged in: set PULUMI_ACCESS_TOKEN, or run `pulumi login`")
	}
	return nil, errors.New("the backend " + b.URL() + " is not Pulumi Cloud")
}

// identifierOf returns the stack of a full name: organization/project/stack.
func identifierOf(name string) (client.StackIdentifier, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return client.StackIdentifier{}, fmt.Errorf("%q is not the full name of a stack", name)
	}
	stack, err := tokens.ParseStackName(parts[2])
	return client.StackIdentifier{Owner: parts[0], Project: parts[1], Stack: stack}, err
}

// readersAtOnce is how many stacks are read at the same time.
const readersAtOnce = 8

// readStacks reads stacks with their states. One that does not exist is missing in the answer.
func readStacks(ctx context.Context, b httpstate.Backend, question wire.ReadStacks) (map[string]wire.ServiceStack, error) {
	var mu sync.Mutex // guards found and errs
	found := map[string]wire.ServiceStack{}
	var errs []error
	var readers sync.WaitGroup
	room := make(chan struct{}, readersAtOnce)
	names, err := tagged(ctx, b, question)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		readers.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			stack, err := readStack(ctx, b, name, question)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("reading the stack %s: %w", name, err))
			case stack != nil:
				found[name] = *stack
			}
		})
	}
	readers.Wait()
	return found, first(errs)
}

// tagged returns the stacks that are asked for and that a service lists with the wanted tag. Some servers list all.
func tagged(ctx context.Context, b httpstate.Backend, question wire.ReadStacks) ([]string, error) {
	if question.Tagged == nil || len(question.Names) == 0 {
		return question.Names, nil
	}
	organization, _, _ := strings.Cut(question.Names[0], "/")
	filter := client.ListStacksFilter{Organization: &organization, TagName: &question.Tagged.Name, TagValue: &question.Tagged.Value}
	var names []string
	for page := (*string)(nil); ; {
		listed, next, err := b.Client().ListStacks(ctx, filter, page)
		if err != nil {
			return nil, fmt.Errorf("listing the stacks with the tag %s: %w", question.Tagged.Name, err)
		}
		for _, stack := range listed {
			if name := stack.OrgName + "/" + stack.ProjectName + "/" + stack.StackName; slices.Contains(question.Names, name) {
				names = append(names, name)
			}
		}
		if page = next; page == nil {
			return names, nil
		}
	}
}

// first returns the first error: many stacks fail for one reason.
func first(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return errs[0]
}

// readStack reads the parts of a stack that are wanted. What updates it comes before its state, so that a state that is
// read while nothing runs is not that of an update in between. It returns nil for a stack that does not exist.
func readStack(ctx context.Context, b httpstate.Backend, name string, wanted wire.ReadStacks) (*wire.ServiceStack, error) {
	id, err := identifierOf(name)
	if err != nil {
		return nil, err
	}
	read := &wire.ServiceStack{}
	if tag := wanted.Tagged; tag != nil {
		stack, err := b.Client().GetStack(ctx, id)
		if isNotFound(err) || err == nil && stack.Tags[tag.Name] != tag.Value {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	for _, part := range []struct {
		wanted bool
		read   func() error
	}{
		{wanted.Updates, func() error { return readUpdate(ctx, b, id, wanted.Begun[name], read) }},
		{wanted.States, func() error {
			exported, err := b.Client().ExportStackDeployment(ctx, id, nil)
			read.State = exported.Deployment
			return err
		}},
		{wanted.History, func() error { return readHistory(ctx, b, id, read) }},
	} {
		if !part.wanted {
			continue
		}
		if err := part.read(); isNotFound(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	return read, nil
}

// readUpdate reads which update holds a stack. A server that does not say so knows whether an update has ended that this
// machine has begun.
func readUpdate(ctx context.Context, b httpstate.Backend, id client.StackIdentifier, begun string, read *wire.ServiceStack) error {
	stack, err := b.Client().GetStack(ctx, id)
	if err != nil {
		return err
	}
	read.Tags = stack.Tags
	if operation := stack.CurrentOperation; operation != nil {
		read.Update = &wire.ServiceUpdate{ID: stack.ActiveUpdate, Kind: string(operation.Kind), Author: operation.Author,
			Started: operation.Started}
		return nil
	}
	if begun == "" || begun != stack.ActiveUpdate {
		return nil
	}
	update := client.UpdateIdentifier{StackIdentifier: id, UpdateKind: apitype.UpdateUpdate, UpdateID: begun}
	results, err := b.Client().GetUpdateEvents(ctx, update, nil)
	if err != nil {
		return err
	}
	ended := []apitype.UpdateStatus{apitype.StatusSucceeded, apitype.StatusFailed, apitype.UpdateStatusCancelled}
	if !slices.Contains(ended, results.Status) {
		read.Update = &wire.ServiceUpdate{ID: begun}
	}
	return nil
}

func readHistory(ctx context.Context, b httpstate.Backend, id client.StackIdentifier, read *wire.ServiceStack) error {
	updates, err := b.Client().GetStackUpdates(ctx, id, 1, 1)
	if err == nil && len(updates) > 0 {
		read.Last = &wire.ServiceHistory{Kind: string(updates[0].Kind), Result: string(updates[0].Result),
			Start: updates[0].StartTime, End: updates[0].EndTime}
	}
	return err
}

func isNotFound(err error) bool {
	response, ok := errors.AsType[*apitype.ErrorResponse](err)
	return ok && response.Code == http.StatusNotFound
}

// sealValues encrypts values with the key of a stack, which is created if it does not exist: only a stack has a key.
func sealValues(ctx context.Context, b httpstate.Backend, question wire.SealValues) (wire.SealedValues, error) {
	id, err := identifierOf(question.Stack)
	if err != nil {
		return nil, err
	}
	sealed, err := encryptAll(ctx, b, id, question.Values)
	if isNotFound(err) && question.Create {
		if err = createStack(ctx, b, id); err == nil {
			sealed, err = encryptAll(ctx, b, id, question.Values)
		}
	}
	return sealed, err
}

func createStack(ctx context.Context, b httpstate.Backend, id client.StackIdentifier) error {
	tags := map[apitype.StackTagName]string{apitype.ProjectNameTag: id.Project}
	_, _, err := b.Client().CreateStack(ctx, id, tags, nil, nil, nil, false)
	if response, ok := errors.AsType[*apitype.ErrorResponse](err); ok && response.Code == http.StatusConflict &&
		strings.Contains(response.Message, "already exists") {
		return nil // another command has just created it
	}
	return err
}

func encryptAll(ctx context.Context, b httpstate.Backend, id client.StackIdentifier, values [][]byte) (wire.SealedValues, error) {
	if len(values) == 0 {
		return nil, nil
	}
	if b.Capabilities(ctx).BatchEncryption {
		return b.Client().BatchEncrypt(ctx, id, values)
	}
	var sealed wire.SealedValues
	for _, value := range values {
		ciphertext, err := b.Client().EncryptValue(ctx, id, value)
		if err != nil {
			return nil, err
		}
		sealed = append(sealed, ciphertext)
	}
	return sealed, nil
}

// unsealValues decrypts values that were encrypted with the key of a stack.
func unsealValues(ctx context.Context, b httpstate.Backend, question wire.SealValues) (wire.SealedValues, error) {
	id, err := identifierOf(question.Stack)
	if err != nil {
		return nil, err
	}
	if len(question.Values) == 0 {
		return nil, nil
	}
	found, err := b.Client().BatchDecryptValue(ctx, id, question.Values)
	if err != nil {
		return nil, err
	}
	var values wire.SealedValues
	for _, ciphertext := range question.Values {
		value, ok := found[base64.StdEncoding.EncodeToString(ciphertext)]
		if !ok {
			return nil, errors.New("Pulumi Cloud has not decrypted all values")
		}
		values = append(values, value)
	}
	return values, nil
}

// cancelUpdate cancels the update of a stack that it is told, and no other that may have begun since.
func cancelUpdate(ctx context.Context, b httpstate.Backend, question wire.CancelUpdate) (bool, error) {
	id, err := identifierOf(question.Stack)
	if err != nil {
		return false, err
	}
	update := client.UpdateIdentifier{StackIdentifier: id, UpdateKind: apitype.UpdateUpdate,
		UpdateID: cmp.Or(question.Update, "none")}
	err = b.Client().CancelUpdate(ctx, update)
	if response, ok := errors.AsType[*apitype.ErrorResponse](err); ok && response.Code == http.StatusConflict {
		return false, nil // it has ended meanwhile
	}
	return err == nil, err
}
