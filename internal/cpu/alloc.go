package cpu

import (
	"fmt"
	"syscall"
	"unsafe"
)

// initial values of the x87 control word and MXCSR (Linux x86-64 ABI, 3.2.1).
const (
	initFCW   = 0x37f
	initMXCSR = 0x1f80
)

// Alloc maps a context with room for edges counters outside the Go heap. Memory
// of counters costs nothing until they count. Registers are zero, vector state initial.
func Alloc(edges int, xmask uint64) (*Context, error) {
	mem, err := syscall.Mmap(-1, 0, allocSize(edges), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("memory for a guest thread's context: %w", err)
	}
	ctx := (*Context)(unsafe.Pointer(&mem[0]))
	ctx.RFLAGS = 0x202
	ctx.Scratch[SlotExit] = uint64(exitPC())
	ctx.Scratch[SlotXMask] = xmask
	ctx.Scratch[SlotSelf] = uint64(uintptr(unsafe.Pointer(ctx)))
	if hasFSGSBase() {
		ctx.Scratch[SlotBase] = 1
	}
	ctx.Miss[MissEntry], ctx.Miss[RepeatEntry] = uint64(missPC()), uint64(repeatPC())
	ctx.ResetVector()
	return ctx, nil
}

func allocSize(edges int) int { return (CountersOff + 8*edges + 4095) &^ 4095 }

// Free unmaps a context that Alloc made with the same number of edges.
func Free(ctx *Context, edges int) error {
	return syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(ctx)), allocSize(edges)))
}

// Counters returns the first n counters of ctx.
func (c *Context) Counters(n int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(c), CountersOff)), n)
}

// ResetVector gives the x87 and vector registers their initial values.
func (c *Context) ResetVector() {
	clear(c.XSave[:])
	*(*uint16)(unsafe.Pointer(&c.XSave[0])) = initFCW
	*(*uint32)(unsafe.Pointer(&c.XSave[24])) = initMXCSR
	c.XSave[512] = xX87 | xSSE // XSTATE_BV: these two are given, the rest is initial
}
