// Package testing is the directory for tests only: end-to-end tests, tests of
// the documentation, and fakes that several packages share. No program links
// it.
//
// Only tests import it; it may import everything.
package testing
