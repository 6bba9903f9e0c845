package proc

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// tree is a job object: it holds the child and all its descendants, and dies with its last handle, so with us.
type tree struct{ job windows.Handle }

func newTree(p *os.Process, _ func() bool) *tree {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return &tree{}
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, p.Pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return &tree{}
	}
	return &tree{job: job}
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	return windows.AssignProcessToJobObject(job, h)
}

// alive does not look into the job: what the child left behind stays in it and dies with the group.
func (t *tree) alive() bool { return t.job != 0 }

func (t *tree) term() {} // there is no gentle way that reaches a process without a console

func (t *tree) kill() {
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
	}
}

func (t *tree) close() {
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
		t.job = 0
	}
}

func status(s *os.ProcessState) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	return s.ExitCode(), ""
}

// sweep cannot read without waiting here: what comes late is taken in by the pump.
func sweep(*os.File, int) (data []byte, ended bool) { return nil, false }
