//go:build unix

package process

import "syscall"

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

func terminateGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGTERM) }

func interrupt(pid int) error { return syscall.Kill(pid, syscall.SIGINT) }
