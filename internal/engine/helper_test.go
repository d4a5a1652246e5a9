package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"lime/internal/cpu"
	"lime/internal/testenv"
	"lime/internal/x86"
)

// guestCode is where test programs stand, guestData their data and stack.
const (
	guestCode = 0x60000000
	guestData = 0x61000000
	dataSize  = 1 << 20
)

// assemble turns assembly (GNU syntax, Intel operand order) into bytes for address at.
func assemble(t testing.TB, src string, at uint64) []byte {
	t.Helper()
	testenv.Tool(t, "gcc", "ld", "objcopy")
	dir := t.TempDir()
	file := func(n string) string { return filepath.Join(dir, n) }
	text := ".intel_syntax noprefix\n.globl _start\n_start:\n" + src + "\n"
	if err := os.WriteFile(file("a.s"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, "gcc", "-c", "-o", file("a.o"), file("a.s"))
	tool(t, "ld", fmt.Sprintf("-Ttext=%#x", at), "-o", file("a.elf"), file("a.o"))
	tool(t, "objcopy", "-O", "binary", "-j", ".text", file("a.elf"), file("a.bin"))
	code, err := os.ReadFile(file("a.bin"))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// mapGuest maps size bytes of guest memory at a fixed address for the test.
func mapGuest(t testing.TB, at uint64, size int, content []byte) []byte {
	t.Helper()
	mem, err := mapFixed(at, size)
	if err != nil {
		t.Fatalf("guest memory at %#x: %v", at, err)
	}
	t.Cleanup(func() { syscall.Syscall(syscall.SYS_MUNMAP, uintptr(at), uintptr(size), 0) })
	copy(mem, content)
	return mem
}

// machine is an engine with one context that stands at the start of a program.
type machine struct {
	*Engine
	ctx  *cpu.Context
	data []byte
	code []byte
}

func newMachine(t testing.TB, cfg Config, src string) *machine {
	t.Helper()
	code := assemble(t, src, guestCode)
	m := &machine{}
	m.code = mapGuest(t, guestCode, (len(code)+2*pageSize)&^(pageSize-1), code)
	m.data = mapGuest(t, guestData, dataSize, nil)
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	m.Engine = e
	m.newThread(t)
	return m
}

func (m *machine) newThread(t testing.TB) {
	ctx, err := m.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	ctx.RIP = guestCode
	ctx.GPR[x86.RSP] = guestData + dataSize
	m.ctx = ctx
}

// want fails the test unless x has the reason and the context the PC.
func (m *machine) want(t testing.TB, x cpu.Exit, reason cpu.ExitReason, pc uint64) {
	t.Helper()
	if x.Reason != reason || m.ctx.RIP != pc {
		t.Fatalf("exit %+v at %#x, want reason %d at %#x", x, m.ctx.RIP, reason, pc)
	}
}

func addrOf(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&mem[0]))) }
