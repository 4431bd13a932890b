package simulated

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/blang/semver"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"mara/config/files"
	"mara/runner/internal/core/packages"
	"mara/runner/internal/machine/process"
)

// patience is how long a plugin may take to tell its schema. Those of large
// clouds are some 100 MB.
const patience = time.Minute

// lastWords is how long a plugin that has closed its output may take to end.
const lastWords = time.Second

// maxMessage is the size of a message that Pulumi accepts.
const maxMessage = 400 << 20

// plugin finds the plugin of a package: in the directory that the project names,
// else the version that it names, else the newest one.
func (f finder) plugin(u packages.Used) (path string, ok bool) {
	program := "pulumi-resource-" + u.Name
	if u.Directory != "" {
		return isFile(filepath.Join(u.Directory, program))
	}
	plugins := filepath.Join(f.Home, "plugins")
	start := filepath.Join(plugins, "resource-"+u.Name+"-v")
	if path, ok := isFile(filepath.Join(start+u.Version, program)); ok && u.Version != "" {
		return path, true
	}
	newest := semver.Version{}
	directories, _ := files.Glob(plugins, "resource-"+u.Name+"-v*")
	for _, directory := range directories {
		version, err := semver.Parse(strings.TrimPrefix(directory, start))
		if found, is := isFile(filepath.Join(directory, program)); is && err == nil && (path == "" || version.GT(newest)) {
			path, newest = found, version
		}
	}
	return path, path != ""
}

func isFile(path string) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular()
}

// askPlugin starts a plugin, asks for its schema and ends it.
func askPlugin(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var stderr process.Output
	plugin := exec.CommandContext(ctx, path)
	plugin.Stderr = &stderr
	process.OwnGroup(plugin) // a Ctrl-C ends it by way of ctx
	plugin.WaitDelay = time.Second
	stdout, err := plugin.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := plugin.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		time.AfterFunc(lastWords, cancel)
		_ = plugin.Wait() // what it says of itself is complete then
		return nil, fmt.Errorf("it does not serve: %w%s", err, stderr.Note())
	}
	defer func() { cancel(); _ = plugin.Wait() }()
	port, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("it does not say where it serves, but %q", strings.TrimSpace(line))
	}
	return askServer(ctx, fmt.Sprintf("127.0.0.1:%d", port))
}

func askServer(ctx context.Context, address string) ([]byte, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	client := pulumirpc.NewResourceProviderClient(conn)
	said, err := client.GetSchema(ctx, &pulumirpc.GetSchemaRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return nil, err
	}
	return []byte(said.GetSchema()), nil
}
