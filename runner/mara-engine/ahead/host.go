package ahead

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"mara/runner/internal/machine/process"
)

// host is a language host that this process has started, as an engine does.
type host struct {
	pulumirpc.LanguageRuntimeClient
	conn    *grpc.ClientConn
	process *exec.Cmd
	stdin   io.Closer
	output  sync.WaitGroup // of the readers of its output
	end     func()
}

// startHost starts the language host at path for an engine. What it and its programs print goes to say, by lines.
func startHost(ctx context.Context, path, dir, engine string, say func(line string)) (*host, error) {
	h := &host{process: exec.Command(path, engine)}
	h.process.Dir = dir
	process.OwnGroup(h.process)
	stdout, err := h.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := h.process.StderrPipe()
	if err != nil {
		return nil, err
	}
	if h.stdin, err = h.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := h.process.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	h.end = sync.OnceFunc(func() {
		if h.conn != nil {
			_ = h.conn.Close()
		}
		process.Kill(h.process.Process.Pid)
		h.output.Wait()
		_ = h.process.Wait() // it was killed
	})
	defer context.AfterFunc(ctx, func() { process.Kill(h.process.Process.Pid) })()
	h.output.Go(func() { sayLines(bufio.NewReader(stderr), say) })
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	h.output.Go(func() { sayLines(lines, say) })
	port := 0
	if err == nil {
		port, err = strconv.Atoi(strings.TrimSpace(first))
	}
	if err == nil {
		h.conn, err = dial(fmt.Sprintf("127.0.0.1:%d", port))
	}
	if err != nil {
		h.end()
		return nil, fmt.Errorf("%s does not serve: %w", path, err)
	}
	h.LanguageRuntimeClient = pulumirpc.NewLanguageRuntimeClient(h.conn)
	return h, nil
}

// sayLines passes on what comes, with the ends of its lines, as an engine does.
func sayLines(from *bufio.Reader, say func(line string)) {
	for {
		line, err := from.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			say(line)
		}
		if err != nil {
			return
		}
	}
}
