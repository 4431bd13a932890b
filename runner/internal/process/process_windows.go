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

// killGroup has the system's own tool follow the processes that were started:
// the kernel keeps no groups that could be killed.
func killGroup(pid int) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}

// terminateGroup asks with Ctrl-Break, which is all that a console can say to a
// group; Go's programs take it for an interrupt.
func terminateGroup(pid int) error { return interrupt(pid) }

func interrupt(pid int) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(pid))
}
