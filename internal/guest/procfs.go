package guest

import (
	"fmt"
	"iter"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Files of /proc and /sys that would tell of lime, or of the host, where a program
// asks for itself or for the simulated machine.

const pathMax = 4096

// Memory of the simulated machine: fixed, so that programs size their buffers alike everywhere.
const (
	memTotal = 16 << 30
	memFree  = 12 << 30
)

// fakeFiles are the files whose text is made here.
var fakeFiles = map[string]func(p *Process) string{
	"/proc/cpuinfo":                          (*Process).cpuinfo,
	"/proc/stat":                             (*Process).procStat,
	"/proc/meminfo":                          func(*Process) string { return meminfo() },
	"/proc/uptime":                           func(p *Process) string { return fmt.Sprintf("%d.00 0.00\n", int64((bootTime+p.now)/1e9)) },
	"/proc/loadavg":                          func(p *Process) string { return fmt.Sprintf("0.00 0.00 0.00 1/100 %d\n", p.id) },
	"/proc/self/maps":                        (*Process).procMaps,
	"/proc/self/status":                      procStatus,
	"/proc/self/stat":                        (*Process).procSelfStat,
	"/proc/self/statm":                       (*Process).procStatm,
	"/proc/self/cmdline":                     func(p *Process) string { return strings.Join(p.args, "\x00") + "\x00" },
	"/proc/self/environ":                     func(p *Process) string { return strings.Join(p.cfg.Env, "\x00") + "\x00" },
	"/proc/self/auxv":                        func(p *Process) string { return string(p.aux) },
	"/proc/self/limits":                      procLimits,
	"/proc/self/personality":                 func(p *Process) string { return fmt.Sprintf("%08x\n", p.personality) },
	"/proc/self/cgroup":                      func(*Process) string { return "0::/\n" },
	"/sys/devices/system/cpu/online":         cpuRange,
	"/sys/devices/system/cpu/possible":       cpuRange,
	"/sys/devices/system/cpu/present":        cpuRange,
	"/sys/devices/system/cpu/isolated":       func(*Process) string { return "\n" },
	"/sys/devices/system/cpu/offline":        func(*Process) string { return "\n" },
	"/sys/devices/system/cpu/kernel_max":     func(*Process) string { return "8191\n" },
	"/sys/devices/system/node/online":        func(*Process) string { return "0\n" },
	"/sys/devices/system/node/possible":      func(*Process) string { return "0\n" },
	"/sys/devices/system/node/has_cpu":       func(*Process) string { return "0\n" },
	"/sys/devices/system/node/has_memory":    func(*Process) string { return "0\n" },
	"/sys/devices/system/node/node0/cpulist": cpuRange,
	"/sys/devices/system/node/node0/cpumap":  (*Process).nodeCores,
	"/sys/devices/system/node/node0/meminfo": func(*Process) string { return nodeMeminfo() },
}

// hiddenTrees do not exist for the guest: limits, topology and state of the host. In
// [0-9] the part of a path that follows must begin with a digit.
var hiddenTrees = []string{"/sys/fs/cgroup/", "/sys/devices/system/cpu/cpu[0-9]", "/sys/devices/system/node/node[0-9]",
	"/proc/self/smaps", "/proc/self/pagemap", "/proc/self/numa_maps"}

// ofTheHost says that a plain path lies in one of these trees.
func ofTheHost(s string) bool {
	for _, tree := range hiddenTrees {
		pre, digit := strings.CutSuffix(tree, "[0-9]")
		rest, in := strings.CutPrefix(s, pre)
		if in && (!digit || rest != "" && rest[0] >= '0' && rest[0] <= '9') {
			return true
		}
	}
	return false
}

// realPath is a path in /proc or /sys in its plain form, with the guest's own ids
// as self; ok is false for all other paths.
func (p *Process) realPath(s string) (string, bool) {
	if !strings.HasPrefix(s, "/proc/") && !strings.HasPrefix(s, "/sys/") && s != "/proc" {
		return s, false
	}
	s = path.Clean(s)
	rest, ok := strings.CutPrefix(s, "/proc/")
	if !ok {
		return s, true
	}
	first, tail, _ := strings.Cut(rest, "/")
	if n, err := strconv.Atoi(first); err == nil && p.own(n) || first == "thread-self" {
		s = path.Join("/proc/self", tail)
	}
	if rest, ok := strings.CutPrefix(s, "/proc/self/task/"); ok {
		tid, tail, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(tid); err == nil && p.own(n) {
			s = path.Join("/proc/self", tail)
		}
	}
	return s, true
}

// substitute answers what to open instead of a path: a text, another path, or nothing at all.
func (p *Process) substitute(given string) (to string, text func(*Process) string, hidden bool) {
	s, ok := p.realPath(given)
	if !ok {
		return s, nil, false
	}
	if f := fakeFiles[s]; f != nil {
		return s, f, false
	}
	if s == "/proc/self/exe" {
		return p.exe, nil, false
	}
	if rest, own := strings.CutPrefix(s, "/proc/self"); own && s != path.Clean(given) { // self is a link, the numbers are none
		return "/proc/" + strconv.Itoa(os.Getpid()) + rest, nil, ofTheHost(s)
	}
	return s, nil, ofTheHost(s)
}

// pathArg puts the substitute for a path argument in its place. It answers false
// where the file does not exist for the guest.
func (c *call) pathArg(i int) bool {
	if c.a[i] == 0 || !c.p.mem.can(c.a[i], 1, unix.PROT_READ) || *(*byte)(pointer(c.a[i])) != '/' {
		return true
	}
	s, errno := c.p.mem.cString(c.a[i], pathMax)
	if errno != 0 {
		return true // the host will say so too
	}
	to, _, hidden := c.p.substitute(s)
	if hidden {
		return false
	}
	if to != s {
		c.p.scratch[i] = append(append(c.p.scratch[i][:0], to...), 0)
		c.a[i] = ptrOf(c.p.scratch[i])
	}
	return true
}

// passPath passes a call on with its path arguments substituted.
func passPath(args ...int) func(c *call) int64 {
	return func(c *call) int64 {
		for _, i := range args {
			if !c.pathArg(i) {
				return errRes(unix.ENOENT)
			}
		}
		return pass(c)
	}
}

func sysOpen(c *call) int64   { return c.open(0, 1) }
func sysOpenat(c *call) int64 { return c.open(1, 2) }

// open opens a file, or makes one of the texts above.
func (c *call) open(pathAt, flagsAt int) int64 {
	s, errno := c.p.mem.cString(c.a[pathAt], pathMax)
	if t := c.commOf(s); errno == 0 && t != nil {
		return c.openComm(t, c.a[flagsAt])
	}
	if errno == 0 {
		if _, text, hidden := c.p.substitute(s); hidden {
			return errRes(unix.ENOENT)
		} else if text != nil && c.a[flagsAt]&unix.O_ACCMODE == unix.O_RDONLY {
			return openText(path.Base(s), text(c.p), c.a[flagsAt])
		}
	}
	c.pathArg(pathAt)
	r := pass(c)
	if r >= 0 && c.a[flagsAt]&unix.O_TRUNC != 0 {
		c.p.fileWritten(int(r))
	}
	return r
}

// commOf is the thread whose name a path gives, nil if it is none.
func (c *call) commOf(s string) *Thread {
	rest, ok := strings.CutPrefix(path.Clean(s), "/proc/")
	parts := strings.Split(rest, "/")
	if n := len(parts); !ok || n < 2 || parts[n-1] != "comm" {
		return nil
	}
	byID := func(id string) *Thread {
		tid, err := strconv.Atoi(id)
		if err != nil {
			return nil
		}
		return c.p.thread(tid)
	}
	switch own := parts[0] == "self" || parts[0] == strconv.Itoa(c.p.id); {
	case len(parts) == 2 && parts[0] == "thread-self":
		return c.t
	case len(parts) == 2 && own:
		return c.p.threads[0]
	case len(parts) == 2:
		return byID(parts[0])
	case len(parts) == 4 && own && parts[1] == "task":
		return byID(parts[2])
	}
	return nil
}

// openComm opens a thread's name; what is written there renames the thread.
func (c *call) openComm(t *Thread, flags uint64) int64 {
	fd := openText("comm", t.Name+"\n", flags)
	if fd >= 0 && flags&unix.O_ACCMODE != unix.O_RDONLY {
		c.p.files.names[int(fd)] = t
	}
	return fd
}

// nameThread is a write to such a file.
func (c *call) nameThread(t *Thread) int64 {
	b := make([]byte, min(c.a[2], maxName))
	if !c.p.mem.read(c.a[1], b) {
		return errRes(unix.EFAULT)
	}
	name, _, _ := strings.Cut(string(b), "\x00")
	t.Name = strings.TrimSuffix(name, "\n")
	return int64(c.a[2])
}

func sysOpenat2(c *call) int64 {
	if !c.pathArg(1) {
		return errRes(unix.ENOENT)
	}
	return pass(c)
}

// openText makes an open file with a text in it.
func openText(name, text string, flags uint64) int64 {
	mode := 0
	if flags&unix.O_CLOEXEC != 0 {
		mode = unix.MFD_CLOEXEC
	}
	fd, err := unix.MemfdCreate(name, mode)
	if err != nil {
		return errRes(unix.EMFILE)
	}
	if _, err := unix.Pwrite(fd, []byte(text), 0); err != nil {
		unix.Close(fd)
		return errRes(unix.ENOMEM)
	}
	return int64(fd)
}

func sysReadlink(c *call) int64   { return c.readlink(0) }
func sysReadlinkat(c *call) int64 { return c.readlink(1) }

func (c *call) readlink(at int) int64 {
	s, errno := c.p.mem.cString(c.a[at], pathMax)
	if errno != 0 {
		return pass(c)
	}
	full, ok := c.p.realPath(s)
	if ok && full == "/proc/self/exe" {
		n := min(uint64(len(c.p.exe)), c.a[at+2])
		if r := c.put(c.a[at+1], []byte(c.p.exe)[:n]); r != 0 {
			return r
		}
		return int64(n)
	}
	if !c.pathArg(at) {
		return errRes(unix.ENOENT)
	}
	return pass(c)
}

func cpuRange(p *Process) string {
	if p.cfg.Cores == 1 {
		return "0\n"
	}
	return fmt.Sprintf("0-%d\n", p.cfg.Cores-1)
}

func (p *Process) procStat() string {
	var b strings.Builder
	b.WriteString("cpu  0 0 0 0 0 0 0 0 0 0\n")
	for i := range p.cfg.Cores {
		fmt.Fprintf(&b, "cpu%d 0 0 0 0 0 0 0 0 0 0\n", i)
	}
	fmt.Fprintf(&b, "intr 0\nctxt 0\nbtime %d\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n", int64((epoch-bootTime)/1e9))
	return b.String()
}

func meminfo() string {
	return fmt.Sprintf("MemTotal:       %8d kB\nMemFree:        %8d kB\nMemAvailable:   %8d kB\nBuffers:              "+
		" 0 kB\nCached:                0 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n",
		memTotal>>10, memFree>>10, memFree>>10)
}

// nodeMeminfo is the memory of the one memory node.
func nodeMeminfo() string {
	return fmt.Sprintf("Node 0 MemTotal:       %8d kB\nNode 0 MemFree:        %8d kB\nNode 0 MemUsed:        %8d kB\n",
		memTotal>>10, memFree>>10, (memTotal-memFree)>>10)
}

// nodeCores is the set of all cores.
func (p *Process) nodeCores() string { return coreSet(p, p.coreMask()) + "\n" }

// coreSet is a set of cores as the kernel prints it: words of 32 bits in hexadecimal, the highest
// first and as wide as there are cores.
func coreSet(p *Process, mask []byte) string {
	n := (p.cfg.Cores + 31) / 32
	words := make([]string, n)
	for i := range n {
		words[n-1-i] = fmt.Sprintf("%08x", le32(mask[4*i:]))
	}
	words[0] = words[0][8-((p.cfg.Cores-1)%32/4+1):]
	return strings.Join(words, ",")
}

// procMaps is /proc/self/maps.
func (p *Process) procMaps() string {
	var b strings.Builder
	for _, m := range p.mem.maps.rows {
		flags := []byte("---p")
		for i, bit := range []int{unix.PROT_READ, unix.PROT_WRITE, unix.PROT_EXEC} {
			if m.prot&bit != 0 {
				flags[i] = "rwx"[i]
			}
		}
		if m.shared {
			flags[3] = 's'
		}
		name, dev, ino := m.name, uint64(0), uint64(0)
		if m.file != nil {
			name, dev, ino = m.file.path, m.file.dev, m.file.ino
		}
		line := fmt.Sprintf("%08x-%08x %s %08x %02x:%02x %d", m.lo, m.hi, flags, m.off, unix.Major(dev), unix.Minor(dev), ino)
		if name != "" {
			line = fmt.Sprintf("%-72s %s", line, name)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// size is the guest's virtual size in bytes.
func (p *Process) size() (n uint64) {
	for _, m := range p.mem.maps.rows {
		n += m.hi - m.lo
	}
	return n
}

func (p *Process) procStatm() string {
	n := p.size() / pageSize
	return fmt.Sprintf("%d %d 0 0 0 %d 0\n", n, min(n, 16384), n)
}

func (p *Process) procSelfStat() string {
	t := p.threads[0]
	return fmt.Sprintf("%d (%s) R %d %d %d 0 -1 0 0 0 0 0 %d 0 0 0 20 0 %d 0 %d %d 16384 18446744073709551615 0 0 %d "+
		"0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		p.id, t.Name, unix.Getppid(), unix.Getpgrp(), unix.Getpgrp(), int64(p.host.CPUTime(nil)/1e7), len(p.threads),
		int64(bootTime/1e7), p.size(), p.mem.layout.HighHi-pageSize)
}

func splitLines(s string) iter.Seq[string] { return strings.SplitSeq(s, "\n") }
