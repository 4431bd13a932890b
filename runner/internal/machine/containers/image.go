package containers

import (
	"context"
	"io"
)

// HasImage reports whether an image is on this machine.
func (r *Runtime) HasImage(ctx context.Context, image string) (bool, error) {
	err := r.silent(ctx, "image", "inspect", "--format", "{{.Id}}", image)
	if missing(err) {
		return false, nil
	}
	return err == nil, err
}

// Pull downloads an image from its registry.
func (r *Runtime) Pull(ctx context.Context, image string) error {
	return r.silent(ctx, "pull", image)
}

// Save writes an archive of an image.
func (r *Runtime) Save(ctx context.Context, image string, to io.Writer) error {
	return r.run(ctx, Command{Name: r.Name, Args: []string{"save", image}, Stdout: to})
}
