package simulate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Object is a resource, or a call of a function, as descriptions see it.
type Object struct {
	Token string
	URN   resource.URN
	ID    string // empty while the id is being made, and in a preview
	Scope string // name of the scope that it lives in

	// Remembered is what Links.Remember said, for an object that is read by a
	// program that does not know its inputs.
	Remembered []string

	given  resource.PropertyMap // the inputs, with their secrecy
	inputs map[string]any
	config map[string]any
	seed   string
}

func newObject(token string, urn resource.URN, inputs resource.PropertyMap) Object {
	return Object{Token: token, URN: urn, given: inputs, inputs: plainMap(inputs), seed: token + "|" + string(urn)}
}

// withID returns the object with its id. From here on all that is generated
// follows from the id, so that an update finds the values of the creation.
func (o Object) withID(id string) Object {
	o.ID = id
	o.seed = o.Token + "|" + o.Scope + "|" + id
	return o
}

func (o Object) withAttempt(n int) Object {
	o.seed = fmt.Sprintf("%s|%s#%d", o.Token, o.URN, n)
	return o
}

// Name returns the logical name that the program gave to the resource.
func (o Object) Name() string {
	if o.URN == "" {
		return ""
	}
	return o.URN.Name()
}

// Value returns the input at a path of keys joined by dots, secret or not. It is nil
// if the input is missing or not known yet.
func (o Object) Value(path string) any { return lookup(o.inputs, path) }

// Text returns a string input; "" if it is missing.
func (o Object) Text(path string) string { return as[string](o.Value(path)) }

// TextOr returns a string input, or fallback if it is missing.
func (o Object) TextOr(path, fallback string) string {
	return cmp.Or(o.Text(path), fallback)
}

// Number returns a number input, or fallback if it is missing.
func (o Object) Number(path string, fallback int) int {
	if number, ok := o.Value(path).(float64); ok {
		return int(number)
	}
	return fallback
}

// Map returns an object input; nil if it is missing.
func (o Object) Map(path string) map[string]any {
	return as[map[string]any](o.Value(path))
}

// List returns a list input; nil if it is missing.
func (o Object) List(path string) []any {
	return as[[]any](o.Value(path))
}

// Config returns a string in the provider's configuration, or fallback.
func (o Object) Config(path, fallback string) string {
	return cmp.Or(as[string](lookup(o.config, path)), fallback)
}

// IsSet reports whether a switch in the provider's configuration is on.
func (o Object) IsSet(path string) bool { return lookup(o.config, path) == true }

// Hex generates n hexadecimal digits, the same for the same object and label.
func (o Object) Hex(label string, n int) string {
	var digits strings.Builder
	for i := 0; digits.Len() < n; i++ {
		sum := o.sum(fmt.Sprintf("%s/%d", label, i))
		digits.WriteString(hex.EncodeToString(sum[:]))
	}
	return digits.String()[:n]
}

// Pick makes a number from low to high.
func (o Object) Pick(label string, low, high int) int {
	sum := o.sum(label)
	return low + int(binary.BigEndian.Uint64(sum[:8])%uint64(high-low+1))
}

// IPv4 generates an address in one of the ranges that are reserved for examples, so
// that it leads nowhere.
func (o Object) IPv4(label string) string {
	nets := []string{"192.0.2", "198.51.100", "203.0.113"}
	return fmt.Sprintf("%s.%d", nets[o.Pick(label+"/net", 0, 2)], o.Pick(label, 1, 254))
}

func (o Object) sum(label string) [sha256.Size]byte {
	return sha256.Sum256([]byte(o.seed + "|" + label))
}

func lookup(values map[string]any, path string) any {
	var at any = values
	for key := range strings.SplitSeq(path, ".") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[key]
	}
	return at
}

// as returns a value of a type; its zero value for one of another type.
func as[T any](value any) T {
	found, _ := value.(T)
	return found
}
