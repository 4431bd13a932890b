package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/volumes"
)

// growVolumes makes the volumes of a deployed project as big as they are to be, which its program cannot; a preview says
// what would be done. What cannot be done is an error of both.
func (h Hooks) growVolumes(ctx context.Context, op operation.Operation, p model.Project, emit func(event.Event)) error {
	if p.Volumes == nil || h.Stacks.Summary(p.Name).Resources == 0 {
		return nil
	}
	wanted, known := VolumesOf(p, h.Provider, h.Values)
	if !known {
		return nil
	}
	deployed, err := h.Stacks.Volumes(ctx, p.Name)
	if err != nil {
		return err
	}
	change := CompareVolumes(deployed, wanted)
	switch {
	case change.Shrinks:
		return &volumes.RefusedError{
			Text: "the size of the volumes of " + p.Name + " " + change.SmallerThan(wanted), Next: "set it to " + change.From + " or more",
		}
	case change.Class != "":
		return &volumes.RefusedError{
			Text: "the class of the volumes of " + p.Name + " " + change.OtherThan(wanted), Next: "set it to " + change.Class + " again",
		}
	case h.Simulated && change.Grows && h.Provider.FixedVolumes:
		return &volumes.RefusedError{
			Text: fmt.Sprintf("the volumes of %s cannot be made bigger, from %s to %s: the StorageClass of %s does not allow it",
				p.Name, change.From, wanted.Size, h.Provider.Title),
			Next: "keep the size of " + change.From,
		}
	case h.Simulated && change.Grows:
		event.Say(emit, event.Info, "SIMULATED: the volumes grow from %s to %s while their Pods run", change.From, wanted.Size)
	}
	if h.Simulated {
		return nil
	}
	wanted.Keep = !change.Anew
	err = h.growInCluster(ctx, op, wanted, emit)
	if err == nil || change.Anew {
		return err
	}
	// Nobody has asked for other volumes: claims are behind what was asked for earlier.
	if refused, ok := errors.AsType[*volumes.RefusedError](err); ok {
		event.Say(emit, event.Warning, "%v; %s", refused, refused.Next)
	} else {
		h.Log.Debug("comparing volumes", "project", p.Name, "error", h.Masker.Mask(err.Error()))
	}
	return ctx.Err()
}

// growInCluster compares the volumes in the cluster with what they are to be, and makes them so unless it is a preview.
func (h Hooks) growInCluster(ctx context.Context, op operation.Operation, wanted volumes.Wanted, emit func(event.Event)) error {
	content, err := h.ClusterKubeconfig(ctx, h.Provider.ClusterProject)
	if err != nil || content == nil {
		return err
	}
	cluster, err := kubeapi.Connect(content, h.Env, volumes.Changes()...)
	if err != nil {
		return err
	}
	growth, err := volumes.Find(ctx, cluster, wanted)
	if err != nil || !growth.Needed() {
		return err
	}
	event.Say(emit, event.Info, "%s", growth)
	if !op.Deploys() {
		return nil
	}
	return volumes.Grow(ctx, cluster, growth)
}

// VolumesOf returns how the volumes of a project are to be. That is not known where the user's own values of a chart may say
// something else.
func VolumesOf(p model.Project, provider model.Provider, values config.Values) (wanted volumes.Wanted, known bool) {
	wanted = volumes.Wanted{Namespace: p.Namespace, Size: p.Volumes.Size, Class: p.Volumes.Class}
	if p.Volumes.Key == "" {
		return wanted, true
	}
	for _, chart := range p.Charts {
		for _, own := range []string{model.Values, model.ValuesFile} {
			if values.Get(model.ChartKey(chart.Group, own)) != nil {
				return wanted, false
			}
		}
	}
	wanted.Size, wanted.Class = values.Text(p.Volumes.Key), cmp.Or(values.Text(model.StorageClass), provider.StorageClass)
	return wanted, true
}

// VolumeChange is how volumes change.
type VolumeChange struct {
	From           string // the size in the state that says so
	Grows, Shrinks bool
	Anew           bool   // the program makes a new StatefulSet, for their size or their class
	Class          string // that they have, where another one is wanted
}

// CompareVolumes compares the volumes in a state with what they are to be.
func CompareVolumes(deployed []stacks.Volume, wanted volumes.Wanted) (change VolumeChange) {
	size, err := resource.ParseQuantity(wanted.Size)
	if err != nil {
		return change // the configuration is checked elsewhere
	}
	for _, volume := range deployed {
		is, err := resource.ParseQuantity(volume.Size)
		switch {
		case err != nil:
			continue
		case is.Cmp(size) > 0:
			return VolumeChange{From: volume.Size, Shrinks: true}
		case is.Cmp(size) < 0:
			change.From, change.Grows = volume.Size, true
		}
		change.Anew = change.Anew || change.Grows || volume.Class != wanted.Class
		if wanted.Class != "" && volume.Class != wanted.Class {
			change.Class = volume.Class
		}
	}
	return change
}

// SmallerThan says why volumes cannot have a size; "" if they can.
func (c VolumeChange) SmallerThan(wanted volumes.Wanted) string {
	if !c.Shrinks {
		return ""
	}
	return fmt.Sprintf("is %s, and the volumes that are deployed have %s: none can be made smaller", wanted.Size, c.From)
}

// OtherThan says why volumes cannot be of a class; "" if they can, as far as the state tells.
func (c VolumeChange) OtherThan(wanted volumes.Wanted) string {
	if c.Class == "" {
		return ""
	}
	return fmt.Sprintf("is %s, and the volumes that are deployed are of %s: none can get another class", wanted.Class, c.Class)
}
