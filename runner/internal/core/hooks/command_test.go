package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
)

// commandCall returns a call of a user's script.
func commandCall(t *testing.T, hook model.Hook, script string) executor.HookCall {
	t.Helper()
	hook.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(hook.Dir, "hook.sh"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	hook.Name, hook.Command = "smoke", []string{"./hook.sh", "two words"}
	return executor.HookCall{Hook: hook, Step: plan.Step{Project: model.Project{Name: "linode-lke", Title: "LKE", Path: "a/b"}}}
}

// TestCommand: the input of a command, and what becomes of its output.
func TestCommand(t *testing.T) {
	t.Parallel()
	failed := executor.StepResult{Result: event.Failed, Err: errors.New("no " + clusterToken)}
	for _, test := range []struct {
		name, script string
		hook         model.Hook
		result       executor.StepResult
		simulated    bool
		op           operation.Operation
		want         []string
		err          string
	}{
		{name: "argument and directory", script: `echo "$1"; basename "$0"; echo $PWD | grep -c TestCommand`, want: []string{"info two words", "info hook.sh", "info 1"}},
		{
			name: "variables", script: `env | grep ^MARA_ | sort`, hook: model.Hook{On: model.OnFailure}, result: failed,
			want: []string{
				"info MARA_HOOK=smoke", "info MARA_ON=failure", "info MARA_OPERATION=up", "info MARA_PROJECT=linode-lke", "info MARA_PROVIDER=linode",
				"info MARA_RESULT=failed", "info MARA_ROOT=/root", "info MARA_SIMULATED=false", "info MARA_STACK=dev",
			},
		},
		{
			name: "input", script: `cat; echo`, hook: model.Hook{On: model.OnFailure}, result: failed,
			want: []string{`info {"version":1,"hook":"smoke","on":"failure","operation":"up","provider":"linode","stack":"dev","simulated":false,"root":"/root",` +
				`"project":"linode-lke","title":"LKE","directory":"projects/a/b","result":"failed","error":"no [secret]",` +
				`"changes":{"create":0,"update":0,"replace":0,"delete":0,"same":0},"outputs":{"address":"10.0.0.1"}}`},
		},
		{name: "masked", script: `echo ` + clusterToken + ` >&2; exit 3`, want: []string{"info [secret]"}, err: "exit status 3: [secret]"},
		{name: "silent failure", script: `exit 3`, err: "exit status 3"},
		{
			name: "tried again", hook: model.Hook{Retry: 1}, script: `test -e here && echo done && exit; touch here; exit 1`,
			want: []string{"warning hook smoke: exit status 1; trying again", "info done"},
		},
		{name: "late", hook: model.Hook{Timeout: 100 * time.Millisecond}, script: `sleep 60 & wait`, err: "timed out after 0.1s"},
		{name: "simulated", script: `echo ran`, simulated: true, want: []string{"info SIMULATED: not run: ./hook.sh 'two words'"}},
		{name: "for a simulation", script: `echo $MARA_SIMULATED`, simulated: true, hook: model.Hook{Simulate: true}, want: []string{"info true"}},
		{name: "before a destroy of nothing", hook: model.Hook{On: model.Before}, op: operation.Destroy, script: `echo ran`, want: []string{"info ran"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := hookSession(t, map[string]any{"address": "10.0.0.1"})
			h.Env["PATH"], h.Root, h.Simulated = os.Getenv("PATH"), "/root", test.simulated
			h.Masker.Add(clusterToken)
			call := commandCall(t, test.hook, test.script)
			call.Result = test.result
			if test.op == "" {
				test.op = operation.Up
			}
			var said []string
			err := h.Hook(test.op)(t.Context(), call, func(e event.Event) {
				said = append(said, fmt.Sprint(e.Severity, " ", h.Masker.Mask(e.Message)))
			})
			if got := fmt.Sprint(err); err != nil && got != test.err || err == nil && test.err != "" {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, said); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCommandPrintsSecrets: secret outputs that a command prints are masked, and where
// they cannot be read, what it prints is not shown.
func TestCommandPrintsSecrets(t *testing.T) {
	t.Parallel()
	run := func(outputs map[string]any) string {
		h := hookSession(t, outputs)
		h.Env["PATH"] = os.Getenv("PATH")
		var said []string
		err := h.Hook(operation.Up)(t.Context(), commandCall(t, model.Hook{On: model.OnSuccess}, "echo at 10.0.0.1 with needle-3 and needle-4; exit 1"), func(e event.Event) {
			said = append(said, h.Masker.Mask(e.Message))
		})
		return fmt.Sprintf("%s: %v", strings.Join(said, "; "), err)
	}
	known := run(map[string]any{"address": "10.0.0.1", "secret": "needle-3", "secrets": map[string]any{"a": []any{"needle-4"}}})
	if want := "at 10.0.0.1 with [secret] and [secret]: exit status 1: at 10.0.0.1 with [secret] and [secret]"; known != want {
		t.Errorf("got  %s\nwant %s", known, want)
	}
	if unknown := run(map[string]any{"secret": "unreadable"}); strings.Contains(unknown, "needle") || !strings.Contains(unknown, "not shown") {
		t.Errorf("secrets that cannot be read: %s", unknown)
	}
}

// TestCommandIsCancelled: an interruption ends the command, with what it has
// started.
func TestCommandIsCancelled(t *testing.T) {
	t.Parallel()
	h := hookSession(t, nil)
	h.Env["PATH"] = os.Getenv("PATH")
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	began := time.Now()
	err := h.Hook(operation.Up)(ctx, commandCall(t, model.Hook{Retry: 5}, "echo up; sleep 60"), func(e event.Event) {
		if strings.Contains(e.Message, "up") {
			cancel(interrupted)
		}
	})
	if !errors.Is(err, interrupted) || time.Since(began) > 30*time.Second {
		t.Errorf("got %v after %s", err, time.Since(began))
	}
}

// TestCommandIsKilled: what ignores the signal is killed, and what it has started.
func TestCommandIsKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	call := commandCall(t, model.Hook{On: model.OnSuccess}, `trap "" TERM; sleep 60 > child.out 2>&1 & echo $!; wait`)
	child := 0
	h := hookSession(t, nil)
	h.Env["PATH"] = os.Getenv("PATH")
	err := h.Hook(operation.Up)(ctx, call, func(e event.Event) {
		if child == 0 {
			child, _ = strconv.Atoi(e.Message)
			cancel(interrupted)
		}
	})
	if !errors.Is(err, interrupted) || child == 0 {
		t.Fatalf("got %v, child %d", err, child)
	}
	for deadline := time.Now().Add(10 * time.Second); lock.IsAlive(child); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what it has started lives on")
		}
	}
}

func TestUnknownHook(t *testing.T) {
	t.Parallel()
	h := hookSession(t, nil)
	if err := h.Hook(operation.Up)(t.Context(), callOf("linode-lke", "none"), nil); err == nil || err.Error() != `this runner has no hook "none"` {
		t.Errorf("got %v", err)
	}
}
