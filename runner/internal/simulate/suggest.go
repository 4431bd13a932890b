package simulate

import "fmt"

// suggest makes the "did you mean" that ends an error about an unknown name,
// or nothing when no known name is close.
func suggest(name string, known []string) string {
	best, distance := "", len(name)/3+1
	for _, candidate := range known {
		if d := edits(name, candidate); d < distance || d == distance && best == "" {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// edits counts the insertions, deletions and substitutions between two names
// (Levenshtein's distance).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
