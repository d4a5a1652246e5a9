package guest

import (
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
)

// memoryMap is the kernel's struct prctl_mm_map (include/uapi/linux/prctl.h).
type memoryMap struct {
	startCode, endCode, startData, endData uint64
	startBrk, brk                          uint64
	startStack                             uint64
	argStart, argEnd, envStart, envEnd     uint64
	auxv                                   uint64
	auxvSize, exeFD                        uint32
}

// The calls of prctl(2) for it.
const (
	prSetMM    = 35
	prSetMMMap = 14
)

// heapScript gives a child the guest's heap as its own, which brk extends. Natively brk is lime's:
// the C library of the child would take what it answers for its own heap's end. It needs a kernel
// with CONFIG_CHECKPOINT_RESTORE.
func (p *Process) heapScript(m *memoryMap) []cpu.Call {
	s := p.mem
	stat := statFields()
	field := func(n int) uint64 { // numbered as in proc(5)
		if n-3 >= len(stat) {
			return 0
		}
		v, _ := strconv.ParseUint(stat[n-3], 10, 64)
		return v
	}
	*m = memoryMap{startCode: field(26), endCode: field(27), startStack: field(28), startData: field(45), endData: field(46),
		argStart: field(48), argEnd: field(49), envStart: field(50), envEnd: field(51),
		startBrk: s.brkLo, brk: s.brk, exeFD: ^uint32(0)}
	free := pageUp(s.brk)
	return []cpu.Call{
		{unix.SYS_MUNMAP, free, s.brkLo + brkRoom - free},
		{unix.SYS_PRCTL, prSetMM, prSetMMMap, addressOf(m), uint64(unsafe.Sizeof(*m)), 0},
	}
}

// statFields are those of /proc/self/stat behind the name.
func statFields() []string {
	b, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)
}
