package cpu

import (
	"sync/atomic"
	_ "unsafe" // for linkname
)

// Place says where a thread is that runs beside others. Whoever waits for it to leave generated
// code reads this.
type Place = uint64

// The places.
const (
	Outside Place = iota
	InCode        // in generated code, or on its way there
	Left          // it has left, and nobody has looked yet why
)

// PlaceOf says where the thread of ctx is.
func PlaceOf(ctx *Context) Place { return atomic.LoadUint64(&ctx.Scratch[SlotBeside]) }

// SetPlace notes where it is.
func SetPlace(ctx *Context, p Place) { atomic.StoreUint64(&ctx.Scratch[SlotBeside], p) }

//go:linkname entersyscall runtime.entersyscall
func entersyscall()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// EnterBeside is Enter for a thread beside which others run. To Go it is in a system call: its
// collector and its scheduler wait for no thread that is in generated code, and there may be more
// of these than Go has processors.
//
//go:nosplit
func EnterBeside(ctx *Context, host uintptr) {
	ctx.Scratch[SlotTarget] = uint64(host)
	entersyscall()
	enter(ctx)
	atomic.StoreUint64(&ctx.Scratch[SlotBeside], Left)
	exitsyscall()
}
