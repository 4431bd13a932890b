package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/operation"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/journal"
	"mara/runner/internal/plan"
	"mara/runner/internal/session"
)

// selectionOptions say which projects of the plan run.
type selectionOptions struct {
	plan.Selection
	Failed  bool // only what failed in the last run
	Resume  bool // only what the last run has left
	Changed bool // carry on although the configuration has changed
}

// selectionFlags are the flags of plan.Selection.
func selectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "only", Usage: "run these `PROJECTS` only: names, titles or patterns, separated by commas; +NAME adds what it needs, NAME+ what needs it"},
		&cli.StringSliceFlag{Name: "skip", Usage: "leave these `PROJECTS` out"},
		&cli.StringSliceFlag{Name: "from", Usage: "leave out what is listed before the first of these `PROJECTS`"},
		&cli.StringSliceFlag{Name: "until", Usage: "leave out what is listed after the last of these `PROJECTS`"},
	}
}

// resumeFlags choose projects by what became of them in the last run.
func resumeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "failed", Usage: "run only what failed in the last run"},
		&cli.BoolFlag{Name: "resume", Usage: "carry on with the last run: only what failed in it or never ran"},
		&cli.BoolFlag{Name: "resume-changed", Usage: "--resume, also when the configuration has changed since"},
	}
}

func parseSelection(c *cli.Context) (selectionOptions, error) {
	o := selectionOptions{
		Selection: plan.Selection{
			Only: c.StringSlice("only"), Skip: c.StringSlice("skip"), From: c.StringSlice("from"), Until: c.StringSlice("until"),
		},
		Failed:  c.Bool("failed"),
		Changed: c.Bool("resume-changed"),
	}
	o.Resume = c.Bool("resume") || o.Changed
	if o.Failed && o.Resume {
		return o, failure.Usagef(c.Command.Name, "--failed and --resume: choose one; --resume includes what failed")
	}
	return o, nil
}

// words are the flags as they were given, for people to read.
func (o selectionOptions) words() []string {
	var words []string
	for _, flag := range []struct {
		name   string
		values []string
	}{{"--only", o.Only}, {"--skip", o.Skip}, {"--from", o.From}, {"--until", o.Until}} {
		for _, value := range flag.values {
			words = append(words, flag.name+" "+value)
		}
	}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"--failed", o.Failed}, {"--resume", o.Resume}} {
		if flag.on {
			words = append(words, flag.name)
		}
	}
	return words
}

// work is what a run has to do.
type work struct {
	plan    plan.Plan
	resumes string                   // id of the run that it carries on
	limit   time.Duration            // for each project; 0 is none
	limits  map[string]time.Duration // for single projects
	preview event.Summary            // of an up that was shown first
}

// choose is the plan in the order of the operation, without what is not
// selected. It refuses what cannot go well.
func choose(s *session.Session, o operateOptions) (work, error) {
	w := work{plan: s.Plan}
	switch {
	case o.Operation.Destroys():
		w.plan = w.plan.Reverse()
	case o.Operation == operation.Drift:
		w.plan = w.plan.Unordered()
	}
	var err error
	if w.limit, w.limits, err = o.timeouts(s.Plan); err != nil {
		return w, err
	}
	if w.plan, err = plan.Select(w.plan, o.Selection.Selection); err != nil {
		return w, err
	}
	if o.Selection.Failed || o.Selection.Resume {
		if err := limitToRest(s, &w, o); err != nil {
			return w, err
		}
	}
	if o.Operation.ComparesState() {
		return w, nil // they read nothing of one another
	}
	return w, w.plan.CheckExcluded(s.Stacks.IsDeployed)
}

// limitToRest leaves out what the last run has done.
func limitToRest(s *session.Session, w *work, o operateOptions) error {
	rest, err := journal.Resume(s.Folder.Runs(), journal.Query{
		Environment: s.Environment(), Operation: o.Operation, Fingerprint: s.Fingerprint(),
		Changed: o.Selection.Changed || o.Selection.Failed, // what failed is run to see whether a change has helped
	})
	if err != nil {
		return err
	}
	w.resumes = rest.Run.ID
	if o.Selection.Failed {
		w.plan = w.plan.Limit(rest.Failed, "did not fail in run "+rest.Run.ID)
		return nil
	}
	if len(rest.Changes) > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the configuration has changed since run %s: %s", rest.Run.ID, strings.Join(rest.Changes, ", ")))
	}
	w.plan = w.plan.Limit(rest.Unfinished(), "done in run "+rest.Run.ID)
	return nil
}
