package symbol

import "testing"

// abbrevTable is a table of so many abbreviations, each of whose entries has a name and a line;
// that of one code has a form that nobody knows.
func abbrevTable(codes, damaged byte) []byte {
	var b []byte
	for code := byte(1); code <= codes; code++ {
		form := byte(formData1)
		if code == damaged {
			form = 0x7e
		}
		b = append(b, code, tagSubprogram, 1, atName, formStrp, atDeclLine, form, atName, formImplicit, 0xff, 0, 0, 0)
	}
	return append(b, 0)
}

// Who asks for the last abbreviation of a table gets it without what all before it would take.
func TestAbbreviationsArePassedOver(t *testing.T) {
	const codes = 120
	section := abbrevTable(codes, 0)
	one := testing.AllocsPerRun(10, func() { newAbbrevs(section, 0).get(1) })
	last := testing.AllocsPerRun(10, func() {
		a := newAbbrevs(section, 0).get(codes)
		if a == nil || a.tag != tagSubprogram || !a.children || len(a.attrs) != 3 || a.attrs[1].place != hasDeclLine {
			t.Fatalf("%+v", a)
		}
	})
	if beyond := last - one; beyond > codes/10 { // the list of the places grows
		t.Errorf("%v allocations more for the last abbreviation than for the first", beyond)
	}
}

// What has a form that is not known cannot be read, nor can what stands behind it in an entry; other
// abbreviations can.
func TestUnknownFormsHarmTheirOwnEntries(t *testing.T) {
	table := newAbbrevs(abbrevTable(9, 4), 0)
	for code := uint64(1); code <= 10; code++ {
		if got, want := table.get(code) != nil, code < 10 && code != 4; got != want {
			t.Errorf("abbreviation %d is read: %v", code, got)
		}
	}
}
