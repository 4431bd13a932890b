package languagehost

import (
	"errors"
	"flag"
	"fmt"
	"os"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/projects/loopback"
)

// Main runs a host that Pulumi starts.
func Main(name string, newHost func(Host) (pulumirpc.LanguageRuntimeServer, error)) {
	loopback.Guard()
	if err := run(name, os.Args[1:], newHost); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func run(name string, args []string, newHost func(Host) (pulumirpc.LanguageRuntimeServer, error)) error {
	flags := Flags(name)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case flags.NArg() == 0:
		return ErrNoEngine
	}
	engine := flags.Arg(0)
	server, err := newHost(Host{Engine: engine})
	if err != nil {
		return err
	}
	return ServeEngine(engine, server)
}
