// Command pulumi-language-mara is the language host of the built-in programs:
// it runs the projects whose Pulumi.yaml says `runtime: mara`. Nothing is
// compiled for that, for all programs are linked in.
//
// Pulumi starts one for each command and reads its port from its standard
// output. The runner starts one for a whole run and has all engines attach to it
// (see package wire).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3"

	"mara/projects/internal/languagehost"
	"mara/projects/loopback"
	"mara/projects/model/wire"
	"mara/projects/programs"
)

// gcPercent is how much the heap may grow before a collection: programs run for
// moments and leave little behind.
const gcPercent = 400

func main() {
	loopback.Guard()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-language-mara: %v\n", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	runner   bool
	cloud    bool
	root     string
	provider string
}

// parse also returns the address of the engine, which a runner does not give.
func parse(args []string) (o options, engine string, err error) {
	flags := languagehost.Flags("pulumi-language-mara")
	flags.BoolVar(&o.runner, wire.RunnerFlag, false, "serve a runner until standard input ends")
	flags.BoolVar(&o.cloud, wire.CloudFlag, false, "answer a question about a cloud, read from standard input")
	flags.StringVar(&o.root, wire.RootFlag, "", "directory where relative paths in the configuration start")
	flags.StringVar(&o.provider, wire.ProviderFlag, "", "provider, where the configuration does not name it")
	if err := flags.Parse(args); err != nil {
		return o, "", err
	}
	if flags.NArg() == 0 && !o.runner && !o.cloud {
		return o, "", languagehost.ErrNoEngine
	}
	return o, flags.Arg(0), nil
}

func run(args []string) error {
	o, engine, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.cloud {
		return answer(context.Background(), programs.Clients(), os.Environ(), os.Stdin, os.Stdout)
	}
	h := &host{Host: languagehost.Host{Engine: engine}, options: o, find: programs.ByName}
	if o.runner {
		stdout := os.Stdout
		os.Stdout = os.Stderr // of programs, which must not talk in between
		return serveRunner(h, os.Stdin, stdout)
	}
	return languagehost.ServeEngine(engine, h)
}

// serveRunner serves all engines of a runner until that is gone.
func serveRunner(h *host, stdin io.Reader, stdout io.Writer) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		stop()
	}()
	var mu sync.Mutex // guards encoder
	encoder := json.NewEncoder(stdout)
	h.ran = func(ran wire.Ran) {
		mu.Lock()
		defer mu.Unlock()
		_ = encoder.Encode(ran) // a runner that is gone wants to know nothing
	}
	served, err := languagehost.Serve(ctx, h)
	if err != nil {
		return err
	}
	hello := wire.Hello{Protocol: wire.Version, Pulumi: sdk.Version.String(), Port: served.Port}
	if err := encoder.Encode(hello); err != nil {
		return err
	}
	return <-served.Done
}
