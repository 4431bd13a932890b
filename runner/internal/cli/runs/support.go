package runs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Support returns `runner support`.
func Support(d cmd.Deps, run cmd.RunFunc) *cli.Command {
	return &cli.Command{
		Name: "support", Usage: "create a support bundle",
		Description: "Writes an archive with versions, the results of doctor, the names of configured keys (no " +
			"values), and the events and logs of the last runs. It contains no secrets: runs mask them before they " +
			"write anything, outputs are not included, and values of environment variables for tokens, keys and " +
			"passwords are masked once more. It does contain names of projects, hosts and users: look through it " +
			"before you send it. The runner sends nothing.\n\n" +
			"Examples:\n  runner support -s dev\n  runner support --runs 1 --file /tmp/bundle.tar.gz\n" +
			"  runner support -s dev --simulate\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringFlag{Name: "file", Usage: "write the archive to `FILE`", DefaultText: "runner-support-TIME.tar.gz"},
				&cli.IntFlag{Name: "runs", Value: 3, Usage: "include the last `N` runs"},
			},
			cmd.OutputFlag("text", "json"), flags(),
			[]cli.Flag{&cli.StringFlag{Name: "provider", Aliases: []string{"p"}, Category: cmd.CommonCategory,
				Usage: "use the provider `NAME`"}},
			cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseSupport, func(ctx context.Context, d cmd.Deps, o supportOptions) error {
			return runSupport(ctx, d, o, run)
		}),
	}
}

type supportOptions struct {
	options
	File string
	Runs int
}

func parseSupport(c *cli.Context, d cmd.Deps, common cmd.Common) (supportOptions, error) {
	runs, err := parse(c, d, common)
	o := supportOptions{options: runs, File: c.String("file"), Runs: c.Int("runs")}
	switch {
	case err != nil:
		return o, err
	case o.Runs < 0:
		return o, failure.Usagef("support", "--runs: %d is negative", o.Runs)
	case o.File == "":
		o.File = "runner-support-" + d.Now().UTC().Format("20060102-150405") + ".tar.gz"
	}
	o.File = d.Absolute(o.File)
	return o, nil
}

type supportDocument struct {
	File     string   `json:"file"`
	Contents []string `json:"contents"`
}

func runSupport(ctx context.Context, d cmd.Deps, o supportOptions, run cmd.RunFunc) error {
	files, err := o.collect(ctx, d, run)
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	content, err := pack(strings.TrimSuffix(filepath.Base(o.File), ".tar.gz"), files, d)
	if err != nil {
		return err
	}
	if err := atomicfile.Create(o.File, content, 0o600); err != nil {
		return &failure.Environment{Text: err.Error(), Next: "name another file with --file"}
	}
	document := supportDocument{o.File, lists.Map(files, func(file packed) string { return file.name })}
	return o.Show(d, document, fmt.Sprintf("%s\nwrote %s (%s); review it before you share it\n",
		strings.Join(document.Contents, "\n"), o.File, typeset.Counted(len(files), "file")))
}

type packed struct {
	name    string
	content []byte
}

// collect returns the files of the bundle, with secrets of the environment masked.
func (o supportOptions) collect(ctx context.Context, d cmd.Deps, run cmd.RunFunc) ([]packed, error) {
	versions, err := json.MarshalIndent(map[string]string{
		"runner": d.Version, "pulumi": d.PulumiVersion, "go": runtime.Version(), "system": runtime.GOOS,
		"processor": runtime.GOARCH,
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	files := []packed{
		{"versions.json", versions},
		{"doctor.json", o.ask(ctx, d, run, "doctor", "-o", "json")},
		{"configuration.json", onlyNames(o.ask(ctx, d, run, "config", "list", "--all", "-o", "json"))},
	}
	past, err := o.pastRuns()
	if err != nil {
		return nil, err
	}
	files = append(files, past...)
	masker := event.NewMasker(event.PossibleSecretsOf(o.Sources.File.Merge(o.Sources.Process))...)
	for i := range files {
		files[i].content = []byte(masker.Mask(string(files[i].content)))
	}
	return files, nil
}

// ask runs a command of the runner on the same environment, and returns its stdout, or
// stderr if there is none.
func (o supportOptions) ask(ctx context.Context, d cmd.Deps, run cmd.RunFunc, args ...string) []byte {
	var stdout, stderr bytes.Buffer
	d.Stdout, d.Stderr, d.StdoutIsTerminal, d.StderrIsTerminal = &stdout, &stderr, false, false
	args = append(args, "--root", o.Root)
	if o.Stack.IsSet() {
		args = append(args, "-s", o.Stack.Text)
	}
	if o.Provider.IsSet() {
		args = append(args, "-p", o.Provider.Text)
	}
	if o.Simulation.On && args[0] == "doctor" {
		args = append(args, "--simulate")
	}
	run(ctx, d, args)
	if stdout.Len() == 0 {
		return stderr.Bytes()
	}
	return stdout.Bytes()
}

// onlyNames removes the values from listed configuration. It returns text that is not
// JSON, an error message, unchanged.
func onlyNames(listed []byte) []byte {
	var values []map[string]any
	if json.Unmarshal(listed, &values) != nil {
		return listed
	}
	for _, value := range values {
		delete(value, "value")
	}
	text, _ := json.MarshalIndent(values, "", "  ") // no error: the values came from JSON
	return text
}

// pack makes the archive, with all files in one directory.
func pack(dir string, files []packed, d cmd.Deps) ([]byte, error) {
	var content bytes.Buffer
	compressed := gzip.NewWriter(&content)
	archive := tar.NewWriter(compressed)
	for _, file := range files {
		header := &tar.Header{Name: dir + "/" + file.name, Mode: 0o600, Size: int64(len(file.content)), ModTime: d.Now()}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(file.content); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), compressed.Close())
	return content.Bytes(), err
}

// pastRuns reads the files of the last runs, without outputs and the HTML report, which
// shows them: outputs may be confidential.
func (o supportOptions) pastRuns() ([]packed, error) {
	all, err := journal.List(o.Directory)
	if err != nil {
		return nil, err
	}
	var found []packed
	dir := os.DirFS(o.Directory)
	for _, run := range all[:min(o.Runs, len(all))] {
		logs, err := fs.Glob(dir, run.ID+"/logs/*.log")
		if err != nil {
			return nil, err
		}
		for _, name := range append([]string{run.ID + "/meta.json", run.ID + "/summary.json", run.ID + "/events.ndjson"},
			logs...) {
			content, err := files.Read(filepath.Join(o.Directory, name), files.Data)
			if errors.Is(err, fs.ErrNotExist) {
				continue // the run was interrupted, or still runs
			}
			if err != nil {
				return nil, err
			}
			found = append(found, packed{"runs/" + name, content})
		}
	}
	return found, nil
}
