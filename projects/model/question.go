package model

import (
	"errors"
	"fmt"

	"mara/config"
)

// List names a list of choices that a cloud has.
type List string

// The lists.
const (
	Regions            List = "regions"
	Zones              List = "availability zones"
	KubernetesVersions List = "Kubernetes versions"
	NodeTypes          List = "node types"
	Kubeconfigs        List = "kubeconfig files"
	Contexts           List = "contexts"
	Identities         List = "clusters"
)

// Question asks for one configuration value. Its key declares kind, limits, default and
// meaning.
type Question struct {
	Key          string
	Text         string     // "AWS region"
	List         List       // of choices in the cloud; "" for the choices of the key, or free text
	DefaultCount int        // number of choices selected by default, if several can be selected
	DefaultKey   string     // key whose value is the default
	AtLeast      string     // key whose number is the smallest allowed
	AtMost       string     // key whose number is the largest allowed
	When         *Condition // nil: always
	Required     bool       // whenever it is asked, even if the key is optional
}

// Condition is a value of another key.
type Condition struct{ Key, Value string }

// Met reports whether the condition holds for these values.
func (c *Condition) Met(value func(key string) any) bool {
	return c == nil || fmt.Sprint(value(c.Key)) == c.Value
}

// Key returns the declaration of a question's key.
func (p Provider) Key(name string) config.Key {
	key, ok := p.findKey(name)
	if !ok {
		panic(fmt.Sprintf("provider %s: no project declares the key %q", p.Name, name))
	}
	return key
}

func (p Provider) findKey(name string) (config.Key, bool) {
	for _, step := range p.Steps {
		if key, ok := step.Project.Key(name); ok {
			return key, true
		}
	}
	return config.Key{}, false
}

// Reads reports whether one of the provider's projects declares a key.
func (p Provider) Reads(key string) bool {
	_, ok := p.findKey(key)
	return ok
}

// Value returns the configured value of a key, or its default. It returns nil if the project
// that reads it is skipped.
func (p Provider) Value(file config.StackFile, name string) any {
	key, ok := p.findKey(name)
	if !ok {
		return nil
	}
	if entry, ok := file.Lookup(name); ok && entry.Value != nil {
		return entry.Value
	}
	return key.Default
}

// Values returns the configuration of the provider's projects.
func (p Provider) Values(file config.StackFile) config.Values {
	return config.Values{
		Get:   func(key string) any { return p.Value(file, key) },
		IsSet: func(key string) bool { entry, ok := file.Lookup(key); return ok && entry.Value != nil },
	}
}

// Missing returns the required keys without a value, including keys that the answer to a
// question makes required.
func (p Provider) Missing(file config.StackFile, sources config.Sources) []config.Key {
	var keys []config.Key
	for _, step := range p.Steps {
		for _, key := range step.Project.Keys {
			if key.Name != config.InfraType {
				keys = append(keys, key)
			}
		}
	}
	value := func(name string) any { return p.Value(file, name) }
	for _, q := range p.Questions {
		if q.Required && q.When.Met(value) {
			key := p.Key(q.Key)
			key.Required = true
			keys = append(keys, key)
		}
	}
	return file.Missing(config.Needed(keys, sources))
}

// Judge applies the rules of the projects to the values: it returns what is wrong and what is doubtful. dir is
// config/pulumi of the root, absolute.
func (p Provider) Judge(file config.StackFile, dir string) (problems, doubts []config.Problem) {
	values := p.Values(file)
	values.Dir = dir
	var rules []config.Rule
	for _, step := range p.Steps {
		rules = append(rules, step.Project.Rules...)
	}
	return file.Judge(rules, values)
}

func outOfBounds(value int, word, other string, bound int) string {
	return fmt.Sprintf("is %d; it may not be %s than %s (%d)", value, word, other, bound)
}

// Fits checks a value against the values of the keys that bound it.
func (q Question) Fits(value any, other func(key string) any) error {
	number, isNumber := config.Number(value)
	if !isNumber {
		return nil // its kind is checked elsewhere
	}
	if least, ok := bound(q.AtLeast, other); ok && number < least {
		return errors.New(outOfBounds(number, "less", q.AtLeast, least))
	}
	if most, ok := bound(q.AtMost, other); ok && number > most {
		return errors.New(outOfBounds(number, "more", q.AtMost, most))
	}
	return nil
}

// bound returns the number of a key that bounds another; ok is false without one.
func bound(key string, value func(string) any) (number int, ok bool) {
	if key == "" {
		return 0, false
	}
	return config.Number(value(key))
}
