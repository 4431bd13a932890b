// Package ahead starts the program of a project before its turn. The program runs up to the first thing that it asks
// of its engine; there it is held, until the engine comes and runs it.
//
// The program talks to a gate instead of an engine. The gate answers what every engine answers in the same way: which
// features there are, and that the stack itself is registered. It takes note of what the program prints. All else
// waits. The engine attaches to a stage, which looks to it like the language host of the program's runtime. When it
// calls Run there, the stage compares what it asks for with what the program was started with, tells the engine through
// the gate what the program has done so far, and opens the gate. If anything differs, or the program has ended, the
// stage starts the program anew, as the engine would have done.
package ahead
