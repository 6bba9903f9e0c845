package sandbox

import "golang.org/x/sys/unix"

func archTable() (archInfo, bool) {
	return archInfo{
		audit: unix.AUDIT_ARCH_X86_64, x32: 0x40000000,
		denied: []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB},
	}, true
}
