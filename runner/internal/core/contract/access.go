package contract

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// accessesIn returns the property accesses of the interpolations in a string of a
// program in Pulumi YAML: "a ${b.c["d"]}" has [[b c d]]. $$ stands for a dollar.
func accessesIn(text string) (found [][]string) {
	eachPart(text, func(byte) {}, func(path []string, _ string) {
		if path != nil {
			found = append(found, path)
		}
	})
	return found
}

// eachPart calls literal for the characters of a string that are not part of an interpolation,
// and access for the property accesses of its interpolations, with nil and the reason for a malformed one.
func eachPart(text string, literal func(c byte), access func(path []string, malformed string)) {
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "$$"):
			literal('$')
			text = text[2:]
		case strings.HasPrefix(text, "${"):
			path, rest, reason := parseAccess(text[2:])
			access(path, reason)
			text = rest
		default:
			literal(text[0])
			text = text[1:]
		}
	}
}

// malformed returns why Pulumi YAML cannot read the first interpolation of a string that it cannot read, "" if it reads
// all.
func malformed(text string) (reason string) {
	eachPart(text, func(byte) {}, func(_ []string, wrong string) { reason = cmp.Or(reason, wrong) })
	return reason
}

// wholeAccess returns the property access of a string that is nothing else, or nil.
func wholeAccess(text string) []string {
	if !strings.HasPrefix(text, "${") {
		return nil
	}
	if path, rest, _ := parseAccess(text[2:]); rest == "" {
		return path
	}
	return nil
}

// parseAccess parses a property access up to its closing brace. It returns a nil path for one that is malformed, with the
// reason, and for an empty one. The rules are those of parsePropertyAccess in github.com/pulumi/pulumi-yaml,
// pkg/pulumiyaml/ast/property.go.
func parseAccess(text string) (path []string, rest, malformed string) {
	for len(text) > 0 {
		switch text[0] {
		case '}':
			return path, text[1:], ""
		case '.':
			text = text[1:]
		case '[':
			var key string
			if key, text, malformed = parseSubscript(text[1:], len(path) == 0); malformed != "" {
				return nil, text, malformed
			}
			path = append(path, key)
		default:
			end := strings.IndexAny(text, ".[}")
			if end < 0 {
				end = len(text)
			}
			path, text = append(path, text[:end]), text[end:]
		}
	}
	return nil, "", "${ has no }; to write a dollar sign, double it: $${"
}

// parseSubscript parses "key"] or 0]. Only a key may come first in an access.
func parseSubscript(text string, isFirst bool) (key, rest, malformed string) {
	quoted, isQuoted := strings.CutPrefix(text, `"`)
	if !isQuoted {
		index, rest, ok := strings.Cut(text, "]")
		if !ok {
			return "", text, "[ has no ]"
		}
		switch _, err := strconv.ParseInt(index, 10, 0); {
		case err != nil:
			return "", text, fmt.Sprintf(`[%s] is neither a number nor a name in double quotes, as in ["%s"]`, index, strings.Trim(index, "'` "))
		case isFirst:
			return "", text, "a number in brackets has to follow a name"
		}
		return index, rest, ""
	}
	end := 0
	for end < len(quoted) && quoted[end] != '"' {
		if strings.HasPrefix(quoted[end:], `\"`) {
			end++
		}
		end++
	}
	rest, ok := strings.CutPrefix(quoted[min(end, len(quoted)):], `"]`)
	if !ok {
		return "", text, `a name in brackets has to end with "]`
	}
	return strings.ReplaceAll(quoted[:end], `\"`, `"`), rest, ""
}
