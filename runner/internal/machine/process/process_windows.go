package process

import (
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// killGroup runs taskkill, which follows the child processes: the kernel has no
// groups that could be killed.
func killGroup(pid int) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}

// terminateGroup sends Ctrl-Break, the only event that a console can send to a
// group. Go programs take it for an interrupt.
func terminateGroup(pid int) error { return interrupt(pid) }

func interrupt(pid int) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(pid))
}
