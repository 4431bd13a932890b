package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/spf13/cobra"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/about"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/auth"
	cmdbackend "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/backend"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/cancel"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/cmd"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/config"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/install"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/operations"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/org"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/plugin"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/stack"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/state"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/version"
	"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/whoami"
	"github.com/pulumi/pulumi/pkg/v3/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/common/env"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/cmdutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/logging"
)

// execute runs one Pulumi command line and returns its exit code.
func execute(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	ctx := context.Background()
	if err := root.ExecuteContext(ctx); err != nil {
		cmd.DisplayErrorMessage(ctx, err, os.Stderr)
		return cmd.ExitCodeFor(err)
	}
	return 0
}

// newRoot composes Pulumi's commands as its own main does, without the update
// check, tracing and automatic log files. Every command gets a new one, with all
// flags at their defaults.
func newRoot() *cobra.Command {
	var cwd, colour string
	var verbose int
	var logToStderr, logFlow bool
	root := &cobra.Command{
		Use:           "pulumi",
		Short:         "Pulumi command line, embedded in mara",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := cmdutil.SetGlobalColorization(colour); err != nil {
				return err
			}
			if cwd != "" {
				if err := os.Chdir(cwd); err != nil {
					return err
				}
			}
			logging.InitLogging(logToStderr, verbose, logFlow)
			// The blob drivers of state backends use package log on stdout.
			log.SetOutput(io.Discard)
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&cwd, "cwd", "C", "", "run as if started in another directory")
	flags.StringVar(&colour, "color", "auto", "colorize output: always, never, raw, auto")
	flags.IntVarP(&verbose, "verbose", "v", 0, "verbose logging (above 3 is very verbose)")
	flags.BoolVar(&logToStderr, "logtostderr", false, "log to stderr instead of to files")
	flags.BoolVar(&logFlow, "logflow", false, "pass log settings to plugins")
	flags.BoolVarP(&cmdutil.Emoji, "emoji", "e", false, "emojis in the output")
	flags.BoolVarP(&cmdutil.FullyQualifyStackNames, "fully-qualify-stack-names", "Q", false,
		"show fully qualified stack names")
	flags.BoolVar(&cmdutil.DisableInteractive, "non-interactive", false, "never prompt")
	flags.BoolVar(&backend.DisableIntegrityChecking, "disable-integrity-checking", false,
		"skip integrity checks of checkpoints")
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(commands()...)
	return root
}

func commands() []*cobra.Command {
	ws, logins := workspace.Instance, cmdbackend.DefaultLoginManager
	return []*cobra.Command{
		operations.NewUpCmd(),
		operations.NewPreviewCmd(),
		operations.NewRefreshCmd(),
		operations.NewDestroyCmd(),
		operations.NewImportCmd(),
		cancel.NewCancelCmd(ws),
		config.NewConfigCmd(ws),
		install.NewInstallCmd(ws),
		stack.NewStackCmd(),
		state.NewStateCmd(),
		plugin.NewPluginCmd(),
		auth.NewLoginCmd(ws, logins, env.Global()),
		auth.NewLogoutCmd(ws),
		whoami.NewWhoAmICmd(ws, logins),
		org.NewOrgCmd(),
		about.NewAboutCmd(ws),
		version.NewVersionCmd(),
		objectsCommand(),
		serviceCommand(),
	}
}
