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
	"k8s.io/apimachinery/pkg/watch"

	"mara/config/lists"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/interrupt"
)

const (
	quiet   = 300 * time.Millisecond // how long nothing changes before a change is reported
	longest = 2 * time.Second        // that a change waits for others, in a cluster that never is quiet
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
	if err := changed(join(first)); err != nil {
		return err
	}
	store := &store{objects: lists.Map(first, list.byUID), dirty: make(chan struct{}, 1)}
	group, ctx := errgroup.WithContext(ctx)
	for i, own := range first {
		version := own.version // alone, so that the objects may go
		group.Go(func() error {
			c.follow(ctx, i, version, store)
			return nil
		})
	}
	group.Go(func() error { return store.tell(ctx, changed) })
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// store has the objects of a cluster.
type store struct {
	mu      sync.Mutex
	objects []map[string][]byte // of each resource, by UID; guarded by mu
	dirty   chan struct{}       // has one element when something has changed
}

func (l list) byUID() map[string][]byte {
	found := make(map[string][]byte, len(l.objects))
	for _, content := range l.objects {
		found[uid(content)] = content
	}
	return found
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

func (s *store) put(resource int, content []byte, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there {
		s.objects[resource][uid(content)] = content
	} else {
		delete(s.objects[resource], uid(content))
	}
	s.markDirty()
}

func (s *store) markDirty() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// replace makes a list all that the store has of a resource.
func (s *store) replace(resource int, found list) {
	now := found.byUID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.EqualFunc(s.objects[resource], now, bytes.Equal) {
		s.objects[resource] = now
		s.markDirty()
	}
}

// tell calls changed when something has changed and then nothing for a moment, or for longest at most.
func (s *store) tell(ctx context.Context, changed func([][]byte) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.dirty:
		}
		patience := time.NewTimer(longest)
		for settled := false; !settled; {
			select {
			case <-ctx.Done():
				return nil
			case <-s.dirty:
			case <-time.After(quiet):
				settled = true
			case <-patience.C:
				settled = true
			}
		}
		patience.Stop()
		s.mu.Lock()
		var objects [][]byte
		for _, own := range s.objects {
			objects = slices.AppendSeq(objects, maps.Values(own))
		}
		s.mu.Unlock()
		if err := changed(objects); err != nil {
			return err
		}
	}
}

// follow keeps the store up to date with one resource, from the version of a list on, until ctx ends. When the
// server ends a watch, or allows none, it lists the resource again: what was
// deleted in between was in no watch.
func (c cluster) follow(ctx context.Context, resource int, version string, s *store) {
	r := c.resources[resource]
	for {
		if watcher, err := c.watch(ctx, r, version); err == nil {
			for event := range watcher.ResultChan() {
				if content, err := encode(event.Object, r); err == nil && event.Type != watch.Error &&
					event.Type != watch.Bookmark {
					s.put(resource, content, event.Type != watch.Deleted)
				}
			}
			watcher.Stop()
		}
		if interrupt.Sleep(ctx, cmp.Or(c.options.relist, relist)) != nil {
			return
		}
		found, err := c.list(ctx, r)
		if err != nil {
			version = "" // a watch without a version begins with all objects
			continue
		}
		version = found.version
		s.replace(resource, found)
	}
}

// watch begins a watch from the version of a list.
func (c cluster) watch(ctx context.Context, r kubeapi.Resource, version string) (watch.Interface, error) {
	seconds := int64(forWait.Seconds())
	options := metav1.ListOptions{LabelSelector: c.options.Selector, TimeoutSeconds: &seconds, ResourceVersion: version}
	if isSecrets(r) {
		return c.Metadata.Resource(r.GroupVersionResource).Namespace(c.options.Namespace).Watch(ctx, options)
	}
	return c.Objects.Resource(r.GroupVersionResource).Namespace(c.options.Namespace).Watch(ctx, options)
}
