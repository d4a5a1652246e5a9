package collect

import (
	"strings"
	"testing"
)

func TestNotesAreOrdered(t *testing.T) {
	b := Notes{}
	b.Add("b", "x")
	b.Add("a", "y")
	b.Add("a", "x")
	b.Add("a", "x")
	var got []string
	for _, n := range b.List() {
		got = append(got, n.Code+n.Text)
	}
	if s := strings.Join(got, " "); s != "ax ay bx" || b.List()[0].N != 2 {
		t.Errorf("got %s", s)
	}
}
