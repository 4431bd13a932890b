// Package feature is the directory for what can be taken away without the core noticing. A feature has its command,
// its logic, its page, its checks and its tests in one directory. Features do not import one another, but for the
// exceptions that a test in this directory lists.
package feature
