package guest

import (
	"testing"

	"golang.org/x/sys/unix"
)

const anonymous = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS

const noFD = ^uint64(0)

func TestAddressesAreTheSameEveryTime(t *testing.T) {
	var first []int64
	for round := range 2 {
		r := newRig(t, 1)
		var got []int64
		for _, n := range []uint64{1, 5000, 3 << 20, 100} {
			got = append(got, r.must(0, "mmap", 0, n, 3, anonymous, noFD, 0))
		}
		r.must(0, "munmap", uint64(got[1]), 5000)
		got = append(got, r.must(0, "mmap", 0, 4096, 3, anonymous, noFD, 0))
		got = append(got, r.must(0, "mmap", 0, 4096, 7, anonymous, noFD, 0)) // code lies low
		if round == 0 {
			first = got
		}
		for i := range got {
			if got[i] != first[i] {
				t.Errorf("map %d at %#x, then at %#x", i, first[i], got[i])
			}
		}
		if low := uint64(got[5]); low >= testLayout.LowHi {
			t.Errorf("code mapped at %#x", low)
		}
		r.p.Close()
	}
}

func TestMmapRules(t *testing.T) {
	r := newRig(t, 1)
	r.expect(-int64(unix.EINVAL), 0, "mmap", 0, 0, 3, anonymous, noFD, 0)
	r.expect(-int64(unix.EBADF), 0, "mmap", 0, 1, 3, unix.MAP_PRIVATE, uint64(r.p.signalFD), 0)
	r.expect(-int64(unix.EEXIST), 0, "mmap", r.mem, 1, 3, anonymous|unix.MAP_FIXED_NOREPLACE, noFD, 0)
	r.expect(int64(r.mem), 0, "mmap", r.mem, 4096, 1, anonymous|unix.MAP_FIXED, noFD, 0)
	if r.p.mem.store32(r.mem, 1) {
		t.Error("a read-only page was written")
	}
	// the first page and the test binary itself are not to be had
	if v, _ := r.call(0, "mmap", 0, 4096, 3, anonymous|unix.MAP_FIXED, noFD, 0); v >= 0 {
		t.Error("page 0 mapped")
	}
	if v, _ := r.call(0, "mmap", 0x400000, 4096, 3, anonymous|unix.MAP_FIXED, noFD, 0); v != -int64(unix.ENOMEM) {
		t.Errorf("over the program itself: %d", v)
	}
	r.expect(-int64(unix.ENOMEM), 0, "mprotect", 0x7000_0000_0000, 4096, 1)
	r.expect(-int64(unix.EINVAL), 0, "munmap", r.mem+1, 4096)
}

// Code generators want memory near the program, others at addresses that are short:
// who gets it elsewhere asks again and again, or gives up.
func TestHintsAreTakenWhereNobodyIs(t *testing.T) {
	r := newRig(t, 1)
	low, far := testLayout.LowLo+0x10_0000, testLayout.HintLo+0x1000
	for _, hint := range []uint64{low, low + 8192, far, testLayout.HighLo + brkRoom + 1<<30} {
		r.expect(int64(hint), 0, "mmap", hint, 8192, 3, anonymous, noFD, 0)
	}
	for _, hint := range []uint64{low, low - 4096, far + 4096, testLayout.HighLo, 0x400000, testLayout.LowHi - 4096, 1 << 46} {
		if at := uint64(r.must(0, "mmap", hint, 8192, 3, anonymous, noFD, 0)); at == hint || at < testLayout.HighLo {
			t.Errorf("hint %#x: mapped at %#x", hint, at)
		}
	}
	if at := uint64(r.must(0, "mmap", far+0x10000, 4096, 7, anonymous, noFD, 0)); at >= testLayout.LowHi {
		t.Errorf("code mapped at %#x", at)
	}
	r.expect(0, 0, "munmap", far, 8192)
	r.expect(int64(far), 0, "mmap", far, 4096, 3, anonymous, noFD, 0)
}

func TestBrkGrowsAndShrinks(t *testing.T) {
	r := newRig(t, 1)
	base := uint64(r.must(0, "brk", 0))
	r.expect(int64(base+10000), 0, "brk", base+10000)
	r.store32(base+9996, 77)
	r.expect(int64(base+4096), 0, "brk", base+4096)
	if _, ok := r.p.mem.load32(base + 9996); ok {
		t.Error("the heap did not shrink")
	}
	r.expect(int64(base+10000), 0, "brk", base+10000)
	if v := r.load32(base + 9996); v != 0 {
		t.Errorf("new heap holds %d", v)
	}
	r.expect(int64(base+10000), 0, "brk", base-1)
}

func TestMremap(t *testing.T) {
	r := newRig(t, 1)
	a := uint64(r.must(0, "mmap", 0, 8*pageSize, 3, anonymous, noFD, 0))
	r.must(0, "munmap", a+2*pageSize, 6*pageSize)
	r.store32(a, 42)
	r.expect(int64(a), 0, "mremap", a, 2*pageSize, 6*pageSize, 0) // room behind it
	r.store32(a+5*pageSize, 43)
	r.expect(int64(a), 0, "mremap", a, 6*pageSize, pageSize, 0)
	if _, ok := r.p.mem.load32(a + 5*pageSize); ok {
		t.Error("the map did not shrink")
	}
	r.must(0, "mmap", a+pageSize, pageSize, 3, anonymous|unix.MAP_FIXED, noFD, 0)
	// A neighbour with equal rights is one mapping with it, for us and for the kernel: stop it.
	r.must(0, "mprotect", a+pageSize, pageSize, 1)
	r.expect(-int64(unix.ENOMEM), 0, "mremap", a, pageSize, 4*pageSize, 0)
	b := uint64(r.must(0, "mremap", a, pageSize, 4*pageSize, unix.MREMAP_MAYMOVE))
	if b == a || r.load32(b) != 42 {
		t.Errorf("moved to %#x, holds %d", b, r.load32(b))
	}
	if _, ok := r.p.mem.load32(a); ok {
		t.Error("the old place is still mapped")
	}
	r.must(0, "mmap", a, pageSize, 3, anonymous|unix.MAP_FIXED_NOREPLACE, noFD, 0)
}

func TestCodeChangesAreTold(t *testing.T) {
	r := newRig(t, 1)
	a := uint64(r.must(0, "mmap", 0, 4*pageSize, 3, anonymous, noFD, 0))
	told := func(want bool, what string) {
		t.Helper()
		if got := len(r.host.invalidated) > 0; got != want {
			t.Errorf("%s: invalidated %v", what, r.host.invalidated)
		}
		r.host.invalidated = nil
	}
	told(false, "data mapped")
	r.must(0, "mprotect", a, pageSize, 5)
	told(true, "made executable")
	r.must(0, "munmap", a+pageSize, pageSize)
	told(false, "data unmapped")
	r.must(0, "munmap", a, pageSize)
	told(true, "code unmapped")
}

func TestOutOfAddresses(t *testing.T) {
	r := newRig(t, 1)
	r.expect(-int64(unix.ENOMEM), 0, "mmap", 0, 3<<40, 3, anonymous, noFD, 0)
	r.expect(-int64(unix.ENOMEM), 0, "mmap", 0, ^uint64(0)-5000, 3, anonymous, noFD, 0)
}
