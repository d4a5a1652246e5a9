package x86

import (
	"bufio"
	"cmp"
	"debug/elf"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lime/internal/testenv"
)

var (
	long  = flag.Bool("long", os.Getenv("LIME_LONG") != "", "compare every program and library of the system with objdump, not a chosen few")
	these = flag.String("files", "", "compare the files of these patterns with objdump, separated by commas")
)

// line is one instruction as objdump shows it.
type line struct {
	addr uint64
	code []byte
	text string
}

func (l line) String() string { return fmt.Sprintf("%x: % x  %s", l.addr, l.code, l.text) }

// objdump runs objdump -d on a file and hands every instruction to f.
func objdump(t *testing.T, path, syntax string, f func(line)) {
	t.Helper()
	objdumpArgs(t, []string{"-d", "-M", syntax, path}, f)
}

func objdumpArgs(t *testing.T, args []string, f func(line)) {
	t.Helper()
	testenv.Tool(t, "objdump")
	cmd := exec.Command("objdump", append([]string{"-w", "--insn-width=15"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 1<<20), 1<<20)
	for s.Scan() {
		if l, ok := parseLine(s.Text()); ok {
			f(l)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("objdump %v: %v", args, err)
	}
}

// parseLine takes "  401000:\tf3 0f 1e fa \tendbr64" apart.
func parseLine(s string) (l line, ok bool) {
	head, rest, ok := strings.Cut(s, ":\t")
	if !ok {
		return l, false
	}
	code, text, ok := strings.Cut(rest, "\t")
	if !ok {
		return l, false
	}
	addr, err := strconv.ParseUint(strings.TrimSpace(head), 16, 64)
	if err != nil {
		return l, false
	}
	b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(code), " ", ""))
	if err != nil {
		return l, false
	}
	return line{addr, b, strings.TrimSpace(text)}, true
}

// habits are lines of objdump that are not to be held against the decoder, each
// with the reason.
var habits = []struct {
	reason  string
	applies func(line) bool
}{
	{"data between the functions: objdump itself finds no instruction", func(l line) bool {
		return strings.Contains(l.text, "(bad)") || strings.Contains(l.text, "{bad}") ||
			strings.HasPrefix(l.text, ".byte") || strings.HasPrefix(l.text, ".insn")
	}},
	{"data: objdump shows prefixes without an instruction on a line of their own", func(l line) bool {
		return onlyPrefixes(l.text)
	}},
	{"objdump joins 9b, an instruction of its own, to the x87 instruction behind it", func(l line) bool {
		return l.code[0] == 0x9b && len(l.code) > 1
	}},
	{"data, or objdump out of step behind an instruction that it does not know (SHA512): 66, F0, F2, F3 or REX before " +
		"VEX or EVEX faults (Intel SDM vol. 2A, 2.3.2 to 2.3.4)", func(l line) bool {
		return prefixBeforeVEX(l.code)
	}},
}

func habit(l line) (reason string) {
	for _, h := range habits {
		if h.applies(l) {
			return h.reason
		}
	}
	return ""
}

// prefixBeforeVEX is true for VEX or EVEX behind a prefix that it replaces.
func prefixBeforeVEX(code []byte) bool {
	faults := false
	for _, b := range code {
		switch {
		case b == 0xc4 || b == 0xc5 || b == 0x62:
			return faults
		case b&0xf0 == 0x40 || strings.IndexByte("\x66\xf0\xf2\xf3", b) >= 0:
			faults = true
		case strings.IndexByte("\x67\x2e\x3e\x26\x36\x64\x65", b) < 0:
			return false
		}
	}
	return false
}

func onlyPrefixes(text string) bool {
	for _, w := range strings.Fields(text) {
		switch {
		case strings.HasPrefix(w, "rex"):
		case strings.Contains(" cs ds es fs gs ss lock rep repz repnz data16 addr32 notrack bnd xacquire xrelease ", " "+w+" "):
		default:
			return false
		}
	}
	return true
}

// quickFiles are the files of the normal test, as patterns of which the first match counts.
func quickFiles() []string {
	lib := "/usr/lib/x86_64-linux-gnu/"
	home, _ := os.UserHomeDir()
	return []string{
		lib + "libc.so.6", lib + "libm.so.6", lib + "libstdc++.so.6", lib + "libgomp.so.1", lib + "libgmp.so.10",
		lib + "ld-linux-x86-64.so.2", lib + "libcrypto.so.3", "/usr/bin/perl", goTool("gofmt"),
		home + "/.rustup/toolchains/*/lib/rustlib/x86_64-unknown-linux-gnu/lib/libstd-*.so",
	}
}

func goTool(name string) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return filepath.Join(strings.TrimSpace(string(out)), "bin", name)
}

// files are the ELF files to compare.
func files(t *testing.T) (list []string) {
	if *these != "" {
		for p := range strings.SplitSeq(*these, ",") {
			m, _ := filepath.Glob(p)
			list = append(list, slices.DeleteFunc(m, func(p string) bool { return !isELF(p) })...)
		}
		return list
	}
	if !*long {
		for _, p := range quickFiles() {
			if m, _ := filepath.Glob(p); len(m) > 0 {
				list = append(list, m[0])
			}
		}
		return list
	}
	home, _ := os.UserHomeDir()
	size := map[string]int64{}
	seen := map[[2]uint64]bool{} // hard links are one file
	for _, root := range []string{"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local", home + "/.rustup/toolchains"} {
		_ = filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !isELF(p) {
				return nil
			}
			var st syscall.Stat_t
			if syscall.Stat(p, &st) == nil && !seen[[2]uint64{st.Dev, st.Ino}] {
				seen[[2]uint64{st.Dev, st.Ino}] = true
				size[p] = st.Size
				list = append(list, p)
			}
			return nil
		})
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(size[a], size[b]) })
	t.Logf("%d files", len(list))
	return list
}

// isELF tells x86-64 programs and libraries from other files.
func isELF(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Machine == elf.EM_X86_64 && (f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN)
}

// comparison counts what objdump and the decoder agree and disagree on.
type comparison struct {
	lines, distinct, bad int
	byHabit              map[string]int
	shown                map[string]int
	seen                 map[string]bool
}

func newComparison() *comparison {
	return &comparison{byHabit: map[string]int{}, shown: map[string]int{}, seen: map[string]bool{}}
}

// differ reports a difference, a few per mnemonic.
func (c *comparison) differ(t *testing.T, l line, format string, args ...any) {
	c.bad++
	name, _, _ := strings.Cut(l.text, " ")
	if c.shown[name]++; c.shown[name] <= 4 {
		t.Errorf("%v: %s", l, fmt.Sprintf(format, args...))
	}
}

// TestAgainstObjdump holds lengths, branch targets, memory operands and registers
// against objdump over real programs.
func TestAgainstObjdump(t *testing.T) {
	c := newComparison()
	for i, p := range files(t) {
		c.file(t, p)
		if i%50 == 49 {
			t.Logf("%d files: %d instructions, %d differ", i+1, c.lines, c.bad)
		}
	}
	t.Logf("%d instructions, %d distinct, %d differ", c.lines, c.distinct, c.bad)
	for r, n := range c.byHabit {
		t.Logf("%d left out: %s", n, r)
	}
	if c.lines == 0 {
		t.Fatal("none of the programs to compare is installed")
	}
}

func (c *comparison) file(t *testing.T, path string) {
	before := c.bad
	objdump(t, path, "att", func(l line) {
		c.lines++
		if r := habit(l); r != "" {
			c.byHabit[r]++
			return
		}
		c.compare(t, l)
	})
	if c.bad != before {
		t.Errorf("%s: %d differences", path, c.bad-before)
	}
}

func (c *comparison) compare(t *testing.T, l line) {
	var in Inst
	if err := Decode(l.code, &in); err != nil {
		c.differ(t, l, "%v", err)
		return
	}
	if int(in.Len) != len(l.code) {
		c.differ(t, l, "length %d (%s)", in.Len, in.Name)
		return
	}
	if want, ok := branchTarget(&in, l.text); ok && in.Target(l.addr) != want {
		c.differ(t, l, "target %x", in.Target(l.addr))
	}
	if key := string(l.code); !c.seen[key] {
		if len(c.seen) > 1<<20 {
			clear(c.seen) // bounds the memory of a long run
		}
		c.seen[key] = true
		c.distinct++
		c.operands(t, l, &in)
	}
}

// branchTarget is the target that objdump prints for a direct branch.
func branchTarget(in *Inst, text string) (uint64, bool) {
	switch in.Branch {
	case BranchCond, BranchLoop, BranchJump, BranchCall, BranchTxn:
	default:
		return 0, false
	}
	text, _, _ = strings.Cut(text, " <")
	f := strings.Fields(text)
	v, err := strconv.ParseUint(strings.TrimPrefix(f[len(f)-1], "0x"), 16, 64)
	return v, err == nil
}

// operands compares the memory operand, and asks that every general register
// that objdump names is one that the decoder names.
func (c *comparison) operands(t *testing.T, l line, in *Inst) {
	if in.HasMem {
		if want := memText(in); !hasOperand(l.text, want) && !hasOperand(l.text, signedText(&in.Mem)) {
			c.differ(t, l, "memory operand %s", want)
		}
		if in.Mem.Base == RIP && !in.Mem.Addr32 {
			want := fmt.Sprintf("%x", l.addr+uint64(in.Len)+uint64(int64(in.Mem.Disp)))
			if !hasTarget(l.text, want) {
				c.differ(t, l, "rip target %s", want)
			}
		}
	}
	if missing := namedRegs(l.text) &^ (in.Reads | in.Writes); missing != 0 && !namesOnly(in) {
		c.differ(t, l, "registers %016b neither read nor written", missing)
	}
	if !in.HasMem && strings.Contains(l.text, "(%r") && !in.ImplicitRead && !in.ImplicitWrite && in.Special != SpecialPrivileged {
		c.differ(t, l, "no memory operand")
	}
}

// hasTarget looks for "# address" or "# 0xaddress" behind the operands.
func hasTarget(text, want string) bool {
	_, comment, _ := strings.Cut(text, "# ")
	got, _, _ := strings.Cut(comment, " ")
	return strings.TrimPrefix(got, "0x") == want
}

// namesOnly is true for instructions that show a register but do nothing with it.
func namesOnly(in *Inst) bool {
	return in.Name == "nop" || in.Name == "ud0" || in.Name == "ud1"
}

// hasOperand reports whether a line of objdump has the memory operand want as a
// whole, not as the tail of another. objdump shows the absent index of a SIB byte as riz.
func hasOperand(text, want string) bool {
	text = anyVector.Replace(text)
	text = absentIndex.ReplaceAllString(text, "")
	for i := 0; ; {
		j := strings.Index(text[i:], want)
		if j < 0 {
			return false
		}
		if i += j; i > 0 && strings.IndexByte(" ,*", text[i-1]) >= 0 {
			return true
		}
		i++
	}
}

var (
	anyVector   = strings.NewReplacer("%xmm", "%vmm", "%ymm", "%vmm", "%zmm", "%vmm")
	absentIndex = regexp.MustCompile(`,%[re]iz,[1248]`)
)

// memText is the memory operand in objdump's AT&T syntax.
func memText(in *Inst) string {
	m := &in.Mem
	var b strings.Builder
	if m.Seg != 0 {
		b.WriteString(map[uint8]string{0x64: "%fs:", 0x65: "%gs:"}[m.Seg])
	}
	if in.DispLen != 0 {
		b.WriteString(dispText(m))
	}
	if m.Base == NoReg && m.Index == NoReg {
		return b.String()
	}
	b.WriteByte('(')
	b.WriteString(addrReg(m.Base, m.Addr32))
	if m.Index != NoReg {
		idx := fmt.Sprintf("%%vmm%d", m.Index)
		if !m.VSIB {
			idx = addrReg(m.Index, m.Addr32)
		}
		fmt.Fprintf(&b, ",%s,%d", idx, m.Scale)
	}
	b.WriteByte(')')
	return b.String()
}

func dispText(m *Mem) string {
	d := int64(m.Disp)
	switch {
	case m.Base == NoReg && m.Index == NoReg && m.Addr32:
		return fmt.Sprintf("0x%x", uint32(d))
	case m.Base == NoReg && m.Index == NoReg:
		return fmt.Sprintf("0x%x", uint64(d))
	case d < 0:
		return fmt.Sprintf("-0x%x", -d)
	}
	return fmt.Sprintf("0x%x", d)
}

// signedText is how objdump shows an absolute address whose SIB byte has a scale
// without an index; hasOperand takes the index away.
func signedText(m *Mem) string {
	if m.Base != NoReg || m.Index != NoReg {
		return "none"
	}
	if m.Disp < 0 {
		return fmt.Sprintf("-0x%x()", -int64(m.Disp))
	}
	return fmt.Sprintf("0x%x()", m.Disp)
}

var regText = [...]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"}

func addrReg(r Reg, short bool) string {
	switch {
	case r == NoReg:
		return ""
	case short && r >= R8 && r <= R15:
		return "%" + regText[r] + "d"
	case short:
		return "%e" + regText[r][1:]
	}
	return "%" + regText[r]
}

// namedRegs are the general registers that a line of objdump names.
func namedRegs(text string) (s RegSet) {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "<")
	for _, p := range strings.Split(text, "%")[1:] {
		end := strings.IndexFunc(p, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
		if end >= 0 {
			p = p[:end]
		}
		s = s.With(regByText(p))
	}
	return s
}

// regByText knows the names of a general register in every width.
func regByText(n string) Reg {
	for i, full := range regText[:16] {
		if strings.HasPrefix(full, "r") && full[1] >= '0' && full[1] <= '9' {
			if n == full || n == full+"d" || n == full+"w" || n == full+"b" {
				return Reg(i)
			}
			continue
		}
		base := full[1:]
		if n == full || n == "e"+base || n == base || n == base+"l" || len(base) == 2 && base[1] == 'x' &&
			(n == base[:1]+"l" || n == base[:1]+"h") {
			return Reg(i)
		}
	}
	return NoReg
}
