// Package scripts has the tests of what the Makefile and continuous integration
// call.
package scripts
