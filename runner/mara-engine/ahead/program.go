package ahead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	pkgworkspace "github.com/pulumi/pulumi/pkg/v3/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	"github.com/pulumi/pulumi/sdk/v3/go/common/env"
	"github.com/pulumi/pulumi/sdk/v3/go/common/esc"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/spf13/pflag"

	"mara/runner/internal/core/pulumicli/wire"
)

// program is what is to be started.
type program struct {
	runtime string
	host    string // path of its language host
	run     *pulumirpc.RunRequest
}

// command is what the arguments of a command say about the program that it runs.
type command struct {
	preview      bool
	stack        string
	stackFile    string
	parallel     int32
	isValidated  bool
	organization string
}

// readArguments reads the arguments of a preview or an up.
func readArguments(args []string) (c command, err error) {
	flags := pflag.NewFlagSet("ahead", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.StringVarP(&c.stack, "stack", "s", "", "")
	flags.StringVar(&c.stackFile, "config-file", "", "")
	flags.Int32VarP(&c.parallel, "parallel", "p", defaultParallel(), "")
	skips := flags.Bool("skip-config-validation", false, "")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	c.isValidated = !*skips
	c.preview = slices.Contains(args, "preview")
	parts := strings.Split(c.stack, "/")
	if c.preview == slices.Contains(args, "up") || len(parts) != 3 || c.stackFile == "" {
		return c, errors.New("this command runs no program that can be started ahead")
	}
	c.organization, c.stack = parts[0], parts[2]
	return c, nil
}

// defaultParallel is how many resources Pulumi works on at once if it is not told.
func defaultParallel() int32 {
	return int32(cmp.Or(max(env.Parallel.Value(), 0), runtime.GOMAXPROCS(0)*4)) //nolint:gosec // a small number
}

// runtimes are the names that can be written into the variable by which an engine attaches to a language host.
var runtimes = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// errAttached is the error of a runtime whose language host somebody else has started.
var errAttached = errors.New("its language host is attached to, or watched")

// errImports is the error of a stack whose configuration comes from elsewhere.
var errImports = errors.New("its configuration is that of an environment of Pulumi ESC")

// prepare computes what the engine will ask of the language host, in the directory and with the environment of this
// process.
func prepare(ctx context.Context, request wire.Ahead) (*program, error) {
	c, err := readArguments(request.Args)
	if err != nil {
		return nil, err
	}
	project, root, err := pkgworkspace.Instance.ReadProject("")
	if err != nil {
		return nil, err
	}
	p := &program{runtime: project.Runtime.Name()}
	if !runtimes.MatchString(p.runtime) || project.Plugins != nil && len(project.Plugins.Languages) > 0 {
		return nil, fmt.Errorf("its language host is not one of Pulumi's: %q", p.runtime)
	}
	sink := diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never})
	p.host, err = workspace.GetPluginPath(ctx, sink, workspace.PluginDescriptor{Name: p.runtime, Kind: apitype.LanguagePlugin}, nil)
	if err != nil {
		return nil, err
	}
	values, secretKeys, err := c.configuration(ctx, sink, project, request.Keys)
	if err != nil {
		return nil, err
	}
	about := &engine.Projinfo{Proj: project, Root: root}
	pwd, entry, err := about.GetPwdMain()
	if err != nil {
		return nil, err
	}
	info, err := plugin.NewProgramInfo(about.Root, pwd, entry, project.Runtime.Options()).Marshal()
	if err != nil {
		return nil, err
	}
	p.run = &pulumirpc.RunRequest{
		Project: string(project.Name), Stack: c.stack, Organization: c.organization, Pwd: pwd, Program: entry,
		Config: values, ConfigSecretKeys: secretKeys, DryRun: c.preview, Parallel: c.parallel, Info: info,
	}
	return p, nil
}

// configuration returns the values of the stack's configuration in the clear, and the names of the secret ones.
func (c command) configuration(ctx context.Context, sink diag.Sink, project *workspace.Project, keys []wire.Key) (
	values map[string]string, secretKeys []string, err error) {
	stack, err := workspace.LoadProjectStack(sink, project, c.stackFile)
	if err != nil {
		return nil, nil, err
	}
	if stack.Environment != nil && len(stack.Environment.Imports()) > 0 {
		return nil, nil, errImports
	}
	crypter := config.Crypter(config.NewErrorCrypter("its secrets are encrypted with a key that is not known"))
	for _, key := range keys {
		if key.Salt == stack.EncryptionSalt && (stack.SecretsProvider == "" || stack.SecretsProvider == "passphrase") {
			crypter = config.NewSymmetricCrypter(key.Raw)
		}
	}
	apply := pkgworkspace.ApplyProjectConfig
	if c.isValidated {
		apply = pkgworkspace.ValidateStackConfigAndApplyProjectConfig
	}
	if err := apply(ctx, c.stack, project, esc.Value{}, stack.Config, crypter, crypter); err != nil {
		return nil, nil, err
	}
	clear, err := stack.Config.Decrypt(crypter)
	if err != nil {
		return nil, nil, err
	}
	values = map[string]string{}
	for key, value := range clear {
		values[key.String()] = value
	}
	for _, key := range stack.Config.SecureKeys() {
		secretKeys = append(secretKeys, key.String())
	}
	return values, secretKeys, nil
}

// isAttached reports whether the engine would attach to another language host of the runtime.
func (p *program) isAttached() bool {
	port, err := plugin.GetLanguageAttachPort(p.runtime)
	return port != nil || err != nil || os.Getenv("PULUMI_DEBUG_GRPC") != ""
}
