package trial

import (
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// Feature returns the commands that show the runner at work; they run command lines of it.
func Feature(run cmd.RunFunc) extend.Feature {
	return extend.Feature{
		Name: "trial",
		NoJSON: map[string]string{
			"demo": "prints what the commands that it runs print, each of which has -o json",
			"try":  "prints what the commands that it runs print, each of which has -o json",
		},
		Commands: func(d cmd.Deps) []cmd.Placed {
			return []cmd.Placed{
				{Command: Demo(d, run), Group: cmd.ToBegin, Rank: 10, Daily: true},
				{Command: Try(d, run), Group: cmd.More, Rank: 40},
			}
		},
	}
}
