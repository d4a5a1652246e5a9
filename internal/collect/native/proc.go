package native

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procPath names a file of a process under /proc.
func procPath(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

// vdsoRange finds the kernel's own code in a list of mappings.
func vdsoRange(maps string) (r [2]uint64) {
	for _, line := range strings.Split(maps, "\n") {
		if strings.HasSuffix(line, "[vdso]") {
			if n, _ := fmt.Sscanf(line, "%x-%x", &r[0], &r[1]); n == 2 {
				return r
			}
		}
	}
	return [2]uint64{}
}

// threadsOf lists the threads of a process.
func threadsOf(pid int) []int {
	entries, _ := os.ReadDir(procPath(pid, "task"))
	var out []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, tid)
		}
	}
	return out
}

// commandOf is the command line of a process, its name in brackets if it has none.
func commandOf(pid int) []string {
	b, _ := os.ReadFile(procPath(pid, "cmdline"))
	if words := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00"); words[0] != "" {
		return words
	}
	return []string{"[" + threadName(pid, pid) + "]"}
}

// threadName reads a thread's name.
func threadName(pid, tid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
	return strings.TrimSpace(string(b))
}

// peek reads the memory of another process of the user; fewer bytes where it ends.
func peek(pid int, addr uint64, b []byte) int {
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}
	n, err := unix.ProcessVMReadv(pid, local, remote, 0)
	if err != nil {
		return 0
	}
	return n
}
