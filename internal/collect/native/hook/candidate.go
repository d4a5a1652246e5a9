package hook

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// Candidate is code of the program's own in which its threads may wait for one another: a whole
// function, or a piece of one that is entered at one place only. It is run in another place from
// then on, where it records that a thread comes in, and every way out of it.
type Candidate struct {
	Name   string
	Entry  uint64 // where it is entered; there a jump is written
	Runs   []Code // all of it, by address
	Inside bool   // it is a piece of a function: the entry is no call's target, and no return address lies there
}

// Code is instructions at their run-time address.
type Code struct {
	At    uint64
	Bytes []byte
}

// MostCandidates is how many candidates a program may have.
const MostCandidates = 64

// Limits of the room for candidates.
const (
	candidateRoom   = 1 << 18
	candidateBudget = 1 << 14 // records until it is decided whether the candidate is one
)

// errCandidate is why code cannot be watched.
var errCandidate = errors.New("its code cannot be moved")

// candidates is where the code went.
type candidates struct {
	lo, hi  uint64
	origins []origin // by address
	list    []Candidate
}

// origin is where moved code stood.
type origin struct{ now, was uint64 }

// Origin returns where code stood that was moved, and any other address as it is.
func (in *Installed) Origin(pc uint64) uint64 {
	g := &in.candidates
	if pc < g.lo || pc >= g.hi {
		return pc
	}
	i, found := slices.BinarySearchFunc(g.origins, pc, func(o origin, pc uint64) int { return cmp.Compare(o.now, pc) })
	if !found {
		i--
	}
	if i < 0 {
		return pc
	}
	return g.origins[i].was
}

// Whole is the function that is a candidate as a whole, 0 if only a piece of it is one.
func (in *Installed) Whole(candidate int) uint64 {
	if in == nil || candidate < 0 || candidate >= len(in.candidates.list) || in.candidates.list[candidate].Inside {
		return 0
	}
	return in.candidates.list[candidate].Entry
}

// Watch moves candidates. Their records have the numbers behind those of the functions, from first
// on, in the order of list; candidates that cannot be moved record nothing.
func (in *Installed) Watch(t *Tracee, r *Ring, list []Candidate, first int) error {
	if len(list) == 0 {
		return nil
	}
	list = list[:min(len(list), MostCandidates)]
	maps, err := Mappings(t.PID)
	if err != nil {
		return err
	}
	im := image{path: list[0].Name, lo: lowest(maps, list[0].Entry)}
	at, err := t.below(&im, candidateRoom)
	if err != nil {
		return err
	}
	if at, err = t.syscall(unix.SYS_MMAP, at, candidateRoom, unix.PROT_READ|unix.PROT_EXEC,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, ^uint64(0), 0); err != nil {
		return err
	}
	in.candidates = candidates{lo: at, hi: at, list: list}
	for i := range list {
		r.Allow(i, candidateBudget)
		p := in.params
		p.function, p.inside, p.budget = first+i, list[i].Inside, uint32(budgetAt(i))
		if err := in.move(t, &list[i], p); err != nil && !errors.Is(err, errCandidate) {
			return fmt.Errorf("%s: %w", list[i].Name, err)
		}
	}
	return nil
}

// lowest is the beginning of the file that is mapped around an address.
func lowest(maps []Mapping, addr uint64) uint64 {
	path, lo := "", addr
	for _, m := range maps {
		if addr >= m.Lo && addr < m.Hi {
			path = m.Path
		}
	}
	for _, m := range maps {
		if m.Path == path && path != "" {
			lo = min(lo, m.Lo)
		}
	}
	return lo
}

// move puts the code of a candidate into its new place, and a jump where it was entered.
func (in *Installed) move(t *Tracee, g *Candidate, p stubParams) error {
	m, err := moved(g, p, in.candidates.hi)
	if err != nil {
		return err
	}
	if t.held != nil && crosses(g.Entry, jumpBytes) {
		return fmt.Errorf("a jump over the end of a page: %w", errCandidate)
	}
	if in.candidates.hi+uint64(len(m.Code)) > in.candidates.lo+candidateRoom {
		return fmt.Errorf("no room: %w", errCandidate)
	}
	if err := t.write(in.candidates.hi, m.Code); err != nil {
		return err
	}
	if err := t.change(in, g.Entry, binary.LittleEndian.AppendUint32([]byte{jumpOpcode},
		uint32(in.candidates.hi-(g.Entry+jumpBytes)))); err != nil {
		return err
	}
	in.candidates.hi += uint64(len(m.Code)+15) &^ 15
	in.candidates.origins = append(in.candidates.origins, m.origins...)
	return nil
}

// mover assembles code that is moved.
type mover struct {
	asm
	p       stubParams
	base    uint64         // where it goes
	labels  map[uint64]int // by old address: offset of an instruction
	fixes   []fix          // distances that lead to instructions by their old address
	exits   map[uint64]int // by target: offset of a way out
	origins []origin
}

// fix is a distance of 32 bits before an offset.
type fix struct {
	at int
	to uint64
}

// moved assembles a candidate's code for an address:
//
//	record(enter); the code, each way out of it by way of record(return)
func moved(g *Candidate, p stubParams, base uint64) (*mover, error) {
	if !g.roomy() {
		return nil, fmt.Errorf("%s: no room for a jump at %#x: %w", g.Name, g.Entry, errCandidate)
	}
	m := &mover{p: p, base: base, labels: map[uint64]int{}, exits: map[uint64]int{}}
	m.p.place = g.Entry + 1 // stands for a return address: that of a call which begins at the entry
	m.origin(g.Entry)
	m.record(m.p, Enter)
	m.jump(g.Entry)
	for _, run := range g.Runs {
		if err := m.run(run); err != nil {
			return nil, fmt.Errorf("%s: %w", g.Name, err)
		}
	}
	if _, ok := m.labels[g.Entry]; !ok {
		return nil, fmt.Errorf("%s: no instruction at its entry %#x: %w", g.Name, g.Entry, errCandidate)
	}
	return m, m.resolve()
}

// roomy reports whether the bytes that the jump takes are all the candidate's.
func (g *Candidate) roomy() bool {
	for _, r := range g.Runs {
		if g.Entry >= r.At && g.Entry+jumpBytes <= r.At+uint64(len(r.Bytes)) {
			return true
		}
	}
	return false
}

// origin tells where the code from here on stood.
func (m *mover) origin(was uint64) {
	m.origins = append(m.origins, origin{m.base + uint64(len(m.Code)), was})
}

// jump leads to an instruction by its old address.
func (m *mover) jump(to uint64) {
	m.Jmp(m.Here() + 5)
	m.fixes = append(m.fixes, fix{len(m.Code), to})
}

// run moves instructions that stand one behind the other.
func (m *mover) run(c Code) error {
	var in x86.Inst
	for at := 0; at < len(c.Bytes); at += int(in.Len) {
		if x86.Decode(c.Bytes[at:], &in) != nil || at+int(in.Len) > len(c.Bytes) {
			return errCandidate
		}
		pc := c.At + uint64(at)
		m.origin(pc)
		m.labels[pc] = len(m.Code)
		if err := m.instruction(c.Bytes[at:at+int(in.Len)], pc, &in); err != nil {
			return err
		}
	}
	if in.Branch != x86.BranchJump && in.Branch != x86.BranchRet {
		m.jump(c.At + uint64(len(c.Bytes)))
	}
	return nil
}

func (m *mover) instruction(code []byte, pc uint64, in *x86.Inst) error {
	switch in.Branch {
	case x86.BranchCond:
		m.fixes = append(m.fixes, fix{m.JccFar(in.Cond), in.Target(pc)})
	case x86.BranchJump:
		m.jump(in.Target(pc))
	case x86.BranchCall: // returns to the new place
		m.Bytes(callOpcode)
		return m.far(in.Target(pc), 0)
	case x86.BranchRet:
		m.record(m.p, Return)
		m.Bytes(code...)
	case x86.BranchNone:
		if !in.HasMem || in.Mem.Base != x86.RIP {
			m.Bytes(code...)
			return nil
		}
		m.Bytes(code[:in.DispOff]...)
		rest := len(code) - int(in.DispOff) - 4
		if err := m.far(pc+uint64(in.Len)+uint64(int64(in.Mem.Disp)), rest); err != nil {
			return err
		}
		m.Bytes(code[len(code)-rest:]...)
	default:
		return errCandidate
	}
	return nil
}

// far emits the distance to an address from the end of an instruction, rest bytes behind it.
func (m *mover) far(target uint64, rest int) error {
	d := int64(target - (m.base + uint64(len(m.Code)+4+rest)))
	if d != int64(int32(d)) {
		return errCandidate
	}
	m.Code = binary.LittleEndian.AppendUint32(m.Code, uint32(d))
	return nil
}

// resolve completes the distances. Those that lead out of the code lead to a way out.
func (m *mover) resolve() error {
	for _, f := range m.fixes {
		to, ok := m.labels[f.to]
		if !ok {
			var err error
			if to, err = m.exit(f.to); err != nil {
				return err
			}
		}
		binary.LittleEndian.PutUint32(m.Code[f.at-4:], uint32(to-f.at))
	}
	return nil
}

// exit is a way out to where the program goes on.
func (m *mover) exit(to uint64) (at int, err error) {
	if at, ok := m.exits[to]; ok {
		return at, nil
	}
	at = len(m.Code)
	m.exits[to] = at
	m.origin(to)
	m.record(m.p, Return)
	m.Bytes(jumpOpcode)
	return at, m.far(to, 0)
}
