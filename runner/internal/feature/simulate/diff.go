package simulate

import (
	"context"
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
	hasRoom := sessionOf(ctx).keptName(req.GetUrn()) != "" // the next one gets another name
	return compare(before, t.inputs, replaceOn, t.r.uniqueByName(t.o) && !hasRoom), nil
}

// compare looks at values alone: that a value became secret is no change. deleteFirst
// has a replacement begin with the deletion.
func compare(before, after resource.PropertyMap, replaceOn []string, deleteFirst bool) *pulumirpc.DiffResponse {
	was := revealAll(resource.NewObjectProperty(before)).ObjectValue()
	is := revealAll(resource.NewObjectProperty(after)).ObjectValue()
	detailed := plugin.NewDetailedDiffFromObjectDiff(was.Diff(is), true)
	resp := &pulumirpc.DiffResponse{
		Changes:         pulumirpc.DiffResponse_DIFF_NONE,
		HasDetailedDiff: true,
		DetailedDiff:    map[string]*pulumirpc.PropertyDiff{},
	}
	for _, path := range names(detailed) {
		kind := detailed[path].Kind
		if slices.ContainsFunc(replaceOn, func(on string) bool { return overlaps(withoutIndices(path), on) }) {
			kind = kind.AsReplace()
			resp.Replaces = append(resp.Replaces, topLevel(path))
		}
		resp.Changes = pulumirpc.DiffResponse_DIFF_SOME
		resp.Diffs = append(resp.Diffs, topLevel(path))
		resp.DetailedDiff[path] = &pulumirpc.PropertyDiff{Kind: wireKinds[kind], InputDiff: true}
	}
	resp.Diffs = slices.Compact(resp.Diffs)
	slices.Sort(resp.Replaces)
	resp.Replaces = slices.Compact(resp.Replaces)
	resp.DeleteBeforeReplace = deleteFirst && len(resp.Replaces) > 0
	return resp
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

var wireKinds = map[plugin.DiffKind]pulumirpc.PropertyDiff_Kind{
	plugin.DiffAdd: pulumirpc.PropertyDiff_ADD, plugin.DiffAddReplace: pulumirpc.PropertyDiff_ADD_REPLACE,
	plugin.DiffDelete: pulumirpc.PropertyDiff_DELETE, plugin.DiffDeleteReplace: pulumirpc.PropertyDiff_DELETE_REPLACE,
	plugin.DiffUpdate: pulumirpc.PropertyDiff_UPDATE, plugin.DiffUpdateReplace: pulumirpc.PropertyDiff_UPDATE_REPLACE,
}
