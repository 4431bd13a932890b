package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/constant"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/projects/internal/languagehost"
)

// host runs programs, each in a process of its own.
type host struct {
	languagehost.Host
	builder builder
}

// Run builds the program, if needed, and runs it once.
func (h *host) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	program, err := h.program(ctx, request.GetInfo())
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	variables, err := h.variables(ctx, request)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program)
	command.Dir = request.GetPwd()
	command.Env = append(os.Environ(), variables...)
	var words lastWords
	command.Stdout, command.Stderr = os.Stdout, io.MultiWriter(os.Stderr, &words)
	return answer(command.Run(), words.panic), nil
}

// answer reports how a program has ended. A program that has reported its error to the engine
// gets no second one.
func answer(err error, panicked string) *pulumirpc.RunResponse {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}
	case errors.As(err, &exit) && exit.ExitCode() == constant.ExitStatusLoggedError:
		return &pulumirpc.RunResponse{Bail: true}
	case panicked != "":
		return &pulumirpc.RunResponse{Error: "the program panicked: " + panicked}
	}
	return &pulumirpc.RunResponse{Error: "the program ended with " + err.Error()}
}

// lastWords extracts the reason of a panic from a program's stderr.
type lastWords struct {
	line  []byte // incomplete
	panic string
}

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			if len(w.line) < maxLine {
				w.line = append(w.line, b)
			}
			continue
		}
		if text, ok := strings.CutPrefix(string(w.line), "panic: "); ok && w.panic == "" {
			w.panic = text
		}
		w.line = w.line[:0]
	}
	return len(p), nil
}

// maxLine bounds the length of a line; the rest is dropped.
const maxLine = 1024

// program returns the path of the built program.
func (h *host) program(ctx context.Context, info *pulumirpc.ProgramInfo) (string, error) {
	option, given := info.GetOptions().AsMap()["binary"]
	if !given {
		return h.builder.build(ctx, filepath.Join(info.GetProgramDirectory(), info.GetEntryPoint()))
	}
	binary, ok := option.(string)
	if !ok || binary == "" {
		return "", errors.New("the option binary in Pulumi.yaml is the path of a built program")
	}
	if !filepath.IsAbs(binary) {
		binary = filepath.Join(info.GetProgramDirectory(), binary)
	}
	if _, err := os.Stat(binary); err != nil {
		return "", fmt.Errorf("the option binary in Pulumi.yaml: %w", err)
	}
	return binary, nil
}

// variables returns the environment variables that Pulumi's SDK for Go reads.
func (h *host) variables(ctx context.Context, request *pulumirpc.RunRequest) ([]string, error) {
	config, err := json.Marshal(request.GetConfig())
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(request.GetConfigSecretKeys())
	if err != nil {
		return nil, err
	}
	return []string{
		pulumi.EnvOrganization + "=" + request.GetOrganization(),
		pulumi.EnvProject + "=" + request.GetProject(),
		pulumi.EnvPulumiRootDirectory + "=" + request.GetInfo().GetRootDirectory(),
		pulumi.EnvStack + "=" + request.GetStack(),
		pulumi.EnvConfig + "=" + string(config),
		pulumi.EnvConfigSecretKeys + "=" + string(secretKeys),
		pulumi.EnvParallel + "=" + strconv.Itoa(int(request.GetParallel())),
		pulumi.EnvDryRun + "=" + strconv.FormatBool(request.GetDryRun()),
		pulumi.EnvMonitor + "=" + request.GetMonitorAddress(),
		pulumi.EnvEngine + "=" + h.EngineOf(ctx),
	}, nil
}

// InstallDependencies implements the language host: it downloads modules.
func (h *host) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest, answers pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	if _, given := request.GetInfo().GetOptions().AsMap()["binary"]; given {
		return nil
	}
	command := exec.CommandContext(answers.Context(), "go", "mod", "download")
	command.Dir = request.GetInfo().GetProgramDirectory()
	output := writer(func(p []byte) error {
		return answers.Send(&pulumirpc.InstallDependenciesResponse{Stderr: bytes.Clone(p)})
	})
	command.Stdout, command.Stderr = output, output
	if err := command.Run(); err != nil {
		return fmt.Errorf("downloading the modules of %s: %w", command.Dir, err)
	}
	return nil
}

// writer is an io.Writer made of a function.
type writer func([]byte) error

var _ io.Writer = writer(nil)

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	if err := w(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
