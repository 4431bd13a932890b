package operate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/session"
)

// silence is how long a project may say nothing until its cloud is asked whether it answers.
const silence = 30 * time.Second

// cloudWatch asks the cloud of a project that says nothing for a while. A provider whose requests are throttled, or
// fail for a moment, sends them again for as long as that lasts, and does not say so.
type cloudWatch struct {
	projects []string                    // that the cloud's own plugin makes
	ask      func(context.Context) error // nil if the cloud cannot be asked
}

// newCloudWatch returns the watch of an environment.
func newCloudWatch(s *session.Resolved) (w cloudWatch) {
	clouds, p := s.Deps.CloudClients, s.Provider
	if clouds == nil || s.Options.Simulation.On {
		return w
	}
	i := slices.IndexFunc(p.Plugins, func(plugin model.Plugin) bool { return plugin.Name == p.InfraType() })
	if i < 0 || len(p.Account.Credentials) == 0 {
		return w
	}
	w.projects = p.Plugins[i].Projects
	file := s.Settings.Config
	access := cloud.AccessTo(p, s.Env, func(key string) string { return file.Text(key).Text })
	w.ask = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, cloud.Patience)
		defer cancel()
		client, err := clouds(ctx, p.InfraType(), access)
		if err != nil {
			return err
		}
		_, err = client.Account(ctx)
		return err
	}
	return w
}

// follow returns an emit function for the work on a project, and a function that ends the watch. While the work
// emits nothing, a warning says why the cloud does not answer.
func (w cloudWatch) follow(
	ctx context.Context, project string, emit func(event.Event),
) (watched func(event.Event), end func()) {
	if w.ask == nil || !slices.Contains(w.projects, project) {
		return emit, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan struct{}, 1)
	var done sync.WaitGroup
	done.Go(func() { w.listen(ctx, heard, emit) })
	watched = func(e event.Event) {
		select {
		case heard <- struct{}{}:
		default: // it has been heard already
		}
		emit(e)
	}
	return watched, func() { cancel(); done.Wait() }
}

// listen asks the cloud after each silence, and says each answer once.
func (w cloudWatch) listen(ctx context.Context, heard <-chan struct{}, emit func(event.Event)) {
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-heard:
			continue
		case <-time.After(silence):
		}
		failed, ok := errors.AsType[*cloud.Error](w.ask(ctx))
		if ctx.Err() != nil || !ok || !failed.Unsure || failed.Text == said {
			continue
		}
		said = failed.Text
		event.Say(emit, event.Warning, "%s; its provider tries again until it answers, and says nothing", said)
	}
}
