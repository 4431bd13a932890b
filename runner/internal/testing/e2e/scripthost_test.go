package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// scriptHostName is the name under which the test program is a language host for scripts. scriptProgram is its argument
// that makes it run one, in a process of its own as the programs of other languages.
const (
	scriptHostName = "pulumi-language-script"
	scriptProgram  = "--script"
)

// scriptHost runs the file "script" of a project. Each line is a command: see scriptRun.do.
type scriptHost struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine string
}

func serveScripts(engine string) {
	if os.Args[1] == scriptProgram {
		runScript(os.Args[2:])
		return
	}
	served, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Init: func(registrar *grpc.Server) error {
		pulumirpc.RegisterLanguageRuntimeServer(registrar, scriptHost{engine: engine})
		return nil
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(served.Port)
	<-served.Done
}

// Run implements LanguageRuntimeServer.
func (h scriptHost) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	command := exec.CommandContext(ctx, os.Args[0], scriptProgram, request.GetMonitorAddress(), h.engine, request.GetProject(), request.GetStack(),
		fmt.Sprint(request.GetDryRun()), request.GetConfig()[request.GetProject()+":value"])
	command.Dir, command.Stdout, command.Stderr = request.GetPwd(), os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return &pulumirpc.RunResponse{Error: "the script failed: " + err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

func (scriptHost) InstallDependencies(*pulumirpc.InstallDependenciesRequest, pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	return nil
}

func (scriptHost) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (scriptHost) RuntimeOptionsPrompts(context.Context, *pulumirpc.RuntimeOptionsRequest) (*pulumirpc.RuntimeOptionsResponse, error) {
	return &pulumirpc.RuntimeOptionsResponse{}, nil
}

func (scriptHost) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

// scriptRun is a script that runs.
type scriptRun struct {
	monitor        pulumirpc.ResourceMonitorClient
	engine         pulumirpc.EngineClient
	project, stack string
	preview        bool
	value          string // of the configuration
	root           string // URN of the stack
	outputs        map[string]any
	read           *structpb.Struct // the last stack that was read
}

func runScript(args []string) {
	dial := func(address string) *grpc.ClientConn {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			panic(err)
		}
		return conn
	}
	run := &scriptRun{
		monitor: pulumirpc.NewResourceMonitorClient(dial(args[0])), engine: pulumirpc.NewEngineClient(dial(args[1])),
		project: args[2], stack: args[3], preview: args[4] == "true", value: args[5], outputs: map[string]any{},
	}
	script, err := os.ReadFile("script")
	if err != nil {
		panic(err)
	}
	run.note("started %s %d", run.project, os.Getpid())
	for line := range strings.Lines(string(script)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err := run.do(context.Background(), word, rest); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// common returns the path of a file that all scripts and the test share. It is no part of the programs.
func common(name string) string { return filepath.Join(os.Getenv("SCRIPTS"), name) }

// note appends a line to the common log of all scripts.
func (r *scriptRun) note(format string, args ...any) {
	file, err := os.OpenFile(common("log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	fmt.Fprintf(file, format+"\n", args...)
}

// do carries out a command of a script.
func (r *scriptRun) do(ctx context.Context, word, rest string) error {
	switch word {
	case "", "#":
	case "print":
		fmt.Println(rest)
	case "log":
		_, err := r.engine.Log(ctx, &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_INFO, Message: rest, Urn: r.root})
		return err
	case "touch":
		return os.WriteFile(common(rest), nil, 0o644)
	case "wait": // for a file
		for range 1200 {
			if _, err := os.Stat(common(rest)); err == nil {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		return fmt.Errorf("%s does not come", rest)
	case "write": // FILE TEXT, where FILE is relative to the project if it begins with a dot
		file, text, _ := strings.Cut(rest, " ")
		if strings.HasPrefix(file, ".") {
			return os.WriteFile(file, []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o644)
		}
		return os.WriteFile(common(file), []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o644)
	case "once": // COMMAND: only the first time
		if _, err := os.Stat(common("once-" + r.project)); err == nil {
			return nil
		}
		if err := os.WriteFile(common("once-"+r.project), nil, 0o644); err != nil {
			return err
		}
		word, rest, _ = strings.Cut(rest, " ")
		return r.do(ctx, word, rest)
	case "end":
		os.Exit(0)
	case "crash":
		os.Exit(3)
	case "forever":
		select {}
	case "fail":
		return errors.New(rest)
	case "root":
		return r.registerRoot(ctx)
	case "register":
		_, err := r.monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{Type: "script:index:" + rest, Name: rest, Parent: r.root})
		if err == nil {
			r.note("registered %s %s", r.project, rest)
		}
		return err
	case "read": // PROJECT
		return r.readStack(ctx, rest)
	case "pass": // OUTPUT: what was read, and the value of the configuration
		value := r.read.GetFields()["outputs"].GetStructValue().GetFields()[rest].GetStringValue()
		r.outputs[rest] = value + r.value
	case "export": // OUTPUT
		r.outputs[rest] = r.project + r.value
	case "outputs":
		outputs, err := structpb.NewStruct(r.outputs)
		if err == nil {
			_, err = r.monitor.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: r.root, Outputs: outputs})
		}
		return err
	default:
		return fmt.Errorf("no command %q", word)
	}
	return nil
}

// registerRoot begins as the SDKs do.
func (r *scriptRun) registerRoot(ctx context.Context) error {
	if _, err := r.monitor.GetDeploymentInfo(ctx, &emptypb.Empty{}); err != nil {
		return err
	}
	if _, err := r.monitor.SupportsFeature(ctx, &pulumirpc.SupportsFeatureRequest{Id: "resourceHooks"}); err != nil {
		return err
	}
	registered, err := r.monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{Type: "pulumi:pulumi:Stack", Name: r.project + "-" + r.stack})
	if err != nil {
		return err
	}
	r.root = registered.GetUrn()
	_, err = r.engine.SetRootResource(ctx, &pulumirpc.SetRootResourceRequest{Urn: r.root})
	return err
}

func (r *scriptRun) readStack(ctx context.Context, project string) error {
	name := "organization/" + project + "/" + r.stack
	properties, err := structpb.NewStruct(map[string]any{"name": name})
	if err != nil {
		return err
	}
	answer, err := r.monitor.ReadResource(ctx, &pulumirpc.ReadResourceRequest{
		Type: "pulumi:pulumi:StackReference", Name: name, Id: name, Parent: r.root, Properties: properties,
	})
	if err == nil {
		r.note("read %s %s", r.project, project)
		r.read = answer.GetProperties()
	}
	return err
}
