package view

import (
	"errors"
	"testing"

	"lime/internal/profile"
)

// code has two instructions for every block but one.
type code struct{}

func (code) Block(_ int, v profile.NodeID) ([]Instruction, error) {
	if v == 1 {
		return nil, errors.New("the binary is gone")
	}
	return []Instruction{
		{Addr: "10", Text: "add $1,%eax", File: "/home/x/src/app.c", Line: 10},
		{Addr: "12", Text: "ret", File: "/usr/include/y.h", Line: 7},
	}, nil
}

// Instructions are shown where the user allowed it; their blocks run as often as the profile says.
func TestInstructions(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 4, 3)))
	asked[map[string]string](t, s, "GET", "/api/asm?f=0&l=10", 403)
	s.AllowBinaries(code{})
	for path, want := range map[string]int{"/api/asm?f=0&l=99": 404, "/api/asm?f=9&l=1": 400, "/api/asm?f=0&l=x": 400} {
		asked[map[string]string](t, s, "GET", path, want)
	}
	a := asked[Assembly](t, s, "GET", "/api/asm?f=0&l=10&s=0", 200)
	if len(a.Functions) != 1 || a.Functions[0] != "work" || len(a.Blocks) == 0 {
		t.Fatalf("%+v", a)
	}
	failed := 0
	for _, b := range a.Blocks {
		if b.Failed != "" {
			failed++
			continue
		}
		if len(b.Code) != 2 || b.Code[0].Line != 10 || b.Code[1].Line != 0 || b.Code[1].Of != "y.h:7" {
			t.Errorf("%+v", b)
		}
	}
	if failed != 1 {
		t.Errorf("%d blocks failed", failed)
	}
	if b := a.Blocks[1]; b.Min >= b.Max || b.Share <= 0 || b.Share > 1 {
		t.Errorf("the loop runs %v to %v times and takes %v of the time", b.Min, b.Max, b.Share)
	}
}
