package guest

import (
	"bytes"
	"debug/elf"
	"testing"
)

// The vDSO is an object that a reader of ELF files takes.
func TestVDSOIsAnObject(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(vdsoImage()))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Progs) != 2 || f.Progs[0].Type != elf.PT_LOAD || f.Progs[1].Type != elf.PT_DYNAMIC ||
		f.Progs[0].Filesz != uint64(len(vdsoImage())) {
		t.Errorf("segments %v of %d bytes", f.Progs, len(vdsoImage()))
	}
	if h := elfHash("LINUX_2.6"); h != 0x3ae75f6 { // as the kernel's own has it
		t.Errorf("hash %#x", h)
	}
}
