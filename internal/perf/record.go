package perf

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Type is the type of a record (perf_event_open(2), "MMAP layout", struct perf_event_header).
type Type uint32

// The types of records that lime asks for.
const (
	TypeLost       Type = unix.PERF_RECORD_LOST
	TypeComm       Type = unix.PERF_RECORD_COMM
	TypeExit       Type = unix.PERF_RECORD_EXIT
	TypeThrottle   Type = unix.PERF_RECORD_THROTTLE
	TypeUnthrottle Type = unix.PERF_RECORD_UNTHROTTLE
	TypeFork       Type = unix.PERF_RECORD_FORK
	TypeSample     Type = unix.PERF_RECORD_SAMPLE
	TypeMmap2      Type = unix.PERF_RECORD_MMAP2
	TypeSwitch     Type = unix.PERF_RECORD_SWITCH
)

// Record is one decoded record. Fields beyond Type, PID, TID and Time are set by
// type, as the comments say. Slices point into the buffer that was decoded.
type Record struct {
	Type     Type
	PID, TID int32
	Time     uint64 // CLOCK_MONOTONIC, nanoseconds
	CPU      uint32

	IP        uint64          // sample: instruction
	Addr      uint64          // sample: data address; mmap2: start of the mapping
	Period    uint64          // sample: clock (ns) or events that it stands for
	Event     uint64          // sample: id of the event that overflowed
	Regs      [NumRegs]uint64 // sample: user registers, when HasRegs
	HasRegs   bool
	Stack     []byte   // sample: copy of the user stack from the stack pointer up
	CallChain []uint64 // sample: frames by frame pointer, when asked for

	Parent, ParentTID int32  // fork, exit
	Len, Offset       uint64 // mmap2
	Prot              uint32 // mmap2
	Name              string // comm: name of the thread; mmap2: file
	Exec              bool   // comm: because of an exec
	Out               bool   // switch: the thread left its CPU
	Preempted         bool   // switch: it left although it could have run
	Lost              uint64 // lost: number of records
}

// NumRegs is the number of user registers in a sample: rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip,
// r8-r15, in the order of the kernel's enum perf_event_x86_regs without flags and segments.
const NumRegs = 17

// regsMask asks for ax, bx, cx, dx, si, di, bp, sp, ip (bits 0-8) and r8-r15 (16-23).
const regsMask = 0x1ff | 0xff<<16

// Indexes of Record.Regs.
const (
	RegBP = 6
	RegSP = 7
	RegIP = 8
)

// DWARF orders the registers of a sample by DWARF number; index 16 is the PC.
func (r *Record) DWARF() [17]uint64 {
	g := &r.Regs
	d := [17]uint64{g[0], g[3], g[2], g[1], g[4], g[5], g[6], g[7]}
	copy(d[8:16], g[9:])
	d[16] = g[RegIP]
	return d
}

// ErrRecord is returned for a record that is shorter than its type needs.
var ErrRecord = errors.New("perf record cut short")

// spec tells how a type's body is read. Every type but sample ends in the sample_id fields (tid,
// time, cpu).
type spec struct {
	name string
	body func(d *decoder, r *Record)
}

// specs lists the record types with the fields that perf_event_open(2) gives for each.
func specs() map[Type]spec {
	return map[Type]spec{
		TypeLost:       {"lost", func(d *decoder, r *Record) { d.u64(); r.Lost = d.u64() }},
		TypeComm:       {"comm", func(d *decoder, r *Record) { r.PID, r.TID = d.pair(); r.Name = d.name() }},
		TypeExit:       {"exit", taskBody},
		TypeThrottle:   {"throttle", func(d *decoder, r *Record) { d.u64(); d.u64(); d.u64() }},
		TypeUnthrottle: {"unthrottle", func(d *decoder, r *Record) { d.u64(); d.u64(); d.u64() }},
		TypeFork:       {"fork", taskBody},
		TypeSample:     {"sample", sampleBody},
		TypeMmap2:      {"mmap2", mmap2Body},
		TypeSwitch:     {"switch", func(*decoder, *Record) {}},
	}
}

func taskBody(d *decoder, r *Record) {
	r.PID, r.Parent = d.pair()
	r.TID, r.ParentTID = d.pair()
	r.Time = d.u64()
}

func mmap2Body(d *decoder, r *Record) {
	r.PID, r.TID = d.pair()
	r.Addr, r.Len, r.Offset = d.u64(), d.u64(), d.u64()
	d.u64() // device
	d.u64() // inode
	d.u64() // inode generation
	r.Prot = d.u32()
	d.u32() // flags
	r.Name = d.name()
}

// sampleBody reads what sampleType asks for, in the order of perf_event_open(2).
func sampleBody(d *decoder, r *Record) {
	r.Event = d.u64() // PERF_SAMPLE_IDENTIFIER
	r.IP = d.u64()
	r.PID, r.TID = d.pair()
	r.Time = d.u64()
	if d.layout.Addr {
		r.Addr = d.u64()
	}
	r.CPU = d.u32()
	d.u32()
	if fixed, ok := d.periods[r.Event]; ok {
		r.Period = fixed
	} else {
		r.Period = d.u64()
	}
	if d.layout.Chain {
		n := d.u64()
		for i := uint64(0); i < n && d.err == nil; i++ {
			r.CallChain = append(r.CallChain, d.u64())
		}
	}
	if d.layout.Stack > 0 {
		d.userState(r)
	}
}

// Layout says which optional fields the samples of an event have.
type Layout struct {
	Addr  bool
	Chain bool
	Stack uint32 // bytes of user stack, 0 = neither stack nor registers
}

// Decoder decodes records.
type Decoder struct {
	specs   map[Type]spec
	layout  Layout
	periods map[uint64]uint64 // of events whose samples do not hold them, by id
}

// NewDecoder returns a Decoder for events of one layout.
func NewDecoder(l Layout) *Decoder {
	return &Decoder{specs: specs(), layout: l, periods: map[uint64]uint64{}}
}

const headerSize = 8

// Decode decodes the record at the start of b (header included) and returns its size. A record of
// an unknown type is skipped: only its Type is set.
func (d *Decoder) Decode(b []byte, r *Record) (size int, err error) {
	if len(b) < headerSize {
		return 0, fmt.Errorf("%w: no header", ErrRecord)
	}
	typ, misc := Type(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint16(b[4:])
	size = int(binary.LittleEndian.Uint16(b[6:]))
	if size < headerSize || size > len(b) {
		return 0, fmt.Errorf("%w: type %d says %d bytes of %d", ErrRecord, typ, size, len(b))
	}
	*r = Record{Type: typ, CallChain: r.CallChain[:0]}
	s, ok := d.specs[typ]
	if !ok {
		return size, nil
	}
	dec := decoder{b: b[headerSize:size], layout: d.layout, periods: d.periods}
	s.body(&dec, r)
	r.Exec = typ == TypeComm && misc&unix.PERF_RECORD_MISC_COMM_EXEC != 0
	r.Out = typ == TypeSwitch && misc&unix.PERF_RECORD_MISC_SWITCH_OUT != 0
	r.Preempted = r.Out && misc&unix.PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0
	if typ != TypeSample {
		dec.trailer(r)
	}
	if dec.err != nil {
		return size, fmt.Errorf("%s record of %d bytes: %w", s.name, size, dec.err)
	}
	return size, nil
}

// decoder reads one record's body. After the first error all reads return 0.
type decoder struct {
	b       []byte
	layout  Layout
	periods map[uint64]uint64
	err     error
}

func (d *decoder) take(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.b)) {
		d.err = ErrRecord
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) u32() uint32 {
	if p := d.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if p := d.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (d *decoder) pair() (a, b int32) { return int32(d.u32()), int32(d.u32()) }

// trailerSize is that of the sample_id fields: identifier layout tid, time, cpu, id.
const trailerSize = 32

// name reads a string up to the trailer.
func (d *decoder) name() string {
	if len(d.b) < trailerSize {
		d.err = ErrRecord
		return ""
	}
	p := d.take(uint64(len(d.b) - trailerSize))
	for i, c := range p {
		if c == 0 {
			return string(p[:i])
		}
	}
	return string(p)
}

// trailer reads struct sample_id, which attr.sample_id_all puts behind every other record.
func (d *decoder) trailer(r *Record) {
	if len(d.b) > trailerSize {
		d.b = d.b[len(d.b)-trailerSize:]
	}
	pid, tid := d.pair()
	time := d.u64()
	cpu := d.u32()
	d.u32()
	r.Event = d.u64()
	if r.Type == TypeSwitch || r.Type == TypeLost || r.Type == TypeThrottle || r.Type == TypeUnthrottle {
		r.PID, r.TID = pid, tid
	}
	r.Time, r.CPU = time, cpu
}

// userState reads the user registers and the copy of the user stack.
func (d *decoder) userState(r *Record) {
	if abi := d.u64(); abi == unix.PERF_SAMPLE_REGS_ABI_64 {
		r.HasRegs = true
		for i := range r.Regs {
			r.Regs[i] = d.u64()
		}
	} else if abi != 0 {
		d.take(NumRegs * 8)
	}
	size := d.u64()
	if size == 0 {
		return
	}
	stack := d.take(size)
	if used := d.u64(); used < uint64(len(stack)) {
		stack = stack[:used]
	}
	r.Stack = stack
}
