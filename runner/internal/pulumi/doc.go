// Package pulumi is the directory for everything that talks to Pulumi: stacks
// runs one operation on one stack and is the only user of the Automation API;
// pulumicli runs commands in warm workers or an installed CLI; engine finds
// and starts them; programhost serves the built-in programs; dependencies
// installs what programs of users need.
//
// It may import guard (plans that bound an operation), machine, run and
// state.
package pulumi
