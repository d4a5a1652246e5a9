package engine

import "syscall"

// Code that may be written without a system call is watched: while translations of it exist, every
// page through which it can be written is write-protected. The first write faults, the translations
// are forgotten, and the page is writable again.

// guard is a page that is write-protected.
type guard struct {
	exec  bool     // the program may run code on it (its child processes do, natively)
	pages []uint64 // pages of code that it protects: itself, or others that show the same memory
}

// ownProtection reports whether a fault is a write to a page that the engine has
// protected; the page is writable then, and the code behind it forgotten.
func (e *Engine) ownProtection(addr, trap, errno uint64) bool {
	page := addr / pageSize
	if trap != trapPF || errno&errWrite == 0 || e.guards[page] == nil {
		return false
	}
	e.Invalidate(page*pageSize, (page+1)*pageSize)
	return true
}

// protect takes away the right to write code in [lo, hi), which is being translated.
func (e *Engine) protect(lo, hi uint64, r *Range) {
	for p := lo / pageSize; p <= (hi-1)/pageSize; p++ {
		if r.Write {
			e.guardPage(p, p, true)
		}
		for i := range r.Twins {
			if t := &r.Twins[i]; t.Lo <= p*pageSize && p*pageSize < t.Hi {
				e.guardPage((t.At+p*pageSize-t.Lo)/pageSize, p, t.Exec)
			}
		}
	}
}

// guardPage protects page for the sake of the code on another, or on itself.
func (e *Engine) guardPage(page, code uint64, exec bool) {
	g := e.guards[page]
	if g == nil {
		if !mprotect(page, rights(exec)) {
			return
		}
		g = &guard{exec: exec}
		e.guards[page] = g
	}
	for _, c := range g.pages {
		if c == code {
			return
		}
	}
	g.pages = append(g.pages, code)
}

// lift makes a page writable again, whose code is forgotten.
func (e *Engine) lift(page uint64) {
	mprotect(page, rights(e.guards[page].exec)|syscall.PROT_WRITE)
	delete(e.guards, page)
}

// rights are those of a guarded page.
func rights(exec bool) int {
	if exec {
		return syscall.PROT_READ | syscall.PROT_EXEC
	}
	return syscall.PROT_READ
}

func mprotect(page uint64, prot int) bool {
	_, _, errno := syscall.RawSyscall(syscall.SYS_MPROTECT, uintptr(page*pageSize), pageSize, uintptr(prot))
	return errno == 0
}

// Invalidate forgets all translations of guest code that lies in [lo, hi), or that could be written
// there. The guest calls it before it maps, unmaps, writes or changes the protection of memory.
func (e *Engine) Invalidate(lo, hi uint64) {
	if hi <= lo {
		return
	}
	e.beforeForget(lo, hi)
	e.forget(lo, hi)
	for _, p := range pagesIn(e.guards, lo/pageSize, (hi-1)/pageSize) {
		for _, c := range e.guards[p].pages {
			if c != p || c*pageSize < lo || (c+1)*pageSize > hi {
				e.forget(c*pageSize, (c+1)*pageSize)
			}
		}
		e.lift(p)
	}
}

// forget drops the translations of code in [lo, hi).
func (e *Engine) forget(lo, hi uint64) {
	first, last := lo/pageSize, (hi-1)/pageSize
	if len(pagesIn(e.scanned, first, last)) > 0 {
		e.flagsAt, e.scanned = nil, nil
	}
	for _, p := range pagesIn(e.heads, first, last) {
		e.forgetHeads(p, lo, hi)
	}
	for _, p := range pagesIn(e.pages, first, last) {
		for _, b := range append([]*block(nil), e.pages[p]...) {
			if b.pc < hi && lo < b.end() {
				e.drop(b)
			}
		}
	}
}
