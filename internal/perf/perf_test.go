package perf

import (
	"encoding/binary"
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

func TestParseCPUs(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []int
	}{{"0", []int{0}}, {"0-3", []int{0, 1, 2, 3}}, {"0-1,4,6-7", []int{0, 1, 4, 6, 7}},
		{"", nil}, {"a", nil}, {"3-1", nil}, {"-1", nil}, {"0-99999999", nil}} {
		got, err := parseCPUs(c.in)
		if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v", c.in, got, err)
		}
	}
}

// words builds a record: header, then 32- and 64-bit values, then bytes.
func words(typ Type, misc uint16, parts ...any) []byte {
	b := make([]byte, headerSize)
	for _, p := range parts {
		switch v := p.(type) {
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, v)
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, v)
		case string:
			b = append(b, v...)
		}
	}
	binary.LittleEndian.PutUint32(b, uint32(typ))
	binary.LittleEndian.PutUint16(b[4:], misc)
	binary.LittleEndian.PutUint16(b[6:], uint16(len(b)))
	return b
}

func trailer() []any {
	return []any{uint32(10), uint32(11), uint64(777), uint32(1), uint32(0), uint64(5)}
}

// One row for each type of record, with what must come out.
func TestDecode(t *testing.T) {
	rows := []struct {
		name  string
		raw   []byte
		check func(r *Record) bool
	}{
		{"lost", words(TypeLost, 0, append([]any{uint64(5), uint64(42)}, trailer()...)...),
			func(r *Record) bool { return r.Lost == 42 && r.TID == 11 && r.Time == 777 }},
		{"comm", words(TypeComm, unix.PERF_RECORD_MISC_COMM_EXEC,
			append([]any{uint32(10), uint32(12), "app\x00\x00\x00\x00\x00"}, trailer()...)...),
			func(r *Record) bool { return r.Name == "app" && r.Exec && r.TID == 12 && r.CPU == 1 }},
		{"exit", words(TypeExit, 0, append([]any{uint32(10), uint32(9), uint32(12), uint32(8), uint64(700)}, trailer()...)...),
			func(r *Record) bool { return r.PID == 10 && r.Parent == 9 && r.TID == 12 && r.ParentTID == 8 }},
		{"fork", words(TypeFork, 0, append([]any{uint32(10), uint32(9), uint32(12), uint32(8), uint64(700)}, trailer()...)...),
			func(r *Record) bool { return r.TID == 12 && r.ParentTID == 8 && r.Time == 777 }},
		{"throttle", words(TypeThrottle, 0, append([]any{uint64(1), uint64(2), uint64(3)}, trailer()...)...),
			func(r *Record) bool { return r.Type == TypeThrottle && r.TID == 11 }},
		{"unthrottle", words(TypeUnthrottle, 0, append([]any{uint64(1), uint64(2), uint64(3)}, trailer()...)...),
			func(r *Record) bool { return r.Type == TypeUnthrottle && r.Time == 777 }},
		{"mmap2", words(TypeMmap2, 0, append([]any{uint32(10), uint32(11), uint64(0x1000), uint64(0x2000),
			uint64(0x3000), uint64(1), uint64(2), uint64(3), uint32(5), uint32(2), "/lib/a.so\x00\x00\x00\x00\x00\x00\x00"}, trailer()...)...),
			func(r *Record) bool {
				return r.Addr == 0x1000 && r.Len == 0x2000 && r.Offset == 0x3000 && r.Prot == 5 && r.Name == "/lib/a.so"
			}},
		{"switch", words(TypeSwitch, unix.PERF_RECORD_MISC_SWITCH_OUT|unix.PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, trailer()...),
			func(r *Record) bool { return r.Out && r.Preempted && r.TID == 11 }},
		{"sample", words(TypeSample, 0, sampleParts()...), func(r *Record) bool {
			return r.IP == 0x400100 && r.TID == 11 && r.Period == 2004008 && r.HasRegs && r.Regs[RegSP] == 7 && r.Regs[RegIP] == 8 &&
				string(r.Stack) == "stack678" && r.DWARF()[7] == 7 && r.DWARF()[16] == 8 && r.DWARF()[1] == 3
		}},
	}
	dec := NewDecoder(Layout{Stack: 16})
	seen := map[Type]bool{}
	for _, row := range rows {
		var r Record
		n, err := dec.Decode(row.raw, &r)
		if err != nil || n != len(row.raw) || !row.check(&r) {
			t.Errorf("%s: %d bytes of %d, %v, %+v", row.name, n, len(row.raw), err, r)
		}
		seen[r.Type] = true
		for cut := headerSize; cut < len(row.raw); cut += 4 { // every shorter form is an error, never a panic
			short := slices.Clone(row.raw[:cut])
			binary.LittleEndian.PutUint16(short[6:], uint16(cut))
			if _, err := dec.Decode(short, &r); err == nil && row.name != "comm" && row.name != "mmap2" {
				t.Errorf("%s cut to %d bytes: no error", row.name, cut)
			}
		}
	}
	for typ, s := range specs() {
		if !seen[typ] {
			t.Errorf("no test for records of type %s", s.name)
		}
	}
}

func sampleParts() []any {
	p := []any{uint64(5), uint64(0x400100), uint32(10), uint32(11), uint64(777), uint32(1), uint32(0), uint64(2004008),
		uint64(unix.PERF_SAMPLE_REGS_ABI_64)}
	for i := range NumRegs {
		p = append(p, uint64(i))
	}
	return append(p, uint64(16), "stack678--------", uint64(8))
}

func FuzzDecode(f *testing.F) {
	f.Add(words(TypeSample, 0, sampleParts()...), uint32(16), false)
	f.Add(words(TypeSwitch, 0, trailer()...), uint32(0), true)
	f.Fuzz(func(t *testing.T, b []byte, stack uint32, chain bool) {
		var r Record
		if n, _ := NewDecoder(Layout{Stack: stack, Chain: chain}).Decode(b, &r); n > len(b) {
			t.Errorf("size %d of %d bytes", n, len(b))
		}
	})
}

// A real child is sampled from its exec to its end.
func TestSampleChild(t *testing.T) {
	runtime.LockOSThread() // ptrace belongs to the thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		testenv.Skip(t, testenv.NoTracing, err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{PID: cmd.Process.Pid, Frequency: 999, Clock: Clocks()[1], Layout: Layout{Stack: 4096}, Leader: true})
	var un *UnsupportedError
	if errors.As(err, &un) {
		_ = cmd.Process.Kill()
		testenv.Skip(t, testenv.NoSampling, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Enable(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.PtraceDetach(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	count := map[Type]int{}
	err = s.Drain(func(r *Record) {
		count[r.Type]++
		if r.Type == TypeSample && (int(r.PID) != cmd.Process.Pid || !r.HasRegs || len(r.Stack) == 0 || s.EventName(r.Event) != "cpu-clock") {
			t.Errorf("sample %+v of event %q", r, s.EventName(r.Event))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if count[TypeSample] < 20 || count[TypeExit] != 1 || count[TypeMmap2] == 0 && count[TypeSwitch] == 0 {
		t.Errorf("records by type: %v", count)
	}
}
