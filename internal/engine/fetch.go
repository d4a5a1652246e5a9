package engine

import (
	"runtime/debug"
	"syscall"

	"lime/internal/cpu"
)

// pageSize is the unit of protection.
const pageSize = 4096

// Signal codes and the page-fault error code (Linux signal.h; SDM vol. 3, 4.7).
const (
	segvMapErr = 1
	segvAccErr = 2
	trapPF     = 14
	errFetch   = 0x14 // user mode, instruction fetch
)

// fetch reads up to len(buf) bytes of guest code at pc. It returns what is there
// up to the end of the executable range, and what the mapping says.
func (e *Engine) fetch(pc uint64, buf []byte) ([]byte, Range) {
	r := Range{Lo: pc, Hi: pc + uint64(len(buf)), Exec: true}
	if e.cfg.Lookup != nil {
		var ok bool
		if r, ok = e.cfg.Lookup(pc); !ok || !r.Exec {
			return nil, r
		}
		r = e.widen(r, pc+uint64(len(buf)))
	}
	n := min(uint64(len(buf)), r.Hi-pc)
	got := uint64(0)
	for got < n {
		step := min(n-got, pageSize-(pc+got)%pageSize)
		if !readGuest(buf[got:got+step], pc+got) {
			break
		}
		got += step
	}
	return buf[:got], r
}

// widen adds to r the executable ranges that follow it, up to hi.
func (e *Engine) widen(r Range, hi uint64) Range {
	for r.Hi < hi {
		next, ok := e.cfg.Lookup(r.Hi)
		if !ok || !next.Exec || next.Hi <= r.Hi {
			break
		}
		r.Hi, r.Write, r.Twins = next.Hi, r.Write || next.Write, append(r.Twins[:len(r.Twins):len(r.Twins)], next.Twins...)
	}
	return r
}

// readGuest copies guest memory and reports false where it cannot be read.
func readGuest(dst []byte, at uint64) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	copy(dst, bytesAt(at, len(dst)))
	return true
}

// fetchFault is the exit for a jump to addr, where no code can be fetched.
func (e *Engine) fetchFault(addr uint64) cpu.Exit {
	x := cpu.Exit{Reason: cpu.ExitFault, Signal: int(syscall.SIGSEGV), Code: segvMapErr,
		Addr: addr, Trapno: trapPF, ErrNo: errFetch}
	if e.cfg.Lookup != nil {
		if _, mapped := e.cfg.Lookup(addr); mapped {
			x.Code, x.ErrNo = segvAccErr, errFetch|1
		}
	}
	return x
}
