package containers

import (
	"context"
	"slices"
	"strings"
)

// Info is what a runtime tells about itself and its machine, which is another
// one than this with Docker Desktop or a remote daemon.
type Info struct {
	Version       string
	CgroupVersion string // "1" or "2"; "" when it is not told
	Memory        int64  // bytes of memory of the machine; 0 when it is not told
	Processors    int
	Root          string // folder of images and containers
	Rootless      bool
}

// Info asks the runtime, and so tells whether its daemon answers.
func (r *Runtime) Info(ctx context.Context) (Info, error) {
	if r.Name == "podman" {
		return r.podmanInfo(ctx)
	}
	return r.dockerInfo(ctx)
}

// info is what all runtimes are asked.
var info = []string{"info", "--format", "{{json .}}"}

// dockerInfo reads what docker and nerdctl tell.
func (r *Runtime) dockerInfo(ctx context.Context) (Info, error) {
	told, err := ask[struct {
		ServerVersion, CgroupVersion, DockerRootDir string
		MemTotal                                    int64
		NCPU                                        int
		SecurityOptions                             []string
		ServerErrors                                []string
	}](ctx, r, info...)
	if err != nil {
		return Info{}, err
	}
	if len(told.ServerErrors) > 0 { // some versions end with success all the same
		return Info{}, &ExitError{Command: r.Name + " info", Code: 1, Stderr: strings.Join(told.ServerErrors, "\n")}
	}
	return Info{
		Version: told.ServerVersion, CgroupVersion: told.CgroupVersion, Memory: told.MemTotal, Processors: told.NCPU,
		Root: told.DockerRootDir, Rootless: slices.Contains(told.SecurityOptions, "name=rootless"),
	}, nil
}

func (r *Runtime) podmanInfo(ctx context.Context) (Info, error) {
	told, err := ask[struct {
		Host struct {
			CgroupVersion string
			MemTotal      int64
			Cpus          int
			Security      struct{ Rootless bool }
		}
		Store   struct{ GraphRoot string }
		Version struct{ Version string }
	}](ctx, r, info...)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Version: told.Version.Version, CgroupVersion: strings.TrimPrefix(told.Host.CgroupVersion, "v"), Memory: told.Host.MemTotal,
		Processors: told.Host.Cpus, Root: told.Store.GraphRoot, Rootless: told.Host.Security.Rootless,
	}, nil
}
