package process

import (
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// OwnGroup makes a command that has not started yet lead its own process group.
func OwnGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// OwnSession works as OwnGroup: Windows has no sessions of processes.
func OwnSession(command *exec.Cmd) { OwnGroup(command) }

// Kill kills a process and its children with taskkill: the kernel has no groups that
// could be killed. The process may have ended already.
func Kill(pid int) { _ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() }

// Terminate sends Ctrl-Break, the only event that a console can send to a group. Go
// programs take it for an interrupt.
func Terminate(pid int) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(pid))
}

// Interrupt sends the same event. The process may have ended already.
func Interrupt(pid int) { _ = Terminate(pid) }
