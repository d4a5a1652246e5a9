package enc

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
	"lime/internal/x86"
)

// pc is where the rows' code stands.
const pc = 0x78001000

// rows: what emits, the bytes, and how objdump -M intel reads them.
var rows = []struct {
	emit  func(a *Asm)
	bytes string
	text  string
}{
	{func(a *Asm) { a.Load(x86.RAX, GS(0xa0)) }, "65488b0425a0000000", "mov rax,QWORD PTR gs:0xa0"},
	{func(a *Asm) { a.Load(x86.R15, GS(0x2000)) }, "654c8b3c2500200000", "mov r15,QWORD PTR gs:0x2000"},
	{func(a *Asm) { a.Load32(x86.RCX, GS(0xa4)) }, "658b0c25a4000000", "mov ecx,DWORD PTR gs:0xa4"},
	{func(a *Asm) { a.Load(x86.RCX, At(x86.RSP, 0)) }, "488b0c24", "mov rcx,QWORD PTR [rsp]"},
	{func(a *Asm) { a.Load(x86.RCX, At(x86.RBP, 0)) }, "488b4d00", "mov rcx,QWORD PTR [rbp+0x0]"},
	{func(a *Asm) { a.Load(x86.RCX, At(x86.R13, 0)) }, "498b4d00", "mov rcx,QWORD PTR [r13+0x0]"},
	{func(a *Asm) { a.Load(x86.RCX, At(x86.R12, 0)) }, "498b0c24", "mov rcx,QWORD PTR [r12]"},
	{func(a *Asm) { a.Load(x86.RDX, At(x86.RBX, 0x1234)) }, "488b9334120000", "mov rdx,QWORD PTR [rbx+0x1234]"},
	{func(a *Asm) { a.Load(x86.RAX, Mem{Base: x86.R13, Index: x86.R14, Scale: 8, Disp: -8}) }, "4b8b44f5f8",
		"mov rax,QWORD PTR [r13+r14*8-0x8]"},
	{func(a *Asm) { a.Load(x86.RAX, Mem{Base: x86.NoReg, Index: x86.RCX, Scale: 8, Disp: 0x78000000}) },
		"488b04cd00000078", "mov rax,QWORD PTR [rcx*8+0x78000000]"},
	{func(a *Asm) { a.Load(x86.RAX, Mem{Base: x86.RIP, Index: x86.NoReg, Disp: 0x78002000}) }, "488b05f90f0000",
		"mov rax,QWORD PTR [rip+0xff9] # 0x78002000"},
	{func(a *Asm) { a.Store(GS(0xc0), x86.R9) }, "654c890c25c0000000", "mov QWORD PTR gs:0xc0,r9"},
	{func(a *Asm) { a.Store32(GS(0xc0), x86.R9) }, "6544890c25c0000000", "mov DWORD PTR gs:0xc0,r9d"},
	{func(a *Asm) { a.StoreImm32(GS(0xb8), 7) }, "65c70425b800000007000000", "mov DWORD PTR gs:0xb8,0x7"},
	{func(a *Asm) { a.StoreImm32(At(x86.RSP, -8), 7) }, "c74424f807000000", "mov DWORD PTR [rsp-0x8],0x7"},
	{func(a *Asm) { a.StoreImm32(Mem{Base: x86.RIP, Index: x86.NoReg, Disp: 0x78002000}, 7) }, "c705f60f000007000000",
		"mov DWORD PTR [rip+0xff6],0x7 # 0x78002000"},
	{func(a *Asm) { a.Lea(x86.RCX, At(x86.RCX, -5)) }, "488d49fb", "lea rcx,[rcx-0x5]"},
	{func(a *Asm) { a.Lea32(x86.RCX, Mem{Base: x86.RCX, Index: x86.RAX, Scale: 1}) }, "8d0c01", "lea ecx,[rcx+rax*1]"},
	{func(a *Asm) { a.Lea(x86.RSP, At(x86.RSP, 8)) }, "488d642408", "lea rsp,[rsp+0x8]"},
	{func(a *Asm) { a.Inc(GS(0x2008)) }, "6548ff042508200000", "inc QWORD PTR gs:0x2008"},
	{func(a *Asm) { a.Add(GS(0xa0), 5) }, "6548830425a000000005", "add QWORD PTR gs:0xa0,0x5"},
	{func(a *Asm) { a.Sub(GS(0xa0), 200) }, "6548812c25a0000000c8000000", "sub QWORD PTR gs:0xa0,0xc8"},
	{func(a *Asm) { a.Cmp(GS(0xa0), -3) }, "6548833c25a0000000fd", "cmp QWORD PTR gs:0xa0,0xfffffffffffffffd"},
	{func(a *Asm) { a.AddReg(GS(0xa0), x86.R10) }, "654c011425a0000000", "add QWORD PTR gs:0xa0,r10"},
	{func(a *Asm) { a.SubReg(GS(0xa0), x86.RBX) }, "6548291c25a0000000", "sub QWORD PTR gs:0xa0,rbx"},
	{func(a *Asm) { a.CmpReg(x86.R15, GS(0xa0)) }, "654c3b3c25a0000000", "cmp r15,QWORD PTR gs:0xa0"},
	{func(a *Asm) { a.AddImm(x86.R15, 8) }, "4983c708", "add r15,0x8"},
	{func(a *Asm) { a.AddImm(x86.RBX, 300) }, "4881c32c010000", "add rbx,0x12c"},
	{func(a *Asm) { a.CmpImm(x86.R11, 56) }, "4983fb38", "cmp r11,0x38"},
	{func(a *Asm) { a.And32(x86.R10, 0xfc0) }, "4181e2c00f0000", "and r10d,0xfc0"},
	{func(a *Asm) { a.Half32(x86.R10) }, "41d1ea", "shr r10d,1"},
	{func(a *Asm) { a.AddMem(x86.R10, GS(0x1b8)) }, "654c031425b8010000", "add r10,QWORD PTR gs:0x1b8"},
	{func(a *Asm) { a.SubMem(x86.R11, At(x86.R10, 72)) }, "4d2b5a48", "sub r11,QWORD PTR [r10+0x48]"},
	{func(a *Asm) { a.Cmp32(At(x86.R11, -8), 6) }, "41817bf806000000", "cmp DWORD PTR [r11-0x8],0x6"},
	{func(a *Asm) { a.Inc32(At(x86.R11, -4)) }, "41ff43fc", "inc DWORD PTR [r11-0x4]"},
	{func(a *Asm) { a.Mov32(x86.R10, x86.RDX) }, "4189d2", "mov r10d,edx"},
	{func(a *Asm) { a.Lahf() }, "9f", "lahf"},
	{func(a *Asm) { a.Sahf() }, "9e", "sahf"},
	{func(a *Asm) { a.SetO() }, "0f90c0", "seto al"},
	{func(a *Asm) { a.AddAL(0x7f) }, "047f", "add al,0x7f"},
	{func(a *Asm) { a.Zero(x86.R15) }, "4531ff", "xor r15d,r15d"},
	{func(a *Asm) { a.Zero(x86.RDX) }, "31d2", "xor edx,edx"},
	{func(a *Asm) { a.Not(x86.R8) }, "49f7d0", "not r8"},
	{func(a *Asm) { a.PushImm(0x401234) }, "6834124000", "push 0x401234"},
	{func(a *Asm) { a.Mov(x86.RAX, x86.R11) }, "4c89d8", "mov rax,r11"},
	{func(a *Asm) { a.MovImm(x86.R9, 0x80000000) }, "41b900000080", "mov r9d,0x80000000"},
	{func(a *Asm) { a.MovImm(x86.RAX, ^uint64(0)) }, "48c7c0ffffffff", "mov rax,0xffffffffffffffff"},
	{func(a *Asm) { a.MovImm(x86.R9, ^uint64(0)) }, "49c7c1ffffffff", "mov r9,0xffffffffffffffff"},
	{func(a *Asm) { a.MovImm(x86.R10, 0x123456789a) }, "49ba9a78563412000000", "movabs r10,0x123456789a"},
	{func(a *Asm) { a.Movzx16(x86.RCX, x86.RAX) }, "0fb7c8", "movzx ecx,ax"},
	{func(a *Asm) { a.Movzx8(x86.RCX, x86.RCX) }, "0fb6c9", "movzx ecx,cl"},
	{func(a *Asm) { a.Movzx8(x86.RCX, x86.RSP) }, "0fb6cc", "movzx ecx,ah"},
	{func(a *Asm) { a.JmpMem(GS(0x108)) }, "65ff242508010000", "jmp QWORD PTR gs:0x108"},
	{func(a *Asm) { a.JmpMem(Mem{Base: x86.NoReg, Index: x86.RCX, Scale: 8, Disp: 0x78000000}) }, "ff24cd00000078",
		"jmp QWORD PTR [rcx*8+0x78000000]"},
	{func(a *Asm) { a.Jmp(pc) }, "e9fbffffff", "jmp 0x78001000"},
	{func(a *Asm) { a.Jcc(CondG, pc+0x100) }, "0f8ffa000000", "jg 0x78001100"},
	{func(a *Asm) { a.Jcc(CondS, pc) }, "0f88faffffff", "js 0x78001000"},
	{func(a *Asm) { a.Push(x86.R11) }, "4153", "push r11"},
	{func(a *Asm) { a.Pop(x86.RAX) }, "58", "pop rax"},
	{func(a *Asm) { a.Ret() }, "c3", "ret"},
	{func(a *Asm) { a.Int3() }, "cc", "int3"},
	{func(a *Asm) { a.Syscall() }, "0f05", "syscall"},
	{func(a *Asm) { a.Rdtsc() }, "0f31", "rdtsc"},
	{func(a *Asm) { a.Lfence() }, "0faee8", "lfence"},
	{func(a *Asm) { a.CallReg(x86.R11) }, "41ffd3", "call r11"},
	{func(a *Asm) { a.JmpReg(x86.R11) }, "41ffe3", "jmp r11"},
	{func(a *Asm) { a.CallMem(At(x86.R10, 0)) }, "41ff12", "call QWORD PTR [r10]"},
	{func(a *Asm) { a.CallMem(a.Rip(6, 2)) }, "ff1502000000", "call QWORD PTR [rip+0x2] # 0x78001008"},
	{func(a *Asm) { a.MovImm64(x86.R11, 7) }, "49bb0700000000000000", "movabs r11,0x7"},
	{func(a *Asm) { a.AddImm32(x86.RSP, 24) }, "4881c418000000", "add rsp,0x18"},
	{func(a *Asm) { a.SubImm32(x86.RSP, 24) }, "4881ec18000000", "sub rsp,0x18"},
	{func(a *Asm) { a.CmpImm32(x86.RSI, 24) }, "4881fe18000000", "cmp rsi,0x18"},
	{func(a *Asm) { a.Cmp32Imm32(x86.RDI, 202) }, "81ffca000000", "cmp edi,0xca"},
	{func(a *Asm) { a.SubImm(x86.RSP, 24) }, "4883ec18", "sub rsp,0x18"},
	{func(a *Asm) { a.AndEAX(63) }, "253f000000", "and eax,0x3f"},
	{func(a *Asm) { a.CmpEAX(16) }, "3d10000000", "cmp eax,0x10"},
	{func(a *Asm) { a.CmpRAX(4096) }, "483d00100000", "cmp rax,0x1000"},
	{func(a *Asm) { a.CmpRegs(x86.RAX, x86.RSP) }, "4839e0", "cmp rax,rsp"},
	{func(a *Asm) { a.Test32(x86.RAX) }, "85c0", "test eax,eax"},
	{func(a *Asm) { a.TestByte(x86.RSI, 7) }, "40f6c607", "test sil,0x7"},
	{func(a *Asm) { a.Cmp32Short(At(x86.RDI, 0), 1) }, "833f01", "cmp DWORD PTR [rdi],0x1"},
	{func(a *Asm) { a.Or(x86.RAX, x86.RDX) }, "4809d0", "or rax,rdx"},
	{func(a *Asm) { a.Shl(x86.RDX, 32) }, "48c1e220", "shl rdx,0x20"},
	{func(a *Asm) { a.Shl32(x86.RAX, 4) }, "c1e004", "shl eax,0x4"},
	{func(a *Asm) { a.IncReg(x86.RCX) }, "48ffc1", "inc rcx"},
	{func(a *Asm) { a.Lock(); a.Dec32(At(x86.R11, 1024)) }, "f041ff8b00040000", "lock dec DWORD PTR [r11+0x400]"},
	{func(a *Asm) { a.Lock(); a.Xadd(Mem{Base: x86.R11, Index: x86.NoReg, Least: 1}, x86.RAX) }, "f0490fc14300",
		"lock xadd QWORD PTR [r11+0x0],rax"},
	{func(a *Asm) { a.Lock(); a.Xadd32(At(x86.R11, 192), x86.RAX) }, "f0410fc183c0000000", "lock xadd DWORD PTR [r11+0xc0],eax"},
	{func(a *Asm) { a.Lock(); Table{a}.Cmpxchg(Mem{Base: x86.R10, Index: x86.NoReg, Least: 1}, x86.R9) }, "f04d0fb14a00",
		"lock cmpxchg QWORD PTR [r10+0x0],r9"},
	{func(a *Asm) { a.StoreImm(At(x86.R11, 64), 0) }, "49c7434000000000", "mov QWORD PTR [r11+0x40],0x0"},
	{func(a *Asm) { a.Load32(x86.RAX, FS(0x2d0)) }, "648b0425d0020000", "mov eax,DWORD PTR fs:0x2d0"},
	{func(a *Asm) { a.Load(x86.RAX, Mem{Base: x86.RSP, Index: x86.NoReg, Disp: 8, Least: 4}) }, "488b842408000000",
		"mov rax,QWORD PTR [rsp+0x8]"},
	{func(a *Asm) { at := a.JccShort(CondNE); a.Bytes(0x90); a.Bind(at) }, "750190", "jne 0x78001003"},
	{func(a *Asm) { at := a.JmpShort(); a.Bytes(0x90); a.Bind(at) }, "eb0190", "jmp 0x78001003"},
	{func(a *Asm) { at := a.JccFar(CondA); a.Bytes(0x90); a.BindFar(at) }, "0f870100000090", "ja 0x78001007"},
	{func(a *Asm) { at := a.Jrcxz(); a.Bytes(0x90); a.Bind(at) }, "e30190", "jrcxz 0x78001003"},
	{func(a *Asm) { Table{a}.Test(x86.R10, x86.R13) }, "4d85ea", "test r10,r13"},
	{func(a *Asm) { Table{a}.AndMem(x86.R10, At(x86.R15, 0x70)) }, "4d235770", "and r10,QWORD PTR [r15+0x70]"},
	{func(a *Asm) { Table{a}.Xor(x86.R10, x86.RAX) }, "4931c2", "xor r10,rax"},
	{func(a *Asm) { Table{a}.AndShort(x86.RCX, -32) }, "83e1e0", "and ecx,0xffffffe0"},
	{func(a *Asm) { Table{a}.Shr(x86.R10, 6) }, "49c1ea06", "shr r10,0x6"},
	{func(a *Asm) { Table{a}.OrMem(x86.R10, Mem{Base: x86.RAX, Index: x86.RDX, Scale: 1, Disp: 8}) }, "4c0b541008",
		"or r10,QWORD PTR [rax+rdx*1+0x8]"},
	{func(a *Asm) { Table{a}.CmpReg32(x86.R10, At(x86.RBX, 0x40)) }, "443b5340", "cmp r10d,DWORD PTR [rbx+0x40]"},
	{func(a *Asm) { Table{a}.Dec32Borrow(At(x86.RBX, 0x28)) }, "836b2801", "sub DWORD PTR [rbx+0x28],0x1"},
	{func(a *Asm) { Table{a}.LoadDouble(5, At(x86.R15, 0x80)) }, "f2410f10af80000000", "movsd xmm5,QWORD PTR [r15+0x80]"},
	{func(a *Asm) { Table{a}.AndShort64(x86.RBX, -4) }, "4883e3fc", "and rbx,0xfffffffffffffffc"},
	{func(a *Asm) { Table{a}.Cmp32Regs(x86.R10, x86.RBP) }, "4139ea", "cmp r10d,ebp"},
	{func(a *Asm) { Table{a}.TestImm32(x86.RBP, 1<<30) }, "f7c500000040", "test ebp,0x40000000"},
	{func(a *Asm) { Table{a}.StoreQuad(Mem{Base: x86.R10, Index: x86.RBX, Scale: 4}, 0) }, "410f11049a",
		"movups XMMWORD PTR [r10+rbx*4],xmm0"},
	{func(a *Asm) { Table{a}.AndImm(x86.RBP, ^int32(1<<30)) }, "81e5ffffffbf", "and ebp,0xbfffffff"},
	{func(a *Asm) { Table{a}.OrImm(x86.RBP, 1<<30) }, "81cd00000040", "or ebp,0x40000000"},
	{func(a *Asm) { Table{a}.Call(pc + 0x105) }, "e800010000", "call 0x78001105"},
	{func(a *Asm) { Table{a}.MulImm(x86.RBP, 81) }, "4869ed51000000", "imul rbp,rbp,0x51"},
}

func TestBytes(t *testing.T) {
	for _, r := range rows {
		a := &Asm{PC: pc}
		r.emit(a)
		if got := hex.EncodeToString(a.Code); got != r.bytes {
			t.Errorf("%s: %s, want %s", r.text, got, r.bytes)
		}
	}
}

// TestText holds the rows against objdump.
func TestText(t *testing.T) {
	testenv.Tool(t, "objdump")
	for _, r := range rows {
		code, err := hex.DecodeString(r.bytes)
		if err != nil {
			t.Fatal(err)
		}
		if got := disassemble(t, code); got != r.text {
			t.Errorf("%s: objdump reads %q, want %q", r.bytes, got, r.text)
		}
	}
}

// disassemble returns the first instruction of code, with single blanks.
func disassemble(t *testing.T, code []byte) string {
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--insn-width=16",
		"--adjust-vma=0x78001000", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, l := range lines {
		if f := strings.SplitN(l, "\t", 3); len(f) == 3 && strings.Contains(f[0], "78001000:") {
			return strings.Join(strings.Fields(f[2]), " ")
		}
	}
	return ""
}

// TestRewrite replaces the base of memory operands and drops segment overrides.
func TestRewrite(t *testing.T) {
	for _, r := range []struct{ code, text string }{
		{"64488b042528000000", "mov rax,QWORD PTR [rcx+0x28]"},
		{"644c8b2c2528000000", "mov r13,QWORD PTR [rcx+0x28]"},
		{"64498b4508", "mov rax,QWORD PTR [rcx+0x8]"},
		{"64498b4424f8", "mov rax,QWORD PTR [rcx-0x8]"},
		{"644b8b44f508", "mov rax,QWORD PTR [rcx+r14*8+0x8]"},
		{"64488b14c500000000", "mov rdx,QWORD PTR [rcx+rax*8+0x0]"},
		{"6466c7042510000000cdab", "mov WORD PTR [rcx+0x10],0xabcd"},
		{"64f0480fb114d510000000", "lock cmpxchg QWORD PTR [rcx+rdx*8+0x10],rdx"},
		{"64c4c17a6f4d20", "vmovdqu xmm1,XMMWORD PTR [rcx+0x20]"},
		{"64c4817a6f4c7d20", "vmovdqu xmm1,XMMWORD PTR [rcx+r15*2+0x20]"},
		{"64c5fa6f4b20", "vmovdqu xmm1,XMMWORD PTR [rcx+0x20]"},
		{"6462d1fe286f4e01", "vmovdqu64 ymm1,YMMWORD PTR [rcx+0x20]"},
		{"6462b1fe486f4cf801", "vmovdqu64 zmm1,ZMMWORD PTR [rcx+r15*8+0x40]"},
		{"6566480f3a0fc8", ""},
	} {
		code, err := hex.DecodeString(r.code)
		if err != nil {
			t.Fatal(err)
		}
		var in x86.Inst
		if err := x86.Decode(code, &in); err != nil {
			if r.text != "" {
				t.Errorf("%s: %v", r.code, err)
			}
			continue
		}
		a := &Asm{PC: pc}
		a.CopyBased(code, &in, x86.RCX, in.Mem.Disp)
		if got := disassemble(t, a.Code); r.text != "" && got != r.text {
			t.Errorf("%s became % x: %q, want %q", r.code, a.Code, got, r.text)
		}
	}
}

func TestCopyRIP(t *testing.T) {
	code, _ := hex.DecodeString("833d100000004d") // cmp dword [rip+0x10], 0x4d
	var in x86.Inst
	if err := x86.Decode(code, &in); err != nil {
		t.Fatal(err)
	}
	a := &Asm{PC: pc}
	if !a.CopyRIP(code, &in, 0x10000) {
		t.Fatal("0x10000 is out of reach")
	}
	if got := disassemble(t, a.Code); got != "cmp DWORD PTR [rip+0xffffffff8800eff9],0x4d # 0x10000" {
		t.Errorf("became %q", got)
	}
	if a.CopyRIP(code, &in, 0x7f0000000000) || len(a.Code) != 7 {
		t.Error("an address above 4 GB was taken for near")
	}
}
