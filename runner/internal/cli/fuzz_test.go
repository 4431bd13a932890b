package cli_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/mistakes"
	"mara/runner/internal/wire"
)

// fuzzed are the files that commands read of a root.
var fuzzed = []string{
	"config/pulumi/Pulumi.dev.yaml", "config/pulumi/environment", "config/pulumi/secrets/Pulumi.dev.yaml", "config/environments/dev.yaml",
	"config/layers/base.yaml", "config/rollout.yaml", "mara.yaml", "net/Pulumi.yaml", "policies/policies.yaml", "policies/a.jq",
	"prices.yaml", "queries/a.jq", "config/pulumi/values/x.yaml",
}

// FuzzFiles: commands that read files end in time, never panic, and end with 0 or 3, whatever is in a file.
func FuzzFiles(f *testing.F) {
	const every = 8 // of all seeds, for a test that ends soon
	for i, in := range slices.Concat(mistakes.Table(), mistakes.ValidTable()) {
		in.Write(func(name, content string) {
			if file := slices.Index(fuzzed, name); file >= 0 && i%every == 0 {
				f.Add(uint8(file), content) //nolint:gosec // there are few
			}
		})
	}
	f.Fuzz(func(t *testing.T, file uint8, content string) {
		name := fuzzed[int(file)%len(fuzzed)]
		root := cmdtest.Root(t, nil)
		base := map[string]string{
			"config/pulumi/Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n  prometheus:values_file: values/x.yaml\n",
			"config/layers/base.yaml":       "values: {runner: {labels: {stage: dev}}}\n", "config/environments/dev.yaml": "imports: [base]\n",
			"config/rollout.yaml": "waves: [{name: all, match: {stage: dev}}]\n", "net/Pulumi.yaml": "name: net\nruntime: yaml\n",
			"mara.yaml": "providers: {kind: {}}\nprojects: [{path: net}]\n", "config/pulumi/values/x.yaml": "a: b\n",
		}
		base[name] = content
		for name, content := range base {
			cmdtest.WriteFile(t, filepath.Join(root, name), content)
		}
		for _, args := range []string{"check", "fleet list", "config list -s dev"} {
			d, out, errs := cmdtest.Deps(t)
			d.Dir = root
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			code := wire.Run(ctx, d, strings.Fields(args))
			if code != cmd.ExitDone && code != cmd.ExitConfig || ctx.Err() != nil {
				t.Errorf("%s: exit code %d, %v, with %q in %s:\n%s%s", args, code, ctx.Err(), content, name, out, errs)
			}
			cancel()
		}
	})
}
