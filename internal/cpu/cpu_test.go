package cpu

import (
	"encoding/binary"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// TestLayout holds the offsets that entry_amd64.s writes as numbers.
func TestLayout(t *testing.T) {
	for _, r := range []struct {
		name      string
		got, want uintptr
	}{
		{"GPR", OffGPR, 0}, {"RIP", OffRIP, 128}, {"RFLAGS", OffRFLAGS, 136}, {"ExitReason", OffReason, 176},
		{"Scratch", OffScratch, 192}, {"XSave", OffXSave, 448}, {"TracePtr", OffTracePtr, 432},
		{"Filter", OffFilter, 440}, {"Miss", OffMiss, 4544}, {"XSave alignment", OffXSave % 64, 0},
	} {
		if r.got != r.want {
			t.Errorf("offset of %s is %d, entry_amd64.s says %d", r.name, r.got, r.want)
		}
	}
	if SlotCount > len(Context{}.Scratch) {
		t.Errorf("%d slots, room for %d", SlotCount, len(Context{}.Scratch))
	}
	if unsafe.Sizeof(Context{}) > CountersOff {
		t.Errorf("context of %d bytes reaches into the counters", unsafe.Sizeof(Context{}))
	}
	if XSaveSize(XMask(true)) > len(Context{}.XSave) {
		t.Errorf("vector state of %d bytes does not fit", XSaveSize(XMask(true)))
	}
}

// place maps code in the range of code caches, followed by the jump that leaves.
func place(t *testing.T, code ...byte) uintptr {
	t.Helper()
	if err := Install(); err != nil {
		t.Fatal(err)
	}
	const at = CacheHigh - 0x10000
	p, _, e := syscall.Syscall6(syscall.SYS_MMAP, at, 4096, 7, syscall.MAP_PRIVATE|syscall.MAP_ANON|0x100000, ^uintptr(0), 0)
	if e != 0 {
		t.Fatal(e)
	}
	t.Cleanup(func() { syscall.Syscall(syscall.SYS_MUNMAP, p, 4096, 0) })
	code = append(code, 0x65, 0xff, 0x24, 0x25)
	code = binary.LittleEndian.AppendUint32(code, Slot(SlotExit))
	copy(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), 4096), code)
	return p
}

func newContext(t *testing.T, fast bool) *Context {
	t.Helper()
	c, err := Alloc(100, XMask(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Free(c, 100); err != nil {
			t.Error(err)
		}
	})
	if fast && HasXInUse() {
		c.Scratch[SlotFast] = 1
	}
	return c
}

// TestRoundTrip enters code that does nothing: all state must come back as it went in.
func TestRoundTrip(t *testing.T) {
	at := place(t)
	for _, fast := range []bool{false, true} {
		c := newContext(t, fast)
		for i := range c.GPR {
			c.GPR[i] = 0x0101010101010101 * uint64(i+1)
		}
		c.RFLAGS = 0x202 | 0x8d5 | 0x400 | 0x40000 // status flags, DF, AC
		c.XSave[512] |= 6
		for i := 160; i < 416; i++ {
			c.XSave[i] = byte(i)
		}
		for i := 576; i < 832; i++ {
			c.XSave[i] = byte(i * 3)
		}
		gpr, xsave, flags := c.GPR, c.XSave, c.RFLAGS
		for range 3 {
			Enter(c, at)
		}
		if c.GPR != gpr {
			t.Errorf("fast %v: registers %x, want %x", fast, c.GPR, gpr)
		}
		if c.RFLAGS != flags {
			t.Errorf("fast %v: flags %#x, want %#x", fast, c.RFLAGS, flags)
		}
		for i := 24; i < 832; i++ {
			if c.XSave[i] != xsave[i] && (i < 28 || i >= 160 && i < 416 || i >= 576) {
				t.Errorf("fast %v: vector state at %d is %x, want %x", fast, i, c.XSave[i], xsave[i])
			}
		}
	}
}

// TestWhoseContext enters contexts by turns, on several threads, and on a thread whose last one is
// gone: what runs sees its own by way of GS, whoever writes the GS base.
func TestWhoseContext(t *testing.T) {
	self := binary.LittleEndian.AppendUint32([]byte{0x65, 0x48, 0x8b, 0x04, 0x25}, Slot(SlotSelf)) // mov rax, gs:[SELF]
	at := place(t, self...)
	bases := []uint64{0}
	if hasFSGSBase() {
		bases = append(bases, 1)
	}
	enter := func(c *Context, base uint64) {
		c.Scratch[SlotBase] = base
		c.GPR[0] = 0
		if Enter(c, at); c.GPR[0] != uint64(uintptr(unsafe.Pointer(c))) {
			t.Errorf("base %d: %#x sees %#x", base, unsafe.Pointer(c), c.GPR[0])
		}
	}
	for _, base := range bases {
		a, b := newContext(t, true), newContext(t, true)
		for range 3 {
			enter(a, base)
			enter(a, base)
			enter(b, base)
		}
		done := make(chan bool)
		for _, c := range []*Context{newContext(t, true), newContext(t, true), newContext(t, true)} {
			go func() {
				runtime.LockOSThread() // and it ends with the goroutine: the next one begins with what it left
				for range 100 {
					enter(c, base)
					runtime.Gosched()
				}
				done <- true
			}()
		}
		for range 3 {
			<-done
		}
		enter(a, base)
		gone, err := Alloc(100, XMask(false))
		if err != nil {
			t.Fatal(err)
		}
		enter(gone, base)
		if err := Free(gone, 100); err != nil {
			t.Fatal(err)
		}
		enter(a, base)
	}
}

// TestFault enters code that reads address 0x10.
func TestFault(t *testing.T) {
	at := place(t, 0x90, 0x48, 0x8b, 0x04, 0x25, 0x10, 0, 0, 0) // nop; mov rax, [0x10]
	c := newContext(t, true)
	c.GPR[0] = 77
	for range 2 {
		c.ExitReason = ExitNone
		Enter(c, at)
		s := &c.Scratch
		if c.ExitReason != ExitFault || s[SlotSig] != uint64(syscall.SIGSEGV) || s[SlotSigAddr] != 0x10 ||
			s[SlotSigPC] != uint64(at)+1 || s[SlotSigTrap] != 14 || c.GPR[0] != 77 {
			t.Fatalf("reason %d, signal %d at %#x, address %#x, trap %d", c.ExitReason, s[SlotSig], s[SlotSigPC], s[SlotSigAddr], s[SlotSigTrap])
		}
	}
}

// TestGoFaults checks that faults of Go code still are Go's.
func TestGoFaults(t *testing.T) {
	place(t)
	defer func() {
		if recover() == nil {
			t.Error("a nil dereference in Go did not panic")
		}
	}()
	var p *int
	*p = 1
}
