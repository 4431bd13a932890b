package configuration

import (
	"context"
	"fmt"
	"strings"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/view"
)

// OpenAsking reads the configuration of an environment, and asks Pulumi Cloud what environments of Pulumi ESC add to it,
// if stack files import any. Secrets stay there.
func OpenAsking(ctx context.Context, d cmd.Deps, o options) (Configuration, error) {
	c, err := Open(o.Request)
	if err != nil {
		return c, err
	}
	imports := map[string][]byte{} // by project; "" for all
	if shared := c.File.Imports(); shared != nil {
		imports[""] = shared
	}
	for project, file := range c.Beside {
		if own := file.Imports(); own != nil {
			imports[project] = own
		}
	}
	if len(imports) == 0 {
		return c, nil
	}
	err = session.Use(d.Deps, session.Options{Request: o.Request}, session.ResolveStack, func(s *session.Resolved) error {
		return c.readImports(ctx, s, imports)
	})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(d.Stderr, "warning: Pulumi ESC was not asked: %v\n", err)
		err = nil
	}
	return c, err
}

// readImports reads what environments of Pulumi ESC have for all projects, and then for those with imports of their own.
func (c *Configuration) readImports(ctx context.Context, s *session.Resolved, imports map[string][]byte) error {
	c.Imported = map[string]view.Layer{}
	projects, asked := []string{""}, map[string]map[string]wire.Imported{}
	for _, project := range c.Known.Projects {
		projects = append(projects, project.Name)
	}
	for _, project := range projects {
		environments, own := imports[project]
		if !own {
			environments = imports[""]
		}
		if _, known := asked[string(environments)]; !known {
			found, err := session.Imported(ctx, s, environments)
			if err != nil {
				return err
			}
			asked[string(environments)] = found
		}
		for key, value := range asked[string(environments)] {
			full, isFull := key, strings.Contains(key, ":")
			if !isFull {
				full = project + ":" + key // a key without a namespace is one of the project's
			}
			if project == "" && !isFull || own && isFull && project != "" && !strings.HasPrefix(key, project+":") {
				continue
			}
			layer := view.Layer{Value: any(value.Shown()), Origin: config.Origin{Source: config.FromESC, Name: value.Place()}}
			if value.Secret {
				layer.Value = config.Ciphertext("hidden")
			}
			c.Imported[full] = layer
		}
	}
	return nil
}
