package contract

import (
	"fmt"
	"strconv"
	"strings"
)

// accessesIn returns the property accesses of the interpolations in a string of a
// program in Pulumi YAML: "a ${b.c["d"]}" has [[b c d]]. $$ stands for a dollar.
func accessesIn(text string) (found [][]string) {
	eachPart(text, func(byte) {}, func(path []string) {
		if path != nil {
			found = append(found, path)
		}
	})
	return found
}

// eachPart calls literal for the characters of a string that are not part of an interpolation,
// and access for the property accesses of its interpolations, nil for a malformed one.
func eachPart(text string, literal func(c byte), access func(path []string)) {
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "$$"):
			literal('$')
			text = text[2:]
		case strings.HasPrefix(text, "${"):
			path, rest := parseAccess(text[2:])
			access(path)
			text = rest
		default:
			literal(text[0])
			text = text[1:]
		}
	}
}

// malformed returns why Pulumi YAML cannot read the first interpolation of a string that it cannot read, "" if it reads
// all. The rules are those of parsePropertyAccess in github.com/pulumi/pulumi-yaml, pkg/pulumiyaml/ast/property.go.
func malformed(text string) string {
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "$$"):
			text = text[2:]
		case strings.HasPrefix(text, "${"):
			rest, reason := skipAccess(text[2:])
			if reason != "" {
				return reason
			}
			text = rest
		default:
			text = text[1:]
		}
	}
	return ""
}

// skipAccess returns what follows an interpolation, or why it is none.
func skipAccess(text string) (rest, reason string) {
	isRoot := true
	for len(text) > 0 {
		switch {
		case text[0] == '}':
			return text[1:], ""
		case text[0] != '[':
			text, isRoot = text[1:], isRoot && text[0] == '.'
		case strings.HasPrefix(text, `["`):
			end := 2
			for end < len(text) && text[end] != '"' {
				if strings.HasPrefix(text[end:], `\"`) {
					end++
				}
				end++
			}
			if !strings.HasPrefix(text[min(end, len(text)):], `"]`) {
				return "", `a name in brackets has to end with "]`
			}
			text, isRoot = text[end+2:], false
		default:
			index, after, ok := strings.Cut(text[1:], "]")
			if !ok {
				return "", "[ has no ]"
			}
			if _, err := strconv.ParseInt(index, 10, 0); err != nil {
				return "", fmt.Sprintf(`[%s] is neither a number nor a name in double quotes, as in ["%s"]`, index, strings.Trim(index, "'` "))
			}
			if isRoot {
				return "", "a number in brackets has to follow a name"
			}
			text, isRoot = after, false
		}
	}
	return "", "${ has no }; to write a dollar sign, double it: $${"
}

// wholeAccess returns the property access of a string that is nothing else, or nil.
func wholeAccess(text string) []string {
	if !strings.HasPrefix(text, "${") {
		return nil
	}
	if path, rest := parseAccess(text[2:]); rest == "" {
		return path
	}
	return nil
}

// parseAccess parses a property access up to its closing brace. It returns a nil
// path for one that is malformed, which the language host reports.
func parseAccess(text string) (path []string, rest string) {
	root := strings.IndexAny(text, ".[}")
	if root <= 0 {
		return nil, text
	}
	path, text = append(path, text[:root]), text[root:]
	for len(text) > 0 {
		switch text[0] {
		case '}':
			return path, text[1:]
		case '.':
			text = text[1:]
			end := strings.IndexAny(text, ".[}")
			if end <= 0 {
				return nil, text
			}
			path, text = append(path, text[:end]), text[end:]
		case '[':
			key, after, ok := parseSubscript(text[1:])
			if !ok {
				return nil, text[1:]
			}
			path, text = append(path, key), after
		default:
			return nil, text
		}
	}
	return nil, text
}

// parseSubscript parses "key"] or 0].
func parseSubscript(text string) (key, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		key, rest, ok = strings.Cut(text, "]")
		_, err := strconv.Atoi(key)
		return key, rest, ok && err == nil
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil || !strings.HasPrefix(text[len(quoted):], "]") {
		return "", text, false
	}
	key, err = strconv.Unquote(quoted)
	return key, text[len(quoted)+1:], err == nil
}
