//go:build !linux

package main

import (
	"os"
	"time"
)

// watchMemory knows nothing here.
func watchMemory() (peak func() int64) { return func() int64 { return 0 } }

// watchOpens knows nothing here.
func watchOpens(string) (opened func() int, err error) { return func() int { return 0 }, nil }

// processorOf knows nothing here.
func processorOf(int) time.Duration { return 0 }

// proportionalSet knows nothing here.
func proportionalSet(int) int64 { return 0 }

// ownMemory knows nothing here.
func ownMemory(int) int64 { return 0 }

// writtenBy knows nothing here.
func writtenBy(*os.ProcessState) int64 { return 0 }

// watchMoves counts nothing.
func watchMoves(_, _ string) (moved func() int, err error) { return func() int { return 0 }, nil }
