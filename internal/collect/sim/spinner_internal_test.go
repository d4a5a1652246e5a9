package sim

import "testing"

// Who may leave a loop by a clock that never lets it looks at that less and less often, each time an
// eighth of its wait later at most, and in the end no more.
func TestLooksAtTheClockEnd(t *testing.T) {
	const from = 1000
	s := &spinner{t: &thread{waitAt: from}, until: from + 1}
	for n := 0; s.until != never; n++ {
		before := s.until
		s.looksLater()
		if s.until <= before || s.until != never && s.until-before > max((before-from)/clockShare, 1) || n > 1000 {
			t.Fatalf("look %d: at %d, and then at %d", n, before, s.until)
		}
	}
}
