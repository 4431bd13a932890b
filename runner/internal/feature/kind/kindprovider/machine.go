package kindprovider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	"sigs.k8s.io/kind/pkg/exec"
	"sigs.k8s.io/kind/pkg/log"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
)

// Backend is what makes the resources.
type Backend struct {
	Containers *containers.Runtime
	Clusters   Clusters
	// Answers tells whether a registry answers at a URL.
	Answers func(ctx context.Context, url string) bool
	// Patience is how long a started registry may take to answer.
	Patience time.Duration
	// NewUID makes up the uid of a cluster.
	NewUID func() string

	owner string // marks what belongs to this stack
}

// Clusters is the part of kind that the resources need.
type Clusters interface {
	// Create makes a cluster. When ctx ends it stops as soon as it can, and may
	// leave what it has made by then.
	Create(ctx context.Context, config *v1alpha4.Cluster, wait time.Duration) error
	// Kubeconfig returns a kubeconfig that reaches a cluster from this machine.
	Kubeconfig(ctx context.Context, cluster string) (string, error)
	// Load loads an archive of images into all nodes of a cluster.
	Load(ctx context.Context, cluster, archive string) error
}

// Open finds the container runtime of that name, or the first there is when the
// name is empty.
type Open func(runtime string) (Backend, error)

// machine is this machine, which all resources share.
type machine struct {
	open Open

	mu    sync.Mutex // guards what follows
	owner string     // id of the stack's provider resource
	ready *Backend
}

// backend opens the container runtime at the first call.
func (m *machine) backend(ctx context.Context) (b Backend, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner == "" {
		return b, errors.New("this version of Pulumi does not tell providers whom they work for: use 3.250.0 or newer")
	}
	if m.ready == nil {
		config := valueOf(infer.GetConfig[*Config](ctx))
		backend, err := m.open(valueOf(config.Runtime))
		if err != nil {
			return b, err
		}
		m.ready = &backend
	}
	b = *m.ready
	b.owner = m.owner
	return b, nil
}

// OpenMachine implements Open for the machine that the provider runs on.
func OpenMachine(name string) (Backend, error) {
	runtime, err := containers.Find(name, containers.OnPath, containers.Run)
	if err != nil {
		return Backend{}, err
	}
	return Backend{
		Containers: runtime,
		Clusters:   Library{runtime},
		Answers:    answers,
		Patience:   30 * time.Second,
		NewUID:     uuid.NewString,
	}, nil
}

// answers reports whether a registry answers: with success, as its API demands.
func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	return response.StatusCode == http.StatusOK
}

// Library makes clusters with kind's own code.
type Library struct{ runtime *containers.Runtime }

// provider returns kind's provider, which logs to the engine.
func (l Library) provider(ctx context.Context) *cluster.Provider {
	options := []cluster.ProviderOption{cluster.ProviderWithLogger(logger{p.GetLogger(ctx)})}
	switch l.runtime.Name {
	case "podman":
		options = append(options, cluster.ProviderWithPodman())
	case "nerdctl":
		options = append(options, cluster.ProviderWithNerdctl("nerdctl"))
	default:
		options = append(options, cluster.ProviderWithDocker())
	}
	return cluster.NewProvider(options...)
}

// Create implements Clusters. It leaves the user's kubeconfig alone: what kind
// would write there goes to a file that is thrown away. Nodes of a failed creation
// stay for the caller to remove; their logs are kept.
func (l Library) Create(ctx context.Context, config *v1alpha4.Cluster, wait time.Duration) error {
	dir, err := os.MkdirTemp("", "kind-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	limited, cancel := limit(ctx, creationLimit+wait)
	defer cancel()
	var logs keptLogs
	keep := sync.OnceFunc(func() {
		if ctx.Err() == nil {
			logs = l.keepLogs(ctx, config.Name)
		}
	})
	err = interruptible(limited, func() error {
		return plainError(l.provider(limited).Create(config.Name,
			cluster.CreateWithV1Alpha4Config(config),
			cluster.CreateWithWaitForReady(wait),
			cluster.CreateWithRetain(true),
			cluster.CreateWithKubeconfigPath(filepath.Join(dir, "kubeconfig")),
		))
	}, func(ctx context.Context) { // makes the creation fail; there may be no nodes yet
		keep()
		if found, err := kindnodes.Find(ctx, l.runtime, config.Name); err == nil {
			_ = l.runtime.Remove(ctx, found.Names()...)
		}
	})
	if err != nil {
		keep()
	}
	return logs.mention(err)
}

// creationLimit is how long kind may take to start the nodes and kubeadm in them, before it waits for ready nodes.
const creationLimit = 20 * time.Minute

// limit returns a context that ends after a time, with a cause that says so.
func limit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d,
		fmt.Errorf("the cluster was not there after %s, and was given up: kubeadm hangs, or this machine is too slow", d))
}

// interruptionLimit is how long work that was interrupted may take to end.
const interruptionLimit = 2 * time.Minute

// interruptible runs work that takes no context. When ctx ends, it calls disturb
// until the work has given up. It abandons work that hangs all the same, as with
// a container runtime that does not answer.
func interruptible(ctx context.Context, work func() error, disturb func(ctx context.Context)) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptionLimit)
	defer cancel()
	for {
		disturb(limited)
		select {
		case <-done:
			return cause
		case <-limited.Done():
			return fmt.Errorf("%w; kind has not ended within %s, and may have left containers behind", cause, interruptionLimit)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// Kubeconfig implements Clusters.
func (l Library) Kubeconfig(ctx context.Context, name string) (string, error) {
	kubeconfig, err := l.provider(ctx).KubeConfig(name, false)
	return kubeconfig, plainError(err)
}

// Load implements Clusters.
func (l Library) Load(ctx context.Context, name, archive string) error {
	all, err := l.provider(ctx).ListInternalNodes(name)
	if err != nil {
		return plainError(err)
	}
	for _, node := range all {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		file, err := os.Open(archive)
		if err != nil {
			return err
		}
		err = nodeutils.LoadImageArchive(node, file)
		_ = file.Close() // only read
		if err != nil {
			return fmt.Errorf("on %s: %w", node, plainError(err))
		}
	}
	return nil
}

// plainError puts a command's own words in the place of kind's error, which has
// only the long command line.
func plainError(err error) error {
	failed, ok := errors.AsType[*exec.RunError](err)
	if !ok || len(failed.Command) == 0 {
		return err
	}
	words := failed.Command[:min(2, len(failed.Command))]
	return &containers.ExitError{
		Command: "kind: " + strings.Join(words, " "), Code: 1, Stderr: reason(string(failed.Output)),
	}
}

// logLine matches a line that a program of Kubernetes logs.
var logLine = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ `)

// reason returns what the output of a command says about its failure. kubeadm logs as much as it can, and prints a
// stack trace behind its error: one that was cut off has only lines of its log, of which none is a reason.
func reason(output string) string {
	var kept []string
	logged := false
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "error execution phase ") {
			text := line
			for _, detail := range lines[i+1:] {
				if !strings.HasPrefix(detail, "\t[ERROR ") {
					break
				}
				text += "; " + strings.TrimSpace(detail)
			}
			return text
		}
		if logLine.MatchString(line) {
			logged = true
		} else if strings.TrimSpace(line) != "" {
			kept = append(kept, line)
		}
	}
	switch {
	case !logged:
		return output
	case len(kept) == 0:
		return "kubeadm was cut off"
	}
	return "kubeadm was cut off after: " + kept[len(kept)-1]
}

// logger shows kind's progress in the engine's.
type logger struct{ p.Logger }

func (l logger) Warn(message string)              { l.Warning(message) }
func (l logger) Warnf(format string, a ...any)    { l.Warningf(format, a...) }
func (l logger) Error(message string)             { l.Warning(message) } // what fails is returned as an error
func (l logger) Errorf(format string, a ...any)   { l.Warningf(format, a...) }
func (l logger) V(level log.Level) log.InfoLogger { return verbose{l.Logger, level == 0} }

type verbose struct {
	p.Logger
	on bool
}

func (v verbose) Enabled() bool { return v.on }

func (v verbose) Info(message string) {
	if text := strings.TrimSpace(message); v.on && text != "" {
		v.InfoStatus(text)
	}
}

func (v verbose) Infof(format string, a ...any) { v.Info(fmt.Sprintf(format, a...)) }
