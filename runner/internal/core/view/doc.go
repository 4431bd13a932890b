// Package view answers which environments exist, what runs and what happened, for one environment and for all of a
// root. The commands, their JSON, the pages of `runner web`, its export and the metrics all show these answers, so
// that they cannot differ. Each environment has its own error: a broken file hides no other environment.
//
// Reader has the state of all environments, History the past runs. Nothing here changes anything, and nothing decrypts.
package view
