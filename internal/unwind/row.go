package unwind

import "fmt"

// Registers by DWARF number on x86-64 (System V ABI, figure 3.36).
const (
	regRBX = 3
	regRBP = 6
	regRSP = 7
	regRA  = 16
	// NumRegs is the number of registers that are followed: 0-15 and the return address.
	NumRegs = 17
)

type ruleKind uint8

const (
	same      ruleKind = iota // the caller's value is the current one
	undefined                 // lost; for the return address: the outermost frame
	offset                    // at CFA + n
	valOffset                 // is CFA + n
	register                  // in register n
	expr                      // at the address that an expression gives
	valExpr                   // the value of an expression
)

type rule struct {
	kind ruleKind
	n    int64
	expr []byte
}

// row says how to find the caller's registers at one PC.
type row struct {
	cfaReg  uint8
	cfaOff  int64
	cfaExpr []byte
	regs    [NumRegs]rule
	signal  bool
}

// Call frame instructions (DWARF 5, table 7.29, and GNU extensions).
const (
	cfaAdvance        = 0x40
	cfaOffset         = 0x80
	cfaRestore        = 0xc0
	cfaNop            = 0x00
	cfaSetLoc         = 0x01
	cfaAdvance1       = 0x02
	cfaAdvance2       = 0x03
	cfaAdvance4       = 0x04
	cfaOffsetExt      = 0x05
	cfaRestoreExt     = 0x06
	cfaUndefined      = 0x07
	cfaSameValue      = 0x08
	cfaRegister       = 0x09
	cfaRemember       = 0x0a
	cfaRestoreState   = 0x0b
	cfaDefCFA         = 0x0c
	cfaDefCFAReg      = 0x0d
	cfaDefCFAOff      = 0x0e
	cfaDefCFAExpr     = 0x0f
	cfaExpression     = 0x10
	cfaOffsetExtSF    = 0x11
	cfaDefCFASF       = 0x12
	cfaDefCFAOffSF    = 0x13
	cfaValOffset      = 0x14
	cfaValOffsetSF    = 0x15
	cfaValExpression  = 0x16
	cfaGNUArgsSize    = 0x2e
	cfaGNUNegOffset   = 0x2f
	maxRemembered     = 64
	maxInstructions   = 1 << 16
	maxExprOperations = 1 << 10
)

// machine runs call frame instructions.
type machine struct {
	cie     *cie
	row     row
	initial row
	stack   []row
	loc     uint64
	addr    uint64 // address that loc must reach: instructions beyond it are not run
}

// rowAt computes the row for pc.
func (f *fde) rowAt(pc uint64) (row, error) {
	m := machine{cie: f.cie, loc: f.lo, addr: ^uint64(0)}
	m.row.signal = f.cie.signal
	if err := m.run(f.cie.code); err != nil {
		return row{}, err
	}
	m.initial, m.addr, m.loc = m.row, pc, f.lo
	if err := m.run(f.code); err != nil {
		return row{}, err
	}
	return m.row, nil
}

func (m *machine) run(code []byte) error {
	r := &reader{b: code}
	for n := 0; r.at < len(code); n++ {
		if n > maxInstructions {
			return fmt.Errorf("%w: more than %d instructions", ErrFormat, maxInstructions)
		}
		done, err := m.step(r)
		if err == nil {
			err = r.err
		}
		if err != nil || done {
			return err
		}
	}
	return nil
}

// step runs one instruction; done: the row for the wanted address is complete.
func (m *machine) step(r *reader) (done bool, err error) {
	op := r.u8()
	switch op & 0xc0 {
	case cfaAdvance:
		return m.advance(uint64(op & 0x3f)), nil
	case cfaOffset:
		m.set(uint64(op&0x3f), rule{kind: offset, n: int64(r.uleb()) * m.cie.dataAlign})
		return false, nil
	case cfaRestore:
		m.restore(uint64(op & 0x3f))
		return false, nil
	}
	switch op {
	case cfaNop:
	case cfaSetLoc:
		return m.setLoc(r)
	case cfaAdvance1:
		return m.advance(uint64(r.u8())), nil
	case cfaAdvance2:
		return m.advance(uint64(r.u16())), nil
	case cfaAdvance4:
		return m.advance(uint64(r.u32())), nil
	case cfaRemember:
		if len(m.stack) >= maxRemembered {
			return false, fmt.Errorf("%w: states remembered too deep", ErrFormat)
		}
		m.stack = append(m.stack, m.row)
	case cfaRestoreState:
		if len(m.stack) == 0 {
			return false, fmt.Errorf("%w: no state to restore", ErrFormat)
		}
		m.row, m.stack = m.stack[len(m.stack)-1], m.stack[:len(m.stack)-1]
	default:
		return false, m.define(op, r)
	}
	return false, nil
}

// define runs the instructions that set one rule.
func (m *machine) define(op uint8, r *reader) error {
	switch op {
	case cfaOffsetExt:
		m.set(r.uleb(), rule{kind: offset, n: int64(r.uleb()) * m.cie.dataAlign})
	case cfaOffsetExtSF:
		m.set(r.uleb(), rule{kind: offset, n: r.sleb() * m.cie.dataAlign})
	case cfaGNUNegOffset:
		m.set(r.uleb(), rule{kind: offset, n: -int64(r.uleb()) * m.cie.dataAlign})
	case cfaValOffset:
		m.set(r.uleb(), rule{kind: valOffset, n: int64(r.uleb()) * m.cie.dataAlign})
	case cfaValOffsetSF:
		m.set(r.uleb(), rule{kind: valOffset, n: r.sleb() * m.cie.dataAlign})
	case cfaRestoreExt:
		m.restore(r.uleb())
	case cfaUndefined:
		m.set(r.uleb(), rule{kind: undefined})
	case cfaSameValue:
		m.set(r.uleb(), rule{kind: same})
	case cfaRegister:
		m.set(r.uleb(), rule{kind: register, n: int64(followed(r))})
	case cfaExpression:
		m.set(r.uleb(), rule{kind: expr, expr: r.take(int(min(r.uleb(), uint64(len(r.b)))))})
	case cfaValExpression:
		m.set(r.uleb(), rule{kind: valExpr, expr: r.take(int(min(r.uleb(), uint64(len(r.b)))))})
	case cfaGNUArgsSize:
		r.uleb()
	default:
		return m.cfa(op, r)
	}
	return nil
}

// cfa runs the instructions that say what the canonical frame address is.
func (m *machine) cfa(op uint8, r *reader) error {
	switch op {
	case cfaDefCFA:
		m.row.cfaReg, m.row.cfaOff, m.row.cfaExpr = followed(r), int64(r.uleb()), nil
	case cfaDefCFASF:
		m.row.cfaReg, m.row.cfaOff, m.row.cfaExpr = followed(r), r.sleb()*m.cie.dataAlign, nil
	case cfaDefCFAReg:
		m.row.cfaReg, m.row.cfaExpr = followed(r), nil
	case cfaDefCFAOff:
		m.row.cfaOff = int64(r.uleb())
	case cfaDefCFAOffSF:
		m.row.cfaOff = r.sleb() * m.cie.dataAlign
	case cfaDefCFAExpr:
		m.row.cfaExpr = r.take(int(min(r.uleb(), uint64(len(r.b)))))
	default:
		return fmt.Errorf("%w: unknown instruction %#x", ErrFormat, op)
	}
	return nil
}

// followed reads the number of a register whose value is wanted, which must be one of those that
// are followed.
func followed(r *reader) uint8 {
	n := r.uleb()
	if n >= NumRegs {
		if r.err == nil {
			r.err = fmt.Errorf("%w: register %d, of which no value is known", ErrFormat, n)
		}
		return 0
	}
	return uint8(n)
}

// setLoc goes on to an absolute address. Compilers use no other, and what an address relative to
// the section means is not known here.
func (m *machine) setLoc(r *reader) (done bool, err error) {
	if m.cie.enc&0x70 != 0 {
		return false, fmt.Errorf("%w: a location of encoding %#x", ErrFormat, m.cie.enc)
	}
	loc := r.pointer(m.cie.enc, 0)
	if r.err != nil || loc > m.addr {
		return true, r.err
	}
	m.loc = loc
	return false, nil
}

func (m *machine) advance(delta uint64) (done bool) {
	next := m.loc + delta*m.cie.codeAlign
	if next > m.addr {
		return true
	}
	m.loc = next
	return false
}

func (m *machine) set(reg uint64, r rule) {
	if reg < NumRegs {
		m.row.regs[reg] = r
	}
}

func (m *machine) restore(reg uint64) {
	if reg < NumRegs {
		m.row.regs[reg] = m.initial.regs[reg]
	}
}
