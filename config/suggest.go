package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Suggest returns the known word nearest to a mistyped one, the first of equally near ones, or
// "" if none is near.
func Suggest(word string, known []string) string {
	best, bestDistance := "", tolerance(word)+1
	for _, candidate := range known {
		distance := editDistance(strings.ToLower(word), strings.ToLower(candidate))
		if distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// DidYouMean returns Suggest's result as the end of an error message: `; did you mean "x"?` or
// "".
func DidYouMean(word string, known []string) string {
	if suggestion := Suggest(word, known); suggestion != "" {
		return `; did you mean "` + suggestion + `"?`
	}
	return ""
}

// nearest returns known words, the nearest to a word first.
func nearest(word string, known []string) []string {
	sorted := slices.Clone(known)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(distant(word, a), distant(word, b)) })
	return sorted
}

func distant(a, b string) int { return editDistance(strings.ToLower(a), strings.ToLower(b)) }

// few lists words, and how many more there are.
func few(words []string, most int) string {
	if len(words) <= most+1 {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// tolerance returns how many typing errors are likely in a word of this length.
func tolerance(word string) int {
	switch n := len(word); {
	case n <= 2:
		return 0
	case n <= 4:
		return 1
	case n <= 12:
		return 2
	}
	return 3
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours between two words (optimal string alignment).
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(s)][len(t)]
}
