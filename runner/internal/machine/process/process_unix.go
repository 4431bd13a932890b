//go:build unix

package process

import (
	"os/exec"
	"syscall"

	"github.com/mitchellh/go-ps"
	"golang.org/x/sys/unix"
)

// OwnGroup makes a command that has not started yet lead its own process group.
func OwnGroup(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// OwnSession makes a command that has not started yet lead its own session and process group. Kill finds what it has
// started even after its end.
func OwnSession(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Kill kills a group leader and all that descends from it, or is in its session: Pulumi starts each plugin in a group
// of its own, where it would work on for minutes. The process may have ended already.
func Kill(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGSTOP) // it starts nothing more
	below := descendants(pid)
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	for _, child := range below {
		_ = syscall.Kill(-child, syscall.SIGKILL)
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
}

// descendants lists the children of a process, and theirs, and the processes of its session if it leads one.
func descendants(pid int) (found []int) {
	all, err := ps.Processes()
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, p := range all {
		children[p.PPid()] = append(children[p.PPid()], p.Pid())
		if session, err := unix.Getsid(p.Pid()); err == nil && session == pid && p.Pid() != pid {
			found = append(found, p.Pid()) // its parent may have ended
		}
	}
	for left := children[pid]; len(left) > 0; left = left[1:] {
		found = append(found, left[0])
		left = append(left, children[left[0]]...)
	}
	return found
}

// Terminate asks a group leader and its children to end.
func Terminate(pid int) error { return syscall.Kill(-pid, syscall.SIGTERM) }

// Interrupt sends a group leader the signal of Ctrl-C. The process may have ended
// already.
func Interrupt(pid int) { _ = syscall.Kill(pid, syscall.SIGINT) }
