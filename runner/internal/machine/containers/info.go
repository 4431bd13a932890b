package containers

import (
	"context"
	"slices"
	"strings"
)

// Info describes a runtime and its machine, which is another one than this with
// Docker Desktop or a remote daemon.
type Info struct {
	Version       string
	CgroupVersion string // "1" or "2"; "" if unknown
	Memory        int64  // bytes of memory of the machine; 0 if unknown
	Root          string // directory of images and containers
	Rootless      bool
}

// Info asks the runtime's daemon. It returns an error if that does not answer.
func (r *Runtime) Info(ctx context.Context) (Info, error) {
	if r.Name == "podman" {
		return r.podmanInfo(ctx)
	}
	return r.dockerInfo(ctx)
}

// info are the arguments for all runtimes.
var info = []string{"info", "--format", "{{json .}}"}

// dockerInfo reads the information of docker and nerdctl.
func (r *Runtime) dockerInfo(ctx context.Context) (Info, error) {
	answer, err := ask[struct {
		ServerVersion, CgroupVersion, DockerRootDir string
		MemTotal                                    int64
		SecurityOptions                             []string
		ServerErrors                                []string
	}](ctx, r, info...)
	if err != nil {
		return Info{}, err
	}
	if len(answer.ServerErrors) > 0 { // some versions exit with 0 all the same
		return Info{}, &ExitError{Command: r.Name + " info", Code: 1, Stderr: strings.Join(answer.ServerErrors, "\n")}
	}
	return Info{
		Version: answer.ServerVersion, CgroupVersion: answer.CgroupVersion, Memory: answer.MemTotal,
		Root: answer.DockerRootDir, Rootless: slices.Contains(answer.SecurityOptions, "name=rootless"),
	}, nil
}

func (r *Runtime) podmanInfo(ctx context.Context) (Info, error) {
	answer, err := ask[struct {
		Host struct {
			CgroupVersion string
			MemTotal      int64
			Security      struct{ Rootless bool }
		}
		Store   struct{ GraphRoot string }
		Version struct{ Version string }
	}](ctx, r, info...)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Version: answer.Version.Version, CgroupVersion: strings.TrimPrefix(answer.Host.CgroupVersion, "v"),
		Memory: answer.Host.MemTotal, Root: answer.Store.GraphRoot, Rootless: answer.Host.Security.Rootless,
	}, nil
}
