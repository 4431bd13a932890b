package adopt

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"mara/projects/model"
)

// patterns derives the environments from the names of stacks. A name may have several
// readings: "shop-dev" may be the environment shop-dev, or dev with the prefix shop. The
// reading that most projects share wins, and among equals the one with the shortest affixes.
func patterns(found []Found, states States) model.StackNames {
	agreed := map[string]int{} // environment -> number of projects that may have it
	for _, f := range found {
		for environment := range readings(states[f.Name]) {
			agreed[environment]++
		}
	}
	names := model.StackNames{}
	for _, f := range found {
		if pattern := bestPattern(f.Name, states[f.Name], agreed); pattern != model.StackPlaceholder {
			names[f.Name] = pattern
		}
	}
	return names
}

// readings returns the possible environments of a project's stacks, with their patterns.
func readings[T any](stacks map[string]T) map[string][]string {
	all := map[string][]string{}
	for stack := range stacks {
		for i := range len(stack) {
			for j := i + 1; j <= len(stack); j++ {
				begins := i == 0 || isSeparator(stack[i-1])
				ends := j == len(stack) || isSeparator(stack[j])
				if begins && ends && !isSeparator(stack[i]) && !isSeparator(stack[j-1]) {
					all[stack[i:j]] = append(all[stack[i:j]], stack[:i]+model.StackPlaceholder+stack[j:])
				}
			}
		}
	}
	return all
}

func isSeparator(c byte) bool { return strings.IndexByte("-_.", c) >= 0 }

// bestPattern returns the pattern of a project's stacks that most projects share.
func bestPattern[T any](project string, stacks map[string]T, agreed map[string]int) string {
	candidates := map[string]bool{model.StackPlaceholder: true}
	for _, ways := range readings(stacks) {
		for _, way := range ways {
			candidates[way] = true
		}
	}
	best, most := model.StackPlaceholder, -1
	for _, pattern := range slices.SortedFunc(maps.Keys(candidates), shorterFirst) {
		score := 0
		for stack := range stacks {
			if environment, ok := (model.StackNames{project: pattern}).Environment(project, stack); ok {
				score += agreed[environment]
			}
		}
		if score > most {
			best, most = pattern, score
		}
	}
	return best
}

func shorterFirst(a, b string) int {
	return cmp.Or(len(a)-len(b), strings.Compare(a, b))
}
