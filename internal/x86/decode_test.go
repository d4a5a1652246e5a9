package x86

import (
	"encoding/hex"
	"strings"
	"testing"
)

// unhex takes bytes as the manual writes them.
func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func mustDecode(t testing.TB, code string) Inst {
	t.Helper()
	var in Inst
	if err := Decode(unhex(code), &in); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return in
}

func set(rs ...Reg) (s RegSet) {
	for _, r := range rs {
		s = s.With(r)
	}
	return s
}

func TestEffects(t *testing.T) {
	const none = Flags(0)
	for _, c := range []struct {
		code, text    string
		reads, writes RegSet
		fr, fw        Flags
	}{
		{"48 01 d8", "add %rbx,%rax", set(RAX, RBX), set(RAX), none, StatusFlags},
		{"11 d8", "adc %ebx,%eax", set(RAX, RBX), set(RAX), CF, StatusFlags},
		{"89 d8", "mov %ebx,%eax", set(RBX), set(RAX), none, none},
		{"66 89 d8", "mov %bx,%ax", set(RAX, RBX), set(RAX), none, none},
		{"88 e3", "mov %ah,%bl", set(RAX, RBX), set(RBX), none, none},
		{"40 88 e3", "mov %spl,%bl", set(RSP, RBX), set(RBX), none, none},
		{"d3 e0", "shl %cl,%eax", set(RAX, RCX), set(RAX), none, StatusFlags},
		{"c1 e0 20", "shl $32,%eax", set(RAX), set(RAX), none, none},
		{"0f 42 c3", "cmovb %ebx,%eax", set(RAX, RBX), set(RAX), CF, none},
		{"0f 97 c0", "seta %al", set(RAX), set(RAX), CF | ZF, none},
		{"48 f7 f1", "div %rcx", set(RAX, RCX, RDX), set(RAX, RDX), none, StatusFlags},
		{"f3 48 ab", "rep stos", set(RAX, RCX, RDI), set(RCX, RDI), DF, none},
		{"f3 49 90", "xchg %r8,%rax, not pause", set(RAX, R8), set(RAX, R8), none, none},
		{"49 87 07", "xchg %rax,(%r15)", set(RAX, R15), set(RAX), none, none},
		{"c4 e2 fb f6 c1", "mulx %rcx,%rax,%rax", set(RDX, RCX), set(RAX), none, none},
		{"66 0f 6e c1", "movd %ecx,%xmm0", set(RCX), 0, none, none},
		{"ff 64 8d 10", "jmp *0x10(%rbp,%rcx,4)", set(RBP, RCX), 0, none, none},
		{"66 48 0f 7e c0", "movq %xmm0,%rax", 0, set(RAX), none, none},
		{"66 0f 38 f0 03", "movbe (%rbx),%ax", set(RAX, RBX), set(RAX), none, none},
		{"66 f2 0f 38 f1 c1", "crc32w %cx,%eax", set(RAX, RCX), set(RAX), none, none},
		{"66 0f af c1", "imul %cx,%ax", set(RAX, RCX), set(RAX), none, StatusFlags},
		{"0f a2", "cpuid", set(RAX, RCX), set(RAX, RBX, RCX, RDX), none, none},
		{"0f 31", "rdtsc", 0, set(RAX, RDX), none, none},
		{"0f 01 d0", "xgetbv", set(RCX), set(RAX, RDX), none, none},
		{"0f 05", "syscall", set(RAX, RDI, RSI, RDX, R8, R9, R10), set(RAX, RCX, R11), none, none},
		{"9d", "popf", set(RSP), set(RSP), none, StatusFlags | DF},
		{"9c", "pushf", set(RSP), set(RSP), StatusFlags | DF, none},
		{"41 5f", "pop %r15", set(RSP), set(RSP, R15), none, none},
		{"0f 8f 00 00 00 00", "jg", 0, 0, ZF | SF | OF, none},
		{"e0 00", "loopne", set(RCX), set(RCX), ZF, none},
		{"e3 00", "jrcxz", set(RCX), 0, none, none},
		{"e8 00 00 00 00", "call", set(RSP), set(RSP), none, none},
		{"64 48 8b 04 25 00 00 00 00", "mov %fs:0,%rax", 0, set(RAX), none, none},
		{"f3 48 0f c7 f8", "rdpid %rax", 0, set(RAX), none, none},
		{"48 0f c7 f1", "rdrand %rcx", 0, set(RCX), none, StatusFlags},
		{"0f ae 2f", "xrstor (%rdi)", set(RAX, RDX, RDI), 0, none, none},
		{"c4 e2 69 92 04 88", "vgatherdps %xmm2,(%rax,%xmm1,4),%xmm0", set(RAX), 0, none, none},
		{"c3", "ret", set(RSP), set(RSP), none, none},
	} {
		in := mustDecode(t, c.code)
		if in.Reads != c.reads || in.Writes != c.writes || in.FlagsRead != c.fr || in.FlagsWrite != c.fw {
			t.Errorf("%s: reads %016b writes %016b flags %b %b, want %016b %016b %b %b",
				c.text, in.Reads, in.Writes, in.FlagsRead, in.FlagsWrite, c.reads, c.writes, c.fr, c.fw)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		code string
		want error
	}{
		{"", ErrTruncated}, {"48", ErrTruncated}, {"e8 00 00", ErrTruncated}, {"62 f1", ErrTruncated},
		{"06", ErrInvalid}, {"66 c5 f8 77", ErrInvalid},
		{"f3 c4 c1 5d d4 81 a0 00 00 00", ErrInvalid},
		{"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", ErrInvalid},
	} {
		var in Inst
		if err := Decode(unhex(c.code), &in); err != c.want {
			t.Errorf("%q: %v, want %v", c.code, err, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	for _, c := range []struct {
		code, text string
		want       Mem
	}{
		{"48 8b 05 10 00 00 00", "mov 0x10(%rip),%rax", Mem{Base: RIP, Index: NoReg, Scale: 1, Disp: 16, Bytes: 8, Read: true}},
		{"64 48 8b 04 25 f8 ff ff ff", "mov %fs:-8,%rax", Mem{Base: NoReg, Index: NoReg, Scale: 1, Disp: -8, Seg: 0x64, Bytes: 8, Read: true}},
		{"67 01 44 8b 08", "add %eax,8(%ebx,%ecx,4)",
			Mem{Base: RBX, Index: RCX, Scale: 4, Disp: 8, Addr32: true, Bytes: 4, Read: true, Write: true}},
		{"43 8b 44 a5 00", "mov 0(%r13,%r12,4),%eax", Mem{Base: R13, Index: R12, Scale: 4, Bytes: 4, Read: true}},
		{"8b 04 24", "mov (%rsp),%eax", Mem{Base: RSP, Index: NoReg, Scale: 1, Bytes: 4, Read: true}},
		{"48 8d 04 08", "lea (%rax,%rcx),%rax", Mem{Base: RAX, Index: RCX, Scale: 1}},
		{"0f 18 00", "prefetchnta (%rax)", Mem{Base: RAX, Index: NoReg, Scale: 1}},
		{"62 f1 fd 48 58 43 02", "vaddpd 0x80(%rbx),%zmm0,%zmm0", Mem{Base: RBX, Index: NoReg, Scale: 1, Disp: 128, Bytes: 64, Read: true}},
		{"62 f1 fd 58 58 43 02", "vaddpd 0x10(%rbx){1to8},%zmm0,%zmm0", Mem{Base: RBX, Index: NoReg, Scale: 1, Disp: 16, Bytes: 8, Read: true}},
		{"62 f2 fd 48 8a 43 02", "vcompresspd %zmm0,0x10(%rbx)", Mem{Base: RBX, Index: NoReg, Scale: 1, Disp: 16, Bytes: 64, Write: true}},
		{"62 f2 fd 41 92 44 cb 02", "vgatherdpd 0x10(%rbx,%ymm17,8),%zmm0{%k1}",
			Mem{Base: RBX, Index: 17, Scale: 8, Disp: 16, VSIB: true, Bytes: 8, Read: true}},
		{"c5 fb 10 00", "vmovsd (%rax),%xmm0", Mem{Base: RAX, Index: NoReg, Scale: 1, Bytes: 8, Read: true}},
		{"db 28", "fldt (%rax)", Mem{Base: RAX, Index: NoReg, Scale: 1, Bytes: 10, Read: true}},
		{"0f ae 00", "fxsave (%rax)", Mem{Base: RAX, Index: NoReg, Scale: 1, Bytes: 512, Write: true}},
	} {
		if in := mustDecode(t, c.code); !in.HasMem || in.Mem != c.want {
			t.Errorf("%s: %+v, want %+v", c.text, in.Mem, c.want)
		}
	}
}

func TestBranches(t *testing.T) {
	for _, c := range []struct {
		code   string
		want   Branch
		target uint64 // of an instruction at 0x1000
	}{
		{"74 02", BranchCond, 0x1004}, {"0f 85 fa ff ff ff", BranchCond, 0x1000}, {"eb fe", BranchJump, 0x1000},
		{"e9 00 01 00 00", BranchJump, 0x1105}, {"e8 00 00 00 00", BranchCall, 0x1005}, {"66 66 48 e8 00 00 00 00", BranchCall, 0x1008},
		{"e2 fe", BranchLoop, 0x1000}, {"c7 f8 04 00 00 00", BranchTxn, 0x100a}, {"ff e0", BranchJumpInd, 0}, {"3e ff e0", BranchJumpInd, 0},
		{"ff 15 00 00 00 00", BranchCallInd, 0}, {"f2 ff d0", BranchCallInd, 0}, {"c3", BranchRet, 0}, {"f3 c3", BranchRet, 0},
		{"c2 08 00", BranchRet, 0}, {"0f 05", BranchSyscall, 0}, {"48 cf", BranchFar, 0}, {"66 e9 00 00", BranchFar, 0},
		{"cc", BranchTrap, 0}, {"0f 0b", BranchTrap, 0}, {"f4", BranchTrap, 0}, {"90", BranchNone, 0},
		{"c6 f8 01", BranchNone, 0}, {"0f 34", BranchFar, 0},
	} {
		in := mustDecode(t, c.code)
		if in.Branch != c.want || c.target != 0 && in.Target(0x1000) != c.target || in.EndsBlock() != (c.want != BranchNone) {
			t.Errorf("%s: branch %d to %x, want %d to %x", c.code, in.Branch, in.Target(0x1000), c.want, c.target)
		}
	}
}
