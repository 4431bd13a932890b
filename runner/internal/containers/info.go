package containers

import (
	"context"
	"encoding/json"
	"fmt"
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
	text, err := r.output(ctx, nil, "info", "--format", "{{json .}}")
	if err != nil {
		return Info{}, err
	}
	if r.Name == "podman" {
		return podmanInfo(text)
	}
	return dockerInfo(r.Name, text)
}

// dockerInfo reads what docker and nerdctl tell.
func dockerInfo(name, text string) (Info, error) {
	var told struct {
		ServerVersion, CgroupVersion, DockerRootDir string
		MemTotal                                    int64
		NCPU                                        int
		SecurityOptions                             []string
		ServerErrors                                []string
	}
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return Info{}, fmt.Errorf("%s info answered with something else than JSON: %w", name, err)
	}
	if len(told.ServerErrors) > 0 { // some versions end with success all the same
		return Info{}, &ExitError{Command: name + " info", Code: 1, Stderr: strings.Join(told.ServerErrors, "\n")}
	}
	return Info{
		Version: told.ServerVersion, CgroupVersion: told.CgroupVersion, Memory: told.MemTotal, Processors: told.NCPU,
		Root: told.DockerRootDir, Rootless: slices.Contains(told.SecurityOptions, "name=rootless"),
	}, nil
}

func podmanInfo(text string) (Info, error) {
	var told struct {
		Host struct {
			CgroupVersion string
			MemTotal      int64
			Cpus          int
			Security      struct{ Rootless bool }
		}
		Store   struct{ GraphRoot string }
		Version struct{ Version string }
	}
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return Info{}, fmt.Errorf("podman info answered with something else than JSON: %w", err)
	}
	return Info{
		Version: told.Version.Version, CgroupVersion: strings.TrimPrefix(told.Host.CgroupVersion, "v"), Memory: told.Host.MemTotal,
		Processors: told.Host.Cpus, Root: told.Store.GraphRoot, Rootless: told.Host.Security.Rootless,
	}, nil
}
