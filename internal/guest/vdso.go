package guest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// This file makes the guest's vDSO: an ELF object without symbols, so that C libraries ask for the
// time by system calls. It is there because ld.so keeps books on it, in memory that would lie
// differently without.

const (
	vvarSize = 6 * pageSize // what the kernel maps below the vDSO (vvar and vvar_vclock of Linux 6.18)
	vdsoSize = 2 * pageSize
)

// mapVDSO maps the vDSO and answers its address, 0 if there is no room.
func (s *space) mapVDSO() uint64 {
	native := s.gap(vvarSize + vdsoSize)
	if native == 0 {
		return 0
	}
	s.ghosts = append(s.ghosts, ghost{lo: native, hi: native + vvarSize})
	at := s.pickLow(native+vvarSize, vdsoSize, pageSize)
	m := mapping{lo: at, hi: at + vdsoSize, prot: unix.PROT_READ | unix.PROT_WRITE, name: "[vdso]"}
	if at == 0 || s.mapAt(m, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, -1) != 0 {
		return 0
	}
	copy(bytesAt(at, vdsoSize), vdsoImage())
	if s.protect(at, at+vdsoSize, unix.PROT_READ|unix.PROT_EXEC) != 0 {
		return 0
	}
	return at
}

// vdsoImage is a shared object, linked at 0, with names of its own and of its version, and empty
// tables. All tables are there: some readers (the Go runtime) take them for granted.
func vdsoImage() []byte {
	const (
		own, version = "linux-vdso.so.1", "LINUX_2.6"
		names        = "\x00" + own + "\x00" + version + "\x00"
		phdrs        = 64
		dynamic      = phdrs + 2*phdrSize
		dynSize      = 10 * 16
		symtab       = dynamic + dynSize
		hash         = symtab + elf.Sym64Size
		versions     = hash + 4*4
		verSize      = 20 + 8 // of a definition with its name
		versym       = versions + 2*verSize
		strtab       = versym + 4
		size         = strtab + len(names)
	)
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a bytes.Buffer takes everything
	put(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: phdrs, Ehsize: 64,
		Phentsize: phdrSize, Phnum: 2, Shentsize: 64,
	})
	put(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: uint64(size), Memsz: uint64(size), Align: pageSize})
	put(elf.Prog64{Type: uint32(elf.PT_DYNAMIC), Flags: uint32(elf.PF_R), Off: dynamic, Vaddr: dynamic,
		Paddr: dynamic, Filesz: dynSize, Memsz: dynSize, Align: 8})
	for _, d := range []elf.Dyn64{
		{Tag: int64(elf.DT_SONAME), Val: 1}, {Tag: int64(elf.DT_HASH), Val: hash},
		{Tag: int64(elf.DT_STRTAB), Val: strtab}, {Tag: int64(elf.DT_SYMTAB), Val: symtab},
		{Tag: int64(elf.DT_STRSZ), Val: uint64(len(names))}, {Tag: int64(elf.DT_SYMENT), Val: elf.Sym64Size},
		{Tag: int64(elf.DT_VERDEF), Val: versions}, {Tag: int64(elf.DT_VERDEFNUM), Val: 2},
		{Tag: int64(elf.DT_VERSYM), Val: versym}, {Tag: int64(elf.DT_NULL)},
	} {
		put(d)
	}
	put(elf.Sym64{})
	put([4]uint32{1, 1, 0, 0}) // one bucket, which is empty, and the chain of the one symbol that is none
	verdef := func(flags, index uint16, of string, name, next uint32) {
		put([4]uint16{1, flags, index, 1})
		put([5]uint32{elfHash(of), 20, next, name, 0})
	}
	verdef(1, 1, own, 1, verSize) // VER_FLG_BASE: the object itself
	verdef(0, 2, version, uint32(2+len(own)), 0)
	put([2]uint16{})
	b.WriteString(names)
	return b.Bytes()
}

// elfHash is the hash of names in ELF files (System V ABI, 5: hash table).
func elfHash(name string) (h uint32) {
	for _, c := range []byte(name) {
		h = h<<4 + uint32(c)
		h = (h ^ h>>24&0xf0) & 0xfffffff
	}
	return h
}
