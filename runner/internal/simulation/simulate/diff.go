package simulate

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Diff compares a resource's old and new inputs.
func (s *server) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	t, err := s.existing(ctx, req.GetUrn(), req.GetId(), req.GetNews())
	if err != nil {
		return nil, err
	}
	before, err := unmarshal(req.GetOldInputs())
	if err != nil {
		return nil, err
	}
	replaceOn := t.r.ReplaceOn
	if t.r.Renews != nil {
		replaceOn = slices.Concat(replaceOn, t.r.Renews(t.earlier(before), t.o))
	}
	return compare(before, t.inputs, replaceOn).response(t.r.uniqueByName(t.o)), nil
}

// difference is what changed between two sets of inputs, by path.
type difference struct {
	kinds    map[string]plugin.DiffKind
	replaces []string // top-level inputs whose change replaces
}

// compare looks at values alone: that a value became secret is no change.
func compare(before, after resource.PropertyMap, replaceOn []string) difference {
	was := revealAll(resource.NewObjectProperty(before)).ObjectValue()
	is := revealAll(resource.NewObjectProperty(after)).ObjectValue()
	detailed := plugin.NewDetailedDiffFromObjectDiff(was.Diff(is), true)
	d := difference{kinds: map[string]plugin.DiffKind{}}
	for path, change := range detailed {
		d.kinds[path] = change.Kind
		if slices.ContainsFunc(replaceOn, func(on string) bool { return overlaps(withoutIndices(path), on) }) {
			d.kinds[path] = change.Kind.AsReplace()
			d.replaces = append(d.replaces, topLevel(path))
		}
	}
	slices.Sort(d.replaces)
	d.replaces = slices.Compact(d.replaces)
	return d
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// withoutIndices returns a path as ReplaceOn names it: the same for all items of a list.
func withoutIndices(path string) string { return index.ReplaceAllString(path, "") }

// overlaps reports whether one path is, or lies below, the other.
func overlaps(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	rest, found := strings.CutPrefix(a, b)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func topLevel(path string) string {
	if end := strings.IndexAny(path, ".["); end > 0 {
		return path[:end]
	}
	return path
}

func (d difference) response(deleteFirst bool) *pulumirpc.DiffResponse {
	resp := &pulumirpc.DiffResponse{
		Changes:         pulumirpc.DiffResponse_DIFF_NONE,
		HasDetailedDiff: true,
		DetailedDiff:    map[string]*pulumirpc.PropertyDiff{},
	}
	if len(d.kinds) == 0 {
		return resp
	}
	resp.Changes = pulumirpc.DiffResponse_DIFF_SOME
	resp.Replaces = d.replaces
	resp.DeleteBeforeReplace = deleteFirst && len(d.replaces) > 0
	for _, path := range slices.Sorted(maps.Keys(d.kinds)) {
		resp.Diffs = append(resp.Diffs, topLevel(path))
		resp.DetailedDiff[path] = &pulumirpc.PropertyDiff{Kind: wireKinds[d.kinds[path]], InputDiff: true}
	}
	resp.Diffs = slices.Compact(resp.Diffs)
	return resp
}

var wireKinds = map[plugin.DiffKind]pulumirpc.PropertyDiff_Kind{
	plugin.DiffAdd: pulumirpc.PropertyDiff_ADD, plugin.DiffAddReplace: pulumirpc.PropertyDiff_ADD_REPLACE,
	plugin.DiffDelete: pulumirpc.PropertyDiff_DELETE, plugin.DiffDeleteReplace: pulumirpc.PropertyDiff_DELETE_REPLACE,
	plugin.DiffUpdate: pulumirpc.PropertyDiff_UPDATE, plugin.DiffUpdateReplace: pulumirpc.PropertyDiff_UPDATE_REPLACE,
}
