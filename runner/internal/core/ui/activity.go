package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
)

// activity is what a step is doing at the moment. Its size depends on how much
// the engine does at the same time, not on how much there is to do.
type activity struct {
	active   []work // started and not done, the oldest first
	done     event.Changes
	hook     string
	worked   bool   // the engine has said something: a hook that runs now comes after its operation
	retrying string // what is said while the step waits for another attempt
}

type work struct {
	resource event.Resource
	action   event.Action
}

// activities are those of all steps that run, by project.
type activities map[string]*activity

func (a activities) apply(e event.Event) {
	if e.Type == event.StepStarted {
		a[e.Project] = &activity{}
		return
	}
	step := a[e.Project]
	if step == nil {
		return
	}
	switch e.Type {
	case event.StepProgress:
		step.retrying, step.worked = "", true
		step.progress(e)
	case event.StepRetrying:
		*step = activity{retrying: retrying(e)}
	case event.HookStarted:
		step.hook = e.Hook
	case event.HookFinished:
		step.hook = ""
	case event.StepFinished:
		delete(a, e.Project)
	}
}

func (a *activity) progress(e event.Event) {
	if e.Counts != nil {
		a.done = *e.Counts
	}
	same := func(w work) bool { return w.resource == e.Resource }
	if i := slices.IndexFunc(a.active, same); i >= 0 {
		a.active = slices.Delete(a.active, i, i+1)
	}
	if e.Status == event.ActionStarted {
		a.active = append(a.active, work{resource: e.Resource, action: e.Action})
	}
}

// text describes what the step is doing. Of several resources it shows the one that has taken
// the longest, because the step waits for it. Without room there is no verb.
func (a *activity) text(verb bool) string {
	if a == nil {
		return ""
	}
	if a.retrying != "" {
		return a.retrying
	}
	if a.hook != "" {
		return "hook " + a.hook
	}
	if len(a.active) == 0 {
		return ""
	}
	text := short(a.active[0].resource)
	if verb {
		text = doing(a.active[0].action) + " " + text
	}
	if n := len(a.active) - 1; n > 0 {
		text += fmt.Sprintf(", %d more", n)
	}
	return text
}

// hasEnded reports whether the operation has ended, and a hook after it goes on.
func (a *activity) hasEnded() bool { return a != nil && a.hook != "" && a.worked }

func (a *activity) total() int {
	if a == nil {
		return 0
	}
	return a.done.Total()
}

// retrying says that another attempt is to come.
func retrying(e event.Event) string {
	return fmt.Sprintf("attempt %d in %s", e.Attempt, event.FormatDuration(e.Wait()))
}

// doing returns the verb of an action in progress.
func doing(a event.Action) string {
	words := map[event.Action]string{
		event.Create: "creating", event.Update: "updating", event.Replace: "replacing", event.Delete: "deleting",
		event.Same: "checking", event.Read: "reading", event.Reload: "refreshing", event.Import: "importing",
	}
	return cmp.Or(words[a], string(a))
}

// short names a resource by the last part of its type, as everybody does: ConfigMap.
func short(r event.Resource) string {
	return event.Resource{Type: r.Type[strings.LastIndexByte(r.Type, ':')+1:], Name: r.Name}.String()
}
