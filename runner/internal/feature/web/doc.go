// Package web is the directory for `runner web`: the pages that show what package view knows, the guard in front of
// them, what keeps them up to date during runs, and the same pages as files.
//
// It may import every directory but cli and testing. Nothing but cli imports it. It reads and never changes anything.
package web
