package profile

import "testing"

func TestProfileKeepsInstancesBySection(t *testing.T) {
	p := New(Meta{Cores: 2})
	a := p.AddSection(Section{Kind: SectionBarrier})
	b := p.AddSection(Section{Kind: SectionJoin})
	for _, s := range []SectionID{a, b, a} {
		in := &Instance{Section: s, Edges: []Count{{1, 1, 3}, {1, 0, 2}, {0, 0, 1}}}
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	if p.InstanceCount(a) != 2 || p.InstanceCount(b) != 1 || p.InstanceCount(7) != 0 {
		t.Fatalf("counts %d %d %d", p.InstanceCount(a), p.InstanceCount(b), p.InstanceCount(7))
	}
	n := 0
	for in, err := range p.Instances(a) {
		if err != nil || in.Seq != n || in.Edges[0] != (Count{0, 0, 1}) || in.Edges[2] != (Count{1, 1, 3}) {
			t.Fatalf("instance %d: %+v %v", n, in, err)
		}
		n++
	}
	if n != 2 || p.Meta().Cores != 2 || len(p.Tables().Sections) != 2 {
		t.Fatal("profile lost rows")
	}
}
