package x86

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// slot is the space of one made instruction in the file for objdump; what the
// instruction leaves is filled with long nops, so that objdump is back in step.
const slot = 48

var longNop = []byte{0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}

// TestFormsAgainstObjdump holds made instructions of every opcode, most of which
// no program has, against objdump: also those that the decoder rejects.
func TestFormsAgainstObjdump(t *testing.T) {
	path, n := flatFile(t)
	c := newComparison()
	objdumpArgs(t, []string{"-D", "-b", "binary", "-m", "i386:x86-64", "-M", "att", path}, func(l line) {
		if l.addr%slot != 0 {
			return
		}
		c.lines++
		if habit(l) != "" || formHabit(l) {
			return
		}
		c.compare(t, l)
	})
	t.Logf("%d made, %d looked at, %d distinct, %d differ", n, c.lines, c.distinct, c.bad)
}

// flatFile writes made instructions to a file, one to a slot; n were made.
func flatFile(t *testing.T) (path string, n int) {
	t.Helper()
	var flat bytes.Buffer
	step := 61
	if *long {
		step = 1
	}
	candidates(func(code []byte) {
		if n++; n%step != 0 {
			return
		}
		s := append([]byte(nil), code...)
		for len(s) < slot-9 {
			s = append(s, longNop...)
		}
		for len(s) < slot {
			s = append(s, 0x90)
		}
		flat.Write(s)
	})
	path = filepath.Join(t.TempDir(), "flat")
	if err := os.WriteFile(path, flat.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, n
}

// TestSizes holds the size of the memory operand against objdump's Intel syntax.
func TestSizes(t *testing.T) {
	path, _ := flatFile(t)
	c := newComparison()
	objdumpArgs(t, []string{"-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", path}, func(l line) {
		var in Inst
		m := sizeText.FindStringSubmatch(l.text)
		if l.addr%slot != 0 || m == nil || habit(l) != "" || Decode(l.code, &in) != nil || !in.HasMem {
			return
		}
		c.lines++
		want := sizeWords[m[1]]
		if got := in.Mem.Bytes; got != want && !sizeHabit(&in, got, want) {
			c.differ(t, l, "%d bytes, row %s", got, in.Name)
		}
	})
	t.Logf("%d memory operands, %d differ", c.lines, c.bad)
}

var sizeText = regexp.MustCompile(`\b([A-Z]+) (?:PTR|BCST) `)

var sizeWords = map[string]uint16{
	"BYTE": 1, "WORD": 2, "DWORD": 4, "FWORD": 6, "QWORD": 8, "TBYTE": 10, "XMMWORD": 16, "OWORD": 16, "YMMWORD": 32, "ZMMWORD": 64,
}

// sizeHabit is true where objdump names a size that is not the size of an access.
func sizeHabit(in *Inst, got, want uint16) bool {
	switch {
	case got == 0 && !in.Mem.Read && !in.Mem.Write: // nop
		return true
	case in.Name[0] == 'l' && got == 10 && (want == 6 || want == 4): // far pointers: with W as Intel has it, objdump as AMD
		return true
	case in.Branch == BranchFar && want == 2: // near branch with 66, not translated
		return true
	}
	return false
}

// formHabits are lines of objdump that only made instructions have; they count
// only where the decoder rejects the bytes, if rejected says so.
var formHabits = []struct {
	reason   string
	rejected bool
	match    *regexp.Regexp // on "bytes  text"
}{
	{"EVEX.b with memory on an instruction without broadcast is invalid (SDM vol. 2A, 2.7.11.2)", true,
		regexp.MustCompile(`\{1to\d+\}`)},
	{"rounding on an instruction without it is invalid; objdump says so itself", true,
		regexp.MustCompile(`-bad\}`)},
	{"the VEX encoding alone exists, with these prefixes", true,
		regexp.MustCompile(`62 .*vpdpb(uu|su|ss)ds?`)},
	{"66 is mandatory; objdump does not look at the prefix", true,
		regexp.MustCompile(`(62 .*(vrsqrt14|vdbpsadbw|vpshldw|vpshrdw))|repn?z .*pmovmskb|vzero`)},
	{"the register form alone exists", true, regexp.MustCompile(`vpmov[bwdq]2m .*\(`)},
	{"the memory form alone exists", true, regexp.MustCompile(`vmovntdqa? .*%[xyz]mm\d+,%[xyz]mm`)},
	{"ModRM.reg must be 0 (AMD APM vol. 4, EXTRQ)", true, regexp.MustCompile(`extrq`)},
	{"objdump cuts the target of xbegin to 16 bit, the manual does not", false, regexp.MustCompile(`xbeginw`)},
	{"vcmpph exists with W0 only (SDM vol. 2, VCMPPH)", false, regexp.MustCompile(`vcmpp\{b`)},
	{"objdump ignores 67 with MPX", false, regexp.MustCompile(`addr32 .*bnd`)},
	{"objdump joins 9b to the x87 instruction behind it", false, regexp.MustCompile(`^((f2|f3|66|67|4.|f0) )+9b .`)},
}

func formHabit(l line) bool {
	var in Inst
	rejected := Decode(l.code, &in) != nil
	text := fmt.Sprintf("% x  %s", l.code, l.text)
	for _, h := range formHabits {
		if (rejected || !h.rejected) && h.match.MatchString(text) {
			return true
		}
	}
	return false
}
