package native

import (
	"testing"

	"lime/internal/collect/known"
)

// Each function that is hooked has a meaning here, and what is recorded of it is what its row asks
// for.
func TestFunctionTable(t *testing.T) {
	r, _ := recording(t, Options{})
	rows := known.Hooked()
	for i, f := range hooks(rows) {
		row := &rows[i]
		do := r.main.dispatcher.hooked[row.Role]
		if do.enter == nil {
			t.Errorf("%s: nothing happens when it is called", row.Name)
		}
		if golang := row.Hook == known.AtCall && f.Go != nil; do.leave != nil && !f.Return || f.Return && golang {
			t.Errorf("%s: returns recorded: %v", row.Name, f.Return)
		}
		if f.Return != (row.Hook == known.AtBoth) || (f.Slow > 0) != (row.Hook == known.IfSlow) ||
			f.Contended != (row.Hook == known.IfContended) {
			t.Errorf("%s: watched as %d, but %+v is recorded", row.Name, row.Hook, f)
		}
		if f.Work != (row.Role == known.Fork) || f.Name != row.Name {
			t.Errorf("%s: %+v", row.Name, f)
		}
	}
}
