package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/schemas"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/interrupt"
)

// The interval and number of checks for resources left in the cloud: deletions may
// take a while there.
const (
	askEvery = 20 * time.Second
	askTimes = 9
)

// listRemaining asks the cloud which resources of the environment are left.
func (t *trial) listRemaining(ctx context.Context) ([]string, error) {
	if t.Simulation.On {
		return nil, errors.New("the trial was simulated")
	}
	if !t.deployed() {
		return nil, errors.New("nothing was deployed")
	}
	client, err := t.client(ctx)
	if err != nil {
		return nil, err
	}
	inventory, ok := client.(cloud.Inventory)
	if !ok {
		return nil, fmt.Errorf("%s cannot list resources", t.Provider.Title)
	}
	return t.waitForNone(ctx, inventory)
}

// waitForNone asks a cloud until nothing is left, also if it is in trouble or throttles.
func (t *trial) waitForNone(ctx context.Context, inventory cloud.Inventory) ([]string, error) {
	for attempt := 1; ; attempt++ {
		left, err := inventory.Remains(ctx, stack)
		answer, isAnswer := errors.AsType[*cloud.Error](err)
		if attempt == askTimes || err == nil && len(left) == 0 || err != nil && (!isAnswer || !answer.Unsure) {
			return left, err
		}
		trouble := fmt.Sprintf("%s still has %s", t.Provider.Title, strings.Join(left, ", "))
		if err != nil {
			trouble = err.Error()
		}
		fmt.Fprintf(t.d.Stdout, "%s; checking again\n", trouble)
		if err := interrupt.Sleep(ctx, askEvery); err != nil {
			return left, err
		}
	}
}

func (t *trial) client(ctx context.Context) (cloud.Client, error) {
	env, err := config.ReadEnvironment(t.dir)
	if err != nil {
		return nil, err
	}
	file, err := config.ReadStack(t.dir, stack)
	if err != nil {
		return nil, err
	}
	if t.d.CloudClients == nil {
		return nil, fmt.Errorf("%s cannot list resources", t.Provider.Title)
	}
	access := cloud.AccessTo(t.Provider, env.Merge(t.d.Environ), func(key string) string { return file.Text(key).Text })
	return t.d.CloudClients(ctx, t.Provider.Name, access)
}

// verdict returns a sentence about the result.
func (t *trial) verdict() string {
	mark := ""
	if t.Simulation.On {
		mark = "SIMULATED: "
	}
	if problems := t.problems(); len(problems) > 0 {
		return mark + "The trial failed: " + strings.Join(problems, "; ") + "."
	}
	return mark + "The trial succeeded."
}

// leftovers returns a sentence about resources left in the cloud.
func (t *trial) leftovers() string {
	switch {
	case t.asked != nil:
		return fmt.Sprintf("The cloud was not checked for leftovers: %v.", t.asked)
	case len(t.left) > 0:
		return "Left in the cloud: " + strings.Join(t.left, ", ") + "."
	}
	return "The cloud was checked: nothing is left."
}

// markdown returns the report. It names no account.
func (t *trial) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\n%s %s\n\n", t.Provider.Title, t.began.UTC().Format("2006-01-02"), t.verdict(),
		t.leftovers())
	fmt.Fprintf(&b, "runner %s, Pulumi %s, %s/%s", t.d.Version, t.d.PulumiVersion, runtime.GOOS, runtime.GOARCH)
	versions := schemas.Versions()
	for _, plugin := range t.Provider.PluginsFor(t.Provider.Names()) {
		if version := versions[plugin]; version != "" {
			fmt.Fprintf(&b, ", %s %s", plugin, version)
		}
	}
	b.WriteString("\n\n| step | result | took |\n|---|---|---|\n")
	for _, d := range t.done {
		result := "done"
		if d.code != 0 {
			result = fmt.Sprintf("exit code %d", d.code)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", d.name, result, event.FormatDuration(d.took))
	}
	settings := lists.Map(t.Provider.Trial.Settings, func(s model.Setting) string {
		return fmt.Sprintf(" `%s: %v`", s.Key, s.Value)
	})
	b.WriteString("\nSettings:" + strings.Join(settings, ",") + "\n")
	for _, d := range slices.DeleteFunc(slices.Clone(t.done), func(d done) bool { return d.text == "" }) {
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", d.name, strings.TrimSpace(d.text))
	}
	return b.String()
}
