// Package guard is the directory for what may refuse a change, and for what
// judges it: saved plans, rules, costs, outputs as a contract, and queries in
// jq. A guard that cannot decide refuses.
//
// It may import machine and run.
package guard
