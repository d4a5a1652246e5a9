package native

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
)

// What cannot be started is named, with the reason and what to do.
func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put("text", "hello\n", 0o755)
	put("data", "hello\n", 0o644)
	put("script", "#!/no/such/shell -e\n", 0o755)
	put("here", "#!/bin/sh\n", 0o755)
	for _, c := range []struct {
		command string
		pid     int
		status  int
		want    []string
	}{
		{command: "", status: 127, want: []string{"no program named"}},
		{command: "no-such-program", status: 127, want: []string{"no-such-program: command not found", "PATH"}},
		{command: "here", status: 127, want: []string{"write ./here"}},
		{command: "/no/such/program", status: 127, want: []string{"/no/such/program: no such file"}},
		{command: "./text/program", status: 127, want: []string{"no such file"}},
		{command: "./script", status: 127, want: []string{"./script: its interpreter is missing", `names "/no/such/shell"`}},
		{command: dir, status: 126, want: []string{dir, "a directory"}},
		{command: "./data", status: 126, want: []string{"not executable", "chmod +x ./data"}},
		{command: "./text", status: 126, want: []string{"neither a program", "sh ./text"}},
		{pid: math.MaxInt32, status: 127, want: []string{"process 2147483647: no such process"}},
	} {
		res, err := Run(context.Background(), Options{Command: []string{c.command}, PID: c.pid, Out: profile.New(profile.Meta{})})
		if err == nil || res.Status != c.status {
			t.Errorf("%q: status %d, %v; want %d and an error", c.command, res.Status, err, c.status)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %q does not hold %q", c.command, err, want)
			}
		}
	}
}

// tiny386 is a program for 32-bit x86 that ends at once.
func tiny386() []byte {
	const base, size = 0x08048000, 52 + 32
	code := []byte{0x31, 0xc0, 0x40, 0x31, 0xdb, 0xcd, 0x80} // exit(0)
	var b bytes.Buffer
	b.WriteString("\x7fELF\x01\x01\x01" + strings.Repeat("\x00", 9))
	put := func(list ...any) {
		for _, x := range list {
			_ = binary.Write(&b, binary.LittleEndian, x) // a buffer takes all
		}
	}
	put(uint16(elf.ET_EXEC), uint16(elf.EM_386), uint32(1), uint32(base+size), uint32(52), uint32(0), uint32(0),
		uint16(52), uint16(32), uint16(1), uint16(0), uint16(0), uint16(0))
	end := uint32(size + len(code))
	put(uint32(elf.PT_LOAD), uint32(0), uint32(base), uint32(base), end, end, uint32(elf.PF_R|elf.PF_X), uint32(4096))
	b.Write(code)
	return b.Bytes()
}

func TestOtherProcessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(path, tiny386(), 0o755); err != nil {
		t.Fatal(err)
	}
	res, err := Run(context.Background(), Options{Command: []string{path}, NoPerf: true, Out: profile.New(profile.Meta{})})
	const by, kernel = "a program for 32-bit x86", "neither a program for this machine" // without 32-bit programs the kernel says no
	if err == nil || res.Status != 126 || !strings.Contains(err.Error(), by) && !strings.Contains(err.Error(), kernel) {
		t.Errorf("status %d, %v; want 126 and %q", res.Status, err, by)
	}
}

// An interrupt before the program has begun ends lime, and the program does not begin.
func TestEarlyInterrupt(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- unix.SIGINT
	trace := filepath.Join(t.TempDir(), "begun")
	res, err := Run(context.Background(), Options{Command: []string{"touch", trace}, Signals: signals, Out: profile.New(profile.Meta{})})
	if err == nil || res.Status != 130 || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("status %d, %v; want 130 and an interruption", res.Status, err)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("the program ran")
	}
}
