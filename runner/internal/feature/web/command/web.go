// Package command has the command `runner web`.
package command

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/access"
	"mara/runner/internal/feature/web/child"
	"mara/runner/internal/feature/web/feed"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/feature/web/pages"
	"mara/runner/internal/machine/failure"
)

// Command returns `runner web`.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "web", Usage: "show all environments and runs in the browser",
		Description: "Serves pages on this machine, and opens them in the browser: all environments with their states,\n" +
			"what runs now, past runs with logs, resources, configuration, queries and comparisons. They follow\n" +
			"runs of other terminals, too. The pages read and never change anything; what one may do next is shown\n" +
			"as a command to copy. The address works once and for one browser. Beyond this machine, --listen needs\n" +
			"--token-file; it speaks HTTP without TLS, so put a proxy with TLS before it. Ctrl-C ends it.\n\n" +
			"--export serves nothing: it writes the same pages as files, for CI to publish, into a directory that it\n" +
			"replaces in one step. A directory with files that this command did not write is an error.\n\n" +
			"Examples:\n  runner web\n  runner web --simulate --no-open\n" +
			"  runner web --listen 10.0.0.5:8080 --token-file token --allowed-host mara.example.com\n" +
			"  runner web --export public --days 30\n\n" +
			cmd.ExitText(cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "no-open", Usage: "print the address, and open no browser"},
				&cli.StringFlag{Name: "listen", Usage: "listen on `ADDRESS`, an IP address with a port",
					Value: access.Usual},
				&cli.StringFlag{Name: "token-file",
					Usage: "let everyone in who has the token in `FILE`, any number of times"},
				&cli.StringSliceFlag{Name: "allowed-host",
					Usage: "also answer to `HOST`, the name and port of a proxy; may be repeated"},
				&cli.StringFlag{Name: "metrics-token-file",
					Usage: "serve /metrics to everyone who sends the token in `FILE` as a bearer"},
				&cli.StringFlag{Name: "export", Usage: "write the pages as files into the directory `DIR` and end"},
				&cli.IntFlag{Name: "days", Value: usualDays, Usage: "with --export, write the runs of the last `N` days"},
				&cli.BoolFlag{Name: "with-people", Usage: "with --export, write who ran what, and on which host"},
				cmd.SimulateFlag("show the simulated environments"),
			},
			cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parse, run),
	}
}

type options struct {
	cmd.Common
	NoOpen  bool
	Address netip.AddrPort
	Guard   access.Options
	Export  exportOptions
}

func parse(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	o := options{Common: common, NoOpen: c.Bool("no-open")}
	if o.Root == "" {
		return o, o.NoRoot
	}
	if c.IsSet("export") {
		return o, o.parseExport(c, d)
	}
	for _, flag := range []string{"days", "with-people"} {
		if c.IsSet(flag) {
			return o, failure.Usagef("web", "--%s: it is for --export DIR", flag)
		}
	}
	var err error
	if o.Address, err = access.ParseAddress(c.String("listen")); err != nil {
		return o, failure.Usagef("web", "--listen: %v", err)
	}
	o.Guard.Allowed = c.StringSlice("allowed-host")
	o.Guard.Token = access.NewToken()
	for flag, to := range map[string]*string{"token-file": &o.Guard.Token, "metrics-token-file": &o.Guard.Metrics} {
		if path := c.String(flag); path != "" {
			if *to, err = access.ReadToken(path); err != nil {
				return o, failure.Usagef("web", "--%s: %v", flag, err)
			}
		}
	}
	o.Guard.Lasting = c.String("token-file") != ""
	switch isLocal := o.Address.Addr().IsLoopback(); {
	case !isLocal && !o.Guard.Lasting:
		return o, failure.Usagef("web", "--listen %s: others can reach this address; --token-file has to "+
			"name a file with a token", o.Address)
	case o.Address.Addr().IsUnspecified() && len(o.Guard.Allowed) == 0:
		return o, failure.Usagef("web", "--listen %s: --allowed-host has to say by which names the page is reached",
			o.Address)
	}
	return o, nil
}

func run(ctx context.Context, d cmd.Deps, o options) (err error) {
	if o.Export.Dir != "" {
		return runExport(ctx, d, o)
	}
	command, err := child.Self(o.Options)
	if err != nil {
		return err
	}
	reader := view.NewReader(d.Deps, o.Options)
	defer func() { err = errors.Join(err, reader.Close()) }()
	listener, err := net.Listen("tcp", o.Address.String())
	if err != nil {
		return &failure.Environment{Text: err.Error(),
			Next: "choose another port with --listen; 0 takes any that is free"}
	}
	o.Guard.Address, err = netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	stop := make(chan struct{})
	watcher := feed.NewWatcher(reader)
	guard := access.New(o.Guard, nil)
	shown, err := pages.New(pages.Options{
		Site:    page.Site{Reader: reader, Child: child.New(command), Version: d.Version},
		Watcher: watcher, Stop: stop, Cookie: guard.Cookie()})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := newServer(access.New(o.Guard, shown))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	work.Go(func() { watcher.Run(ctx) })
	work.Go(func() {
		<-ctx.Done()
		close(stop) // or the open pages would keep it
		const patience = 3 * time.Second
		last, done := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer done()
		_ = server.Shutdown(last) // what does not end by then is cut off
		_ = server.Close()
	})
	watcher.Visit() // a visitor comes soon
	forget := o.announce(ctx, d)
	defer forget()
	err = server.Serve(listener)
	isOver := ctx.Err() != nil
	cancel()
	work.Wait()
	if isOver && errors.Is(err, http.ErrServerClosed) {
		return cmd.Exit(cmd.ExitInterrupted) // Ctrl-C ends it; that needs no message
	}
	return err
}

// newServer returns a server that waits for no client for long.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 32 << 10}
}

// announce prints the address and opens it. The function that it returns removes the file for that.
func (o options) announce(ctx context.Context, d cmd.Deps) (forget func()) {
	address := "http://" + o.Guard.Address.String() + "/"
	first := address + "?token=" + o.Guard.Token
	if !o.Guard.Address.Addr().IsLoopback() {
		fmt.Fprintf(d.Stderr, "warning: %s can be reached from other machines, without TLS; everyone who has the token "+
			"can read everything here\n", address)
	}
	if o.Output == "json" {
		if o.Guard.Lasting {
			first = address
		}
		_ = cmd.WriteJSONLine(d.Stdout, map[string]string{"address": first}) // its reader may be gone
		return func() {}
	}
	if o.Guard.Lasting {
		fmt.Fprintf(d.Stdout, "%s?token=…, with the token of --token-file; Ctrl-C ends it\n", address)
		return func() {}
	}
	fmt.Fprintf(d.Stdout, "%s\nThe address works once, in one browser. Ctrl-C ends it.\n", first)
	if o.NoOpen || !d.StdoutIsTerminal {
		return func() {}
	}
	forget, err := openBrowser(ctx, first)
	if err != nil {
		fmt.Fprintf(d.Stderr, "note: no browser could be opened (%v); open the address yourself\n", err)
	}
	return forget
}

// openBrowser opens an address through a file that only the user can read: others on the machine can read the
// arguments of a process.
func openBrowser(ctx context.Context, address string) (forget func(), err error) {
	dir, err := os.MkdirTemp("", "runner-web-")
	if err != nil {
		return func() {}, err
	}
	forget = func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "open.html")
	text := html.EscapeString(address)
	page := `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=` + text +
		`"><a href="` + text + `">runner web</a>` + "\n"
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return forget, err
	}
	program := strings.Fields(opener())
	child := exec.CommandContext(ctx, program[0], append(program[1:], file)...)
	if err := child.Start(); err != nil {
		return forget, err
	}
	go func() { _ = child.Wait() }() // it may stay as long as the browser
	return forget, nil
}

// opener returns the program that opens a file in the browser, with its first arguments.
func opener() string {
	switch runtime.GOOS {
	case "darwin":
		return "open"
	case "windows":
		return "rundll32 url.dll,FileProtocolHandler"
	}
	return "xdg-open"
}
