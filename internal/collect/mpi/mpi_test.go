package mpi

import (
	"fmt"
	"testing"

	"lime/internal/collect/known"
	"lime/internal/profile"
)

// process is one with what it has in memory.
type process struct {
	args  []uint64
	words map[uint64]uint64
	names map[uint64]string
}

func (p *process) Argument(n int) uint64       { return p.args[n] }
func (p *process) Variable(addr uint64) string { return p.names[addr] }
func (p *process) Word(addr uint64, size int) (uint64, bool) {
	v, ok := p.words[addr]
	if size == 4 {
		v = uint64(uint32(v))
	}
	return v, ok
}

func row(t *testing.T, name string) *known.Func {
	t.Helper()
	for _, f := range known.Functions() {
		if f.Name == name {
			return &f
		}
	}
	t.Fatalf("no row %s", name)
	return nil
}

// step is a call, and what it is to be: arguments by number, and what the call puts at an address.
type step struct {
	name     string
	args     map[int]uint64
	at, puts uint64
	want     string
}

func run(t *testing.T, p *process, steps []step) {
	t.Helper()
	c := New(ByValue)
	for i, s := range steps {
		p.args = make([]uint64, 12)
		for n, v := range s.args {
			p.args[n] = v
		}
		call := c.Enter(row(t, s.name), p, uint64(100*i))
		if s.at != 0 {
			p.words[s.at] = s.puts
		}
		c.Leave(&call, p)
		got := ""
		switch {
		case call.Meets:
			got = fmt.Sprintf("%s:%d", call.Meeting.Communicator, call.Meeting.N)
			if call.Who != profile.MeetAll {
				got += " " + call.Who.String()
			}
			if call.Early > 0 {
				got += fmt.Sprint(" early ", call.Early)
			}
		case call.Waits:
			got = "waits"
		}
		if got != s.want {
			t.Errorf("call %d, %s: %q, want %q", i, s.name, got, s.want)
		}
	}
}

// A process of Open MPI, whose handles are addresses, and one of MPICH, whose handles are numbers
// of which the upper half is whatever the register held.
func TestCalls(t *testing.T) {
	for _, l := range []struct {
		name                          string
		world, self, dup, half, other uint64
		names                         map[uint64]string
	}{
		{"Open MPI", 0x7f0012a0, 0x7f0014a0, 0x55001000, 0x55002000, 0x55003000,
			map[uint64]string{0x7f0012a0: "ompi_mpi_comm_world", 0x7f0014a0: "ompi_mpi_comm_self"}},
		{"MPICH", 0xdead_44000000, 0xbeef_44000001, 0x84000000, 0x84000001, 0x84000007, nil},
	} {
		p := &process{words: map[uint64]uint64{}, names: l.names}
		run(t, p, []step{
			{"MPI_Init", nil, 0, 0, "world:0"},
			{"MPI_Bcast", map[int]uint64{3: 2, 4: l.world}, 0, 0, "world:1"}, // which rank it is has not been asked
			{"MPI_Comm_rank", map[int]uint64{0: l.world, 1: 0x900}, 0x900, 2, ""},
			{"MPI_Bcast", map[int]uint64{3: 2, 4: l.world}, 0, 0, "world:2 feeds"},
			{"MPI_Reduce", map[int]uint64{5: 2, 6: l.world}, 0, 0, "world:3 waits"},
			{"MPI_Gather", map[int]uint64{6: 0, 7: l.world}, 0, 0, "world:4 feeds"},
			{"MPI_Barrier", map[int]uint64{0: l.self}, 0, 0, ""},
			{"MPI_Comm_dup", map[int]uint64{0: l.world, 1: 0x910}, 0x910, l.dup, "world:5"},
			{"MPI_Scatter", map[int]uint64{6: 1, 7: l.dup}, 0, 0, "world/5:0 waits"},
			{"MPI_Comm_split", map[int]uint64{0: l.dup, 1: 7, 3: 0x918}, 0x918, l.half, "world/5:1"},
			{"MPI_Allreduce", map[int]uint64{5: l.half}, 0, 0, "world/5/1:7:0"},
			{"MPI_Iallreduce", map[int]uint64{5: l.half, 6: 0x920}, 0x920, 0x77, ""},
			{"MPI_Recv", nil, 0, 0, "waits"},
			{"MPI_Wait", map[int]uint64{0: 0x920}, 0, 0, "world/5/1:7:1 early 200"},
			{"MPI_Wait", map[int]uint64{0: 0x920}, 0, 0, "waits"},
			{"MPI_Barrier", map[int]uint64{0: l.other}, 0, 0, ":0"},
			{"MPI_Finalize", nil, 0, 0, "world:6"},
		})
	}
}
