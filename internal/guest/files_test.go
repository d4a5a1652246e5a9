package guest

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// path puts a string into guest memory.
func (r *rig) path(s string) uint64 {
	a := r.mem + 2*pageSize
	r.p.mem.write(a, append([]byte(s), 0))
	return a
}

// slurp reads a file as the guest does.
func (r *rig) slurp(name string) string {
	r.Helper()
	fd := uint64(r.must(0, "open", r.path(name), unix.O_RDONLY|unix.O_CLOEXEC))
	defer r.call(0, "close", fd)
	n := r.must(0, "read", fd, r.mem+3*pageSize, 4*pageSize)
	return string(bytesAt(r.mem+3*pageSize, uint64(n)))
}

func TestFilesAboutTheMachine(t *testing.T) {
	r := newRig(t, 2)
	r.p.exe, r.p.args = "/usr/bin/prog", []string{"prog", "x"}
	rows := []struct{ path, want string }{
		{"/sys/devices/system/cpu/online", "0-3\n"},
		{"/proc/self/cmdline", "prog\x00x\x00"},
		{"/proc/4200000/cmdline", "prog\x00x\x00"},
		{"/proc/self/../self/./cmdline", "prog\x00x\x00"},
		{"/proc/cpuinfo", "processor\t: 3\n"},
		{"/proc/stat", "cpu3 "},
		{"/proc/meminfo", "MemTotal:       16777216 kB"},
		{"/proc/self/maps", " rw-p "},
		{"/proc/self/status", "Threads:\t2\n"},
		{"/proc/self/task/4200001/stat", "4200000 ("},
		{"/sys/devices/system/node/node0/cpumap", "f\n"},
		{"/sys/devices/system/node/node0/meminfo", "MemFree:        12582912 kB"},
	}
	for _, row := range rows {
		if got := r.slurp(row.path); !strings.Contains(got, row.want) {
			t.Errorf("%s: %q does not hold %q", row.path, got, row.want)
		}
	}
	for _, p := range []string{"/sys/fs/cgroup/cpu.max", "/sys/devices/system/cpu/cpu0/topology/core_id",
		"/proc/self/smaps", "/sys/devices/system/node/node0/numastat"} {
		r.expect(-int64(unix.ENOENT), 0, "open", r.path(p), 0)
	}
	n := r.must(0, "readlink", r.path("/proc/self/exe"), r.mem, 100)
	if got := string(bytesAt(r.mem, uint64(n))); got != "/usr/bin/prog" {
		t.Errorf("exe is %q", got)
	}
}

func TestCoresOfTheMemoryNode(t *testing.T) {
	for cores, want := range map[int]string{1: "1\n", 32: "ffffffff\n", 33: "1,ffffffff\n", 100: "f,ffffffff,ffffffff,ffffffff\n"} {
		p := &Process{cfg: Config{Cores: cores}}
		if got := p.nodeCores(); got != want {
			t.Errorf("%d cores: %q, want %q", cores, got, want)
		}
	}
}

func TestOneMemoryNode(t *testing.T) {
	r := newRig(t, 1)
	r.store32(r.mem, 7)
	r.p.mem.store64(r.mem+64, 7)
	r.expect(0, 0, "get_mempolicy", 0, 0, 0, 0, 0) // how a library asks whether there are nodes
	r.expect(0, 0, "get_mempolicy", r.mem, r.mem+64, 64, 0, 0)
	if mode, nodes := r.load32(r.mem), r.load32(r.mem+64); mode != 0 || nodes != 0 {
		t.Errorf("policy %d for nodes %#x", mode, nodes)
	}
	r.expect(0, 0, "get_mempolicy", 0, r.mem+64, 64, 0, 4)
	if nodes := r.load32(r.mem + 64); nodes != 1 {
		t.Errorf("allowed are nodes %#x", nodes)
	}
	r.expect(-int64(unix.EINVAL), 0, "get_mempolicy", 0, 0, 0, 0, 8)
}

func TestRandomIsTheSameEveryTime(t *testing.T) {
	var first string
	for round := range 2 {
		r := newRig(t, 1)
		r.expect(64, 0, "getrandom", r.mem, 64, 0)
		fd := uint64(r.must(0, "openat", uint64(0xffffff9c), r.path("/dev/urandom"), unix.O_CLOEXEC))
		r.expect(64, 0, "read", fd, r.mem+64, 64)
		r.call(0, "close", fd)
		got := string(bytesAt(r.mem, 128))
		if round == 0 {
			first = got
		}
		if got != first || strings.Count(got, "\x00") > 30 {
			t.Errorf("round %d: %x", round, got)
		}
		r.p.Close()
	}
}

func TestPipeBetweenThreads(t *testing.T) {
	r := newRig(t, 2)
	r.expect(0, 0, "pipe2", r.mem, unix.O_CLOEXEC)
	in, out := uint64(r.load32(r.mem)), uint64(r.load32(r.mem+4))
	r.blocks(0, "read", in, r.mem+64, 10)
	if n := r.p.HostWaiters(); n != 1 {
		t.Errorf("%d waiters", n)
	}
	r.p.mem.write(r.mem+128, []byte("hello"))
	r.expect(5, 1, "write", out, r.mem+128, 5)
	r.woken(0) // at once, not when somebody looks
	r.resumes(0, 5)
	if got := string(bytesAt(r.mem+64, 5)); got != "hello" {
		t.Errorf("read %q", got)
	}
	// A write larger than the pipe goes on as the reader empties it.
	const big = 3 * 64 << 10
	buf := uint64(r.must(0, "mmap", 0, big, 3, anonymous, noFD, 0))
	r.blocks(1, "write", out, buf, big)
	total := int64(0)
	for total < big {
		n := r.must(0, "read", in, buf, 64<<10)
		total += n
		if len(r.host.ready) > 0 {
			r.host.ready = nil
			if o := r.p.Enter(r.p.threads[1]); o.Kind == Continue && r.p.threads[1].Ctx.GPR[rax] != big {
				t.Fatalf("wrote %d", r.p.threads[1].Ctx.GPR[rax])
			}
		}
	}
	r.expect(0, 0, "close", in)
	r.handleLater(unix.SIGPIPE)
	if v, _ := r.call(1, "write", out, buf, 1); r.p.threads[1].Ctx.RIP != handlerPC {
		t.Errorf("write to a closed pipe: %d, no SIGPIPE", v)
	}
	r.call(0, "close", out)
}

func TestPollWaitsInSimulatedTime(t *testing.T) {
	r := newRig(t, 1)
	r.expect(0, 0, "pipe2", r.mem, unix.O_CLOEXEC)
	in, out := r.load32(r.mem), r.load32(r.mem+4)
	r.store32(r.mem+64, in)
	r.store32(r.mem+68, unix.POLLIN)
	r.expect(0, 0, "poll", r.mem+64, 1, 0)
	r.blocks(0, "poll", r.mem+64, 1, 5000)
	then, ok := r.p.Idle(1000)
	if !ok || then != 1000+5e9 {
		t.Fatalf("idle until %d", then)
	}
	r.host.now = then
	r.resumes(0, 0)
	// select on the same
	r.p.mem.store64(r.mem+256, 1<<in)
	r.p.mem.write(r.mem+512, timevalBytes(2e9))
	r.blocks(0, "select", uint64(in+1), r.mem+256, 0, 0, r.mem+512)
	then, _ = r.p.Idle(then)
	r.host.now = then
	r.resumes(0, 0)
	if v, _ := r.p.mem.load64(r.mem + 256); v != 0 {
		t.Errorf("set %#x after the timeout", v)
	}
	r.expect(1, 0, "write", uint64(out), r.mem, 1)
	r.p.mem.store64(r.mem+256, 1<<in)
	r.expect(1, 0, "select", uint64(in+1), r.mem+256, 0, 0, 0)
	r.call(0, "close", uint64(in))
	r.call(0, "close", uint64(out))
}

func TestLimesDescriptorsAreOutOfReach(t *testing.T) {
	r := newRig(t, 1)
	fd := uint64(r.p.signalFD)
	r.expect(-int64(unix.EBADF), 0, "close", fd)
	r.expect(-int64(unix.EBADF), 0, "read", fd, r.mem, 8)
	r.expect(-int64(unix.EBUSY), 0, "dup2", 0, fd)
	r.expect(0, 0, "close_range", fd, fd, 0)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
		t.Error("close_range closed it")
	}
}

func TestAffinityAndSysinfo(t *testing.T) {
	r := newRig(t, 2)
	r.expect(8, 0, "sched_getaffinity", 0, 128, r.mem)
	if v, _ := r.p.mem.load64(r.mem); v != 0xf {
		t.Errorf("mask %#x", v)
	}
	r.p.mem.store64(r.mem, 1<<2|1<<60)
	if v, out := r.call(0, "sched_setaffinity", FirstTID+1, 8, r.mem); v != 0 || out.Kind != Yield {
		t.Errorf("%d %v", v, out.Kind)
	}
	if a := r.p.threads[1].Affinity(); len(a) == 0 || a[0] != 4 {
		t.Errorf("affinity %v", a)
	}
	if id := r.p.apicID(r.p.threads[1]); id != 2 {
		t.Errorf("bound thread sees core %d", id)
	}
	r.p.mem.store64(r.mem, 1<<60)
	r.expect(-int64(unix.EINVAL), 0, "sched_setaffinity", 0, 8, r.mem)
	r.expect(-int64(unix.ESRCH), 0, "sched_getaffinity", 1, 128, r.mem)
	r.expect(0, 0, "sysinfo", r.mem)
	if v, _ := r.p.mem.load64(r.mem + 32); v != memTotal {
		t.Errorf("total memory %d", v)
	}
}
