// Package mute keeps libraries from asking the terminal for its colours before
// main begins. Pulumi's SDK links one that does, and waits for up to five
// seconds where the terminal does not answer. It asks no terminal that calls
// itself dumb, so that is what TERM says until Restore.
//
// It has to happen while packages are initialised, and first. Go initialises
// them in the order of their paths, as soon as all that they import are; this
// package imports os alone, and what it is for imports packages that come
// later. It must not import anything else.
package mute

import "os"

// term is what TERM was.
var term, set = hide()

// hide makes the terminal look as if it understood nothing.
func hide() (before string, set bool) {
	before, set = os.LookupEnv("TERM")
	if set {
		_ = os.Setenv("TERM", "dumb") // if it fails, the question is asked, no more
	}
	return before, set
}

// Restore gives TERM back its value. It is the first thing that main does.
func Restore() {
	if set {
		_ = os.Setenv("TERM", term)
	}
}
