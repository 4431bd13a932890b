//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// OwnGroup makes a command that has not started yet lead its own process group.
func OwnGroup(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Kill kills a group leader and its children. The process may have ended already.
func Kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// Terminate asks a group leader and its children to end.
func Terminate(pid int) error { return syscall.Kill(-pid, syscall.SIGTERM) }

// Interrupt sends a group leader the signal of Ctrl-C. The process may have ended
// already.
func Interrupt(pid int) { _ = syscall.Kill(pid, syscall.SIGINT) }
