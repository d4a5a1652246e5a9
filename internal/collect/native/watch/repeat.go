package watch

// Repeated string instructions (rep stos, rep movs, repe cmps, ...): what is before them by their
// registers, and what behind.

import (
	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

const (
	flagD = 1 << 10 // of RFLAGS: downwards (Intel SDM vol. 1, 3.4.3.2)
	// pageBytes is what a processor finds by one translation of an address. Repetitions are executed
	// in pieces (128 bytes at most on an Intel processor of 2023); behind a piece that touched a
	// watched byte the registers have passed it by no more than that.
	pageBytes = 4096
	// longestRun is what a program's addresses span: counts beyond it do not overflow here.
	longestRun = 1 << 47
)

// operand is memory that a repeated instruction goes over: what of it is before the registers, and
// what they have passed.
type operand struct {
	access        // the next unit
	left   uint64 // bytes that are still to come, if nothing ends the repetition before
	down   bool
}

// operands are those of a repeated instruction, by registers before one of its repetitions, or behind
// the last one.
func operands(in *x86.Inst, r *unix.PtraceRegs) (out []operand) {
	var list [2]x86.Access
	for _, a := range in.Accesses(list[:0]) {
		n := uint64(a.Bytes)
		out = append(out, operand{access{address(&a.Mem, 0, r), int(n), a.Read, a.Write},
			min(r.Rcx, longestRun/8) * n, r.Eflags&flagD != 0})
	}
	return out
}

// compares reports whether an instruction ends its repetitions by what it finds: further ones than
// the next may never come.
func compares(in *x86.Inst) bool { return in.Name == "cmps" || in.Name == "scas" }

// rest is the memory that is still to come.
func (o *operand) rest() (lo, hi uint64) {
	if o.down {
		return o.end() - o.left, o.end()
	}
	return o.addr, o.addr + o.left
}

// passed is the memory that may have been touched last.
func (o *operand) passed() (lo, hi uint64) {
	if o.down {
		return o.end(), o.end() + pageBytes
	}
	return o.addr - pageBytes, o.addr
}

// blocks is how many accesses are still to come, of a line's bytes at most, cut where lines begin:
// as in a simulated run.
func (o *operand) blocks() int {
	lo, hi := o.rest()
	return int((hi+lineBytes-1)/lineBytes - lo/lineBytes)
}

// block is one of the accesses that are still to come, the last one if there are fewer.
func (o *operand) block(skip int) access {
	skip = min(skip, o.blocks()-1)
	lo, hi := o.rest()
	line := lo/lineBytes + uint64(skip)
	if o.down {
		line = (hi-1)/lineBytes - uint64(skip)
	}
	a := o.access
	a.addr = max(lo, line*lineBytes)
	a.bytes = int(min(hi, line*lineBytes+lineBytes) - a.addr)
	return a
}

// repeated are the accesses of a repeated instruction that come after so many others of it.
func repeated(in *x86.Inst, r *unix.PtraceRegs, skip int) (out []access) {
	if r.Rcx == 0 {
		return nil
	}
	for _, o := range operands(in, r) {
		if compares(in) {
			out = append(out, o.access)
		} else {
			out = append(out, o.block(skip))
		}
	}
	return out
}

// crossed tells what a repeated instruction, at or behind which a thread stopped, did to watched
// bytes: ok is false if it did nothing, or nobody knows. under means that it is still at them, and
// will trap again. Where it began within them, those before count as touched, too.
func crossed(in *x86.Inst, p *watched, at bool, r *unix.PtraceRegs) (a access, bytes int, under, ok bool) {
	end := p.addr + uint64(p.bytes)
	for _, o := range operands(in, r) {
		lo, hi := o.passed()
		seen := access{addr: lo, bytes: pageBytes}.overlap(p.addr, p.bytes)
		if seen == 0 {
			continue
		}
		if ok { // by which of its operands?
			return access{}, 0, false, false
		}
		left, right := o.rest()
		under = at && seen < p.bytes && left < end && right > p.addr
		if at && !compares(in) {
			lo, hi = min(lo, left), max(hi, right)
		}
		a, bytes, ok = o.access, seen, true
		from, n := p.around(lineBytes)
		a.addr = max(lo, from)
		a.bytes = int(min(hi, from+uint64(n)) - a.addr)
	}
	return a, bytes, under, ok
}

// under reports whether a thread has stopped within a repeated instruction that is still at watched
// bytes.
func (m *memory) under(p *watched, regs *unix.PtraceRegs) bool {
	in, ok := m.instruction(regs.Rip)
	if !ok || in.Rep == 0 || regs.Rcx == 0 {
		return false
	}
	_, _, under, ok := crossed(&in, p, true, regs)
	return ok && under
}

// within is what a repeated instruction, at which a thread stands, did to watched bytes; nil if it
// was another one, for this one has not come there yet.
func within(t *Tracer, p *watched, tid int, in *x86.Inst, regs *unix.PtraceRegs) *touch {
	a, n, _, ok := crossed(in, p, true, regs)
	if !ok {
		return nil
	}
	if before, known := t.host.Before(regs.Rip); known {
		if prev, ok := t.instruction(before); ok {
			for _, x := range accesses(&prev, before, regs) {
				if x.overlap(p.addr, p.bytes) > 0 { // or was it that one?
					return &touch{thread: tid, unknown: true}
				}
			}
		}
	}
	return t.touch(tid, in, regs.Rip, regs, a, n)
}

// repeat follows a repeated instruction that goes on to the end of its count.
func (o *operation) repeat() bool {
	count, down := o.reg[x86.RCX], o.down
	if compares(o.in) || !count.ok || !down.ok || count.v > longestRun/8 {
		return false
	}
	for r := range x86.Reg(16) {
		if o.in.Writes.Has(r) && r != x86.RCX && r != x86.RSI && r != x86.RDI {
			return false // it loads a register
		}
	}
	var list [2]x86.Access
	for _, a := range o.in.Accesses(list[:0]) {
		from, n := o.address(&a.Mem, o.next), count.v*uint64(a.Bytes)
		step := n
		if down.v != 0 {
			step = -n
		}
		if a.Write && n > 0 {
			at := from
			if down.v != 0 {
				at.v -= n - uint64(a.Bytes)
			}
			o.store(at, int(n), value{})
		}
		o.reg[a.Mem.Base&15].v += step
	}
	o.reg[x86.RCX] = known(0)
	return true
}
