// Package naming makes the names of what an environment owns outside its
// cluster: "mara-<stack>" and "mara-<stack>-<part>". Several environments live
// side by side, so a name follows from the stack, and two stacks never share one.
package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	prefix     = "mara-"
	hashLength = 6
)

// Environment names a part of the environment, or with part "" the environment
// itself, in at most limit characters: lower-case letters, digits and hyphens,
// which every provider takes. A stack name that does not fit is shortened, and
// one that had to be changed gets a hash, so that it stays unique.
func Environment(stack, part string, limit int) string {
	suffix := ""
	if part != "" {
		suffix = "-" + part
	}
	name := clean(stack)
	room := limit - len(prefix) - len(suffix)
	if name == stack && len(name) <= room {
		return prefix + name + suffix
	}
	room = max(room-hashLength-1, 0)
	name = strings.Trim(name[:min(len(name), room)], "-")
	return prefix + strings.TrimPrefix(name+"-", "-") + hash(stack) + suffix
}

// clean replaces what is not a lower-case letter or a digit by single hyphens between them: Linode
// refuses two in a row.
func clean(stack string) string {
	isOther := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	return strings.Join(strings.FieldsFunc(strings.ToLower(stack), isOther), "-")
}

func hash(stack string) string {
	sum := sha256.Sum256([]byte(stack))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// labelLimit is the longest value that Kubernetes takes for a label.
const labelLimit = 63

// Label returns the stack's name as the value of a label. Labels take all characters of stack
// names; a name that is too long, or does not begin and end with a letter or digit, is changed
// and gets a hash.
func Label(stack string) string {
	label := strings.Trim(stack, "-_.")
	if label == stack && len(label) <= labelLimit {
		return label
	}
	return label[:min(len(label), labelLimit-hashLength-1)] + "-" + hash(stack)
}
