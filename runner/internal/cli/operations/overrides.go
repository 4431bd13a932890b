package operations

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/failure"
	"mara/runner/internal/request"
)

// parseOverrides parses values as the types of their keys. It refuses secrets:
// other users can see command lines.
func parseOverrides(c *cli.Context, r request.Request) ([]config.Change, error) {
	var changes []config.Change
	for _, text := range c.StringSlice("config") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, failure.Usagef(c.Command.Name, "%s: %q is not KEY=VALUE", config.OverrideFlag, text)
		}
		if secret, ok := r.Known().Secret(name); ok {
			return nil, &failure.Usage{
				Text: fmt.Sprintf("%s: %s is a secret (%s), which does not belong on the command line", config.OverrideFlag, name, secret.Doc),
				Next: fmt.Sprintf("use --secret %s=env:NAME, or `runner secrets set %s`", name, name),
			}
		}
		if name == config.InfraType {
			return nil, failure.Usagef(c.Command.Name, "%s: the provider is named with -p", config.OverrideFlag)
		}
		parsed, err := configuration.ParseValue(r, name, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", config.OverrideFlag, err)
		}
		changes = append(changes, config.Change{Key: name, Value: parsed})
	}
	return changes, nil
}
