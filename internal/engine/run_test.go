package engine

import (
	"fmt"
	"testing"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// sumLoop adds 1 to 100 in a function called in a loop, and ends with a system call.
const sumLoop = `
	mov ecx, 100
	xor eax, eax
1:	call add
	dec ecx
	jnz 1b
	mov rbx, rsp
	syscall
	nop
add:	add rax, rcx
	ret
`

func TestFirstProgram(t *testing.T) {
	for _, mode := range []Mode{Plain, Count, Trace, Log} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) { firstProgram(t, mode) })
	}
}

func firstProgram(t *testing.T, mode Mode) {
	m := newMachine(t, Config{Mode: mode}, sumLoop)
	x := m.Run(m.ctx, 1e9)
	if x.Reason != cpu.ExitSyscall {
		t.Fatalf("exit %+v at %#x", x, m.ctx.RIP)
	}
	if got := m.ctx.GPR[x86.RAX]; got != 5050 {
		t.Errorf("sum %d, want 5050", got)
	}
	if got, want := m.Retired(m.ctx), uint64(2+5*100+2); got != want {
		t.Errorf("retired %d, want %d", got, want)
	}
	if m.ctx.GPR[x86.RBX] != guestData+dataSize {
		t.Errorf("stack pointer %#x", m.ctx.GPR[x86.RBX])
	}
	m.Drain(m.ctx, func(id EdgeID, n uint64) {
		ed := m.Edges()[id]
		t.Logf("%v: %d", ed, n)
	})
}

// TestSplitCounts runs programs in which branches land inside blocks that have run: the first
// run, in which they are split, must count what the second counts.
func TestSplitCounts(t *testing.T) {
	for name, src := range map[string]string{
		"loop": sumLoop,
		"system call in a loop": `
			mov ebx, 5
			nop
		1:	inc eax
			syscall
			dec ebx
			nop
			jnz 1b
			ud2`,
		"twice": `
			mov ebx, 9
		1:	nop
		2:	nop
		3:	dec ebx
			jz 4f
			test bl, 1
			jz 1b
			test bl, 2
			jz 2b
			jmp 3b
		4:	ud2`,
		"late, then early": `
			mov ebx, 5
		1:	nop
		2:	nop
		3:	dec ebx
			jz 4f
			cmp ebx, 4
			je 3b
			cmp ebx, 3
			je 2b
			jmp 1b
		4:	ud2`,
		"self loop": `
			mov ebx, 9
			nop
		1:	dec ebx
			jnz 1b
			call 2f
			ud2
		2:	ret`,
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, Config{Mode: Count}, src)
			first := m.countAll(t)
			m.newThread(t)
			second := m.countAll(t)
			compareEdges(t, name, m.Engine, first, second)
			checkVisits(t, m.Engine, first)
		})
	}
}

// countAll runs to the last system call, or to a fault, and returns the edge counts.
func (m *machine) countAll(t *testing.T) map[EdgeID]uint64 {
	for i := 0; ; i++ {
		x := m.Run(m.ctx, 1e6)
		if x.Reason != cpu.ExitSyscall || i > 10 {
			break
		}
		if m.ctx.GPR[x86.RBX] >= guestData { // sumLoop's end
			break
		}
	}
	got := map[EdgeID]uint64{}
	m.Drain(m.ctx, func(id EdgeID, n uint64) { got[id] = n })
	return got
}
