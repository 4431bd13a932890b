package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/interrupt"
)

const (
	quiet   = 300 * time.Millisecond // how long nothing changes before a change is reported
	relist  = 2 * time.Second        // between two lists of a resource that cannot be watched
	forWait = 5 * time.Minute        // the server ends a watch after this time
)

// Watch calls changed with all objects, at first and whenever some have changed,
// until ctx ends. Options.Timeout bounds the first answer alone.
func Watch(ctx context.Context, o Options, changed func(objects [][]byte) error) error {
	c, first, err := open(ctx, o)
	if err != nil {
		return err
	}
	if err := changed(first); err != nil {
		return err
	}
	store := newStore(first)
	group, ctx := errgroup.WithContext(ctx)
	for i, r := range c.resources {
		group.Go(func() error {
			c.follow(ctx, r, c.versions[i], store)
			return nil
		})
	}
	group.Go(func() error { return store.tell(ctx, changed) })
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// store has the objects of a cluster by their uid.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte // guarded by mu
	dirty   chan struct{}     // has one element when something has changed
}

func newStore(objects [][]byte) *store {
	s := &store{objects: map[string][]byte{}, dirty: make(chan struct{}, 1)}
	for _, content := range objects {
		s.objects[uid(content)] = content
	}
	return s
}

// uid returns the UID of an object, which stays the same over its life.
func uid(content []byte) string {
	var object struct {
		Kind     string
		Metadata struct{ UID, Namespace, Name string }
	}
	_ = json.Unmarshal(content, &object) // it was JSON a moment ago
	return cmp.Or(object.Metadata.UID, object.Kind+"/"+object.Metadata.Namespace+"/"+object.Metadata.Name)
}

func (s *store) put(content []byte, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there {
		s.objects[uid(content)] = content
	} else {
		delete(s.objects, uid(content))
	}
	s.markDirty()
}

func (s *store) markDirty() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// replace makes objects all that the store has of a resource.
func (s *store) replace(r kubeapi.Resource, objects [][]byte) {
	now := make(map[string][]byte, len(objects))
	for _, content := range objects {
		now[uid(content)] = content
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for id, content := range s.objects {
		if _, there := now[id]; !there && isOf(r, content) {
			delete(s.objects, id)
			changed = true
		}
	}
	for id, content := range now {
		if !bytes.Equal(s.objects[id], content) {
			s.objects[id], changed = content, true
		}
	}
	if changed {
		s.markDirty()
	}
}

// isOf reports whether an object is of a resource.
func isOf(r kubeapi.Resource, content []byte) bool {
	var object struct{ APIVersion, Kind string }
	_ = json.Unmarshal(content, &object) // it was JSON a moment ago
	return object.Kind == r.Kind && object.APIVersion == r.GroupVersion().String()
}

// tell calls changed when something has changed and then nothing for a moment.
func (s *store) tell(ctx context.Context, changed func([][]byte) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.dirty:
		}
		for settled := false; !settled; {
			select {
			case <-ctx.Done():
				return nil
			case <-s.dirty:
			case <-time.After(quiet):
				settled = true
			}
		}
		s.mu.Lock()
		objects := slices.Collect(maps.Values(s.objects))
		s.mu.Unlock()
		if err := changed(objects); err != nil {
			return err
		}
	}
}

// follow keeps the store up to date with one resource, until ctx ends. When the
// server ends a watch, or allows none, it lists the resource again: what was
// deleted in between was in no watch.
func (c cluster) follow(ctx context.Context, r kubeapi.Resource, version string, s *store) {
	for {
		if watcher, err := c.watch(ctx, r, version); err == nil {
			for event := range watcher.ResultChan() {
				if content, err := json.Marshal(event.Object); err == nil && event.Type != watch.Error &&
					event.Type != watch.Bookmark {
					s.put(content, event.Type != watch.Deleted)
				}
			}
			watcher.Stop()
		}
		if interrupt.Sleep(ctx, cmp.Or(c.options.relist, relist)) != nil {
			return
		}
		objects, now, err := c.list(ctx, r)
		if err != nil {
			version = "" // a watch without a version begins with all objects
			continue
		}
		version = now
		s.replace(r, objects)
	}
}

// watch begins a watch from the version of a list.
func (c cluster) watch(ctx context.Context, r kubeapi.Resource, version string) (watch.Interface, error) {
	seconds := int64(forWait.Seconds())
	options := metav1.ListOptions{LabelSelector: c.options.Selector, TimeoutSeconds: &seconds, ResourceVersion: version}
	if isSecrets(r) {
		watcher, err := c.Metadata.Resource(r.GroupVersionResource).Namespace(c.options.Namespace).Watch(ctx, options)
		if err != nil {
			return nil, err
		}
		return watch.Filter(watcher, func(e watch.Event) (watch.Event, bool) {
			if object, ok := e.Object.(*metav1.PartialObjectMetadata); ok {
				object.SetGroupVersionKind(r.GroupVersion().WithKind(r.Kind))
				e.Object = runtime.Object(object)
			}
			return e, true
		}), nil
	}
	return c.Objects.Resource(r.GroupVersionResource).Namespace(c.options.Namespace).Watch(ctx, options)
}
