package config

import "fmt"

// Source is the kind of place that a value comes from.
type Source string

// The sources in order of precedence.
const (
	FromFlag        Source = "flag"
	FromFleet       Source = "fleet" // of the stack: a command works on several environments in turn
	FromFile        Source = "environment file"
	FromProcess     Source = "process environment"
	FromStackConfig Source = "stack configuration"
	FromLayer       Source = "layer"
	FromLogin       Source = "pulumi login"
	FromRecord      Source = "first deployment" // of the provider: the one of the first deployment
	FromMara        Source = "mara.yaml"        // of the provider: the only one in mara.yaml
	FromProject     Source = "Pulumi.yaml"      // of the backend
	FromOnlyStack   Source = "the only stack configured"
	FromDefault     Source = "default"
	FromCluster     Source = "cluster"    // its API server was asked
	FromESC         Source = "Pulumi ESC" // an environment there that the stack file imports
	FromSimulation  Source = "simulation" // overrides all others
)

// Origin is the place a value comes from, where the user can change it.
type Origin struct {
	Source Source
	Name   string // "--stack", "PULUMI_STACK", "kubernetes:infra_type"
	File   string // as shown; "" if not in a file
	Line   int
}

// String describes the place in a sentence: "PULUMI_STACK in config/pulumi/environment:3".
func (o Origin) String() string {
	switch o.Source {
	case FromFlag:
		return o.Name
	case FromFile, FromStackConfig, FromLayer:
		return fmt.Sprintf("%s in %s:%d", o.Name, o.File, o.Line)
	case FromMara, FromProject:
		if o.Line > 0 {
			return fmt.Sprintf("%s in %s:%d", o.Name, o.File, o.Line)
		}
	case FromProcess:
		return o.Name + " in the process environment"
	case FromESC:
		return fmt.Sprintf("Pulumi ESC, %s", o.Name)
	case FromCluster:
		return "asked from the cluster: " + o.Name
	}
	return string(o.Source)
}

// Value is a setting with its origin. The zero Value is not set.
type Value struct {
	Text   string
	Origin Origin
}

// IsSet reports whether the value was given anywhere.
func (v Value) IsSet() bool { return v.Origin != Origin{} }

// Wrong returns the error for a value that cannot be used: wrong usage if a flag gave it, else
// a problem of its file or environment variable.
func (v Value) Wrong(text, next string) error {
	origin := v.Origin
	if origin.Source == FromFlag {
		return &FlagError{Flag: origin.Name, Text: text, Next: next}
	}
	subject := origin.Name
	if origin.Source == FromProcess {
		subject = origin.String()
	}
	problem := Problem{File: origin.File, Line: origin.Line, Text: subject + ": " + text}
	return &Error{Problems: []Problem{problem}, Next: next}
}
