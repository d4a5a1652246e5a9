// Package listing reads the instructions of a program's binary as text, each with the line that it
// was made of. It imports binfile, symbol and x86, and knows no profile.
package listing

import (
	"cmp"
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"lime/internal/binfile"
	"lime/internal/symbol"
	"lime/internal/x86"
)

// Instruction is an instruction of a binary.
type Instruction struct {
	Addr uint64 // link-time
	Text string // as GNU's tools write it
	File string // "" if unknown
	Line int32
}

// Binary is a file with code.
type Binary struct {
	bin   *binfile.File
	table *symbol.Table
}

// Open opens a binary. buildID, if it is not "", is the one that it must have.
func Open(path, buildID string) (*Binary, error) {
	bin, err := binfile.Open(path)
	if err != nil {
		return nil, err
	}
	if buildID != "" && bin.BuildID != buildID {
		bin.Close()
		return nil, fmt.Errorf("%s was built anew since the run (build id %.12s then, %.12s now)", path, buildID, bin.BuildID)
	}
	return &Binary{bin, symbol.Open(bin, symbol.Options{})}, nil
}

// Close frees what Open took.
func (b *Binary) Close() error {
	return cmp.Or(b.table.Close(), b.bin.Close())
}

// Block returns the instructions of so many bytes of code.
func (b *Binary) Block(addr uint64, size int) ([]Instruction, error) {
	code := b.bin.ReadAddr(addr, size)
	if len(code) < size {
		return nil, fmt.Errorf("%d bytes of code at %#x are not in the file", size, addr)
	}
	var out []Instruction
	for at := 0; at < len(code); {
		var in x86.Inst
		if err := x86.Decode(code[at:], &in); err != nil || in.Len == 0 {
			return out, fmt.Errorf("at %#x: %w", addr+uint64(at), err)
		}
		pc := addr + uint64(at)
		i := Instruction{Addr: pc, Text: b.text(code[at:at+int(in.Len)], pc, &in)}
		for _, f := range b.table.Lookup(pc).Frames {
			if f.File != "" && f.Line > 0 {
				i.File, i.Line = f.File, f.Line
				break
			}
		}
		out = append(out, i)
		at += int(in.Len)
	}
	return out, nil
}

// text writes an instruction. The library knows those up to SSE4; of the others the name and what
// they say of memory is told.
func (b *Binary) text(code []byte, pc uint64, in *x86.Inst) string {
	if d, err := x86asm.Decode(code, 64); err == nil && d.Len == int(in.Len) && in.Enc == x86.Legacy {
		return strings.TrimSpace(x86asm.GNUSyntax(d, pc, b.name))
	}
	words := []string{in.Name}
	if in.HasMem {
		words = append(words, memory(&in.Mem, pc+uint64(in.Len)))
	}
	if in.VecReads != 0 {
		words = append(words, "of"+vectors(in.VecReads))
	}
	if in.VecWrites != 0 {
		words = append(words, "to"+vectors(in.VecWrites))
	}
	return strings.Join(words, " ")
}

// vectors names vector registers, of whatever length.
func vectors(set uint32) string {
	out := ""
	for i := range 32 {
		if set>>i&1 != 0 {
			out += fmt.Sprintf(" v%d", i)
		}
	}
	return out
}

var registers = [...]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"}

// memory writes an operand in memory. next is the address of the next instruction.
func memory(m *x86.Mem, next uint64) string {
	seg := map[uint8]string{0x64: "%fs:", 0x65: "%gs:"}[m.Seg]
	if m.Base == x86.RIP {
		return fmt.Sprintf("%s%#x", seg, next+uint64(int64(m.Disp)))
	}
	out := seg
	if m.Disp < 0 {
		out += fmt.Sprintf("-%#x", -int64(m.Disp))
	} else if m.Disp > 0 {
		out += fmt.Sprintf("%#x", m.Disp)
	}
	var parts []string
	if int(m.Base) < len(registers) {
		parts = append(parts, "%"+registers[m.Base])
	} else {
		parts = append(parts, "")
	}
	switch {
	case m.VSIB:
		parts = append(parts, fmt.Sprintf("v%d", m.Index), fmt.Sprint(m.Scale))
	case int(m.Index) < len(registers):
		parts = append(parts, "%"+registers[m.Index], fmt.Sprint(m.Scale))
	}
	return out + "(" + strings.Join(parts, ",") + ")"
}

// name finds the function around an address.
func (b *Binary) name(addr uint64) (string, uint64) {
	f := b.table.Lookup(addr).Func
	if f.Name == "" || f.Entry > addr {
		return "", 0
	}
	return f.Name, f.Entry
}
