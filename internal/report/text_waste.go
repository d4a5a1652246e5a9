package report

import (
	"fmt"
	"strings"

	"lime/internal/unit"
)

const wasteTitle = "Wasted memory work"

// Pairs that a text shows of each kind: those that are worth a look.
const (
	textPairs = 3
	leastPair = 0.01 // of the bytes stored, or loaded
)

// waste prints the part.
func (p *printer) waste(r *Report, all bool) {
	w := r.Waste
	if w == nil {
		return
	}
	p.blank()
	p.rule(wasteTitle)
	p.para(0, w.intro())
	for i := range w.Kinds {
		k := &w.Kinds[i]
		b, n := bar(k.Share.Value, 20)
		p.line("  %s %s %s%s %s", fit(k.Title, 14), p.st.bold(right(unit.Percent(k.Share.Value), 8)), p.st.accent(b),
			strings.Repeat(" ", 20-n), p.st.dim(k.amount(w)))
	}
	if words := w.spreadWords(); words != "" {
		p.para(0, words)
	}
	for i := range w.Kinds {
		k := &w.Kinds[i]
		list := w.worst(k.Kind, all)
		if len(list) == 0 {
			continue
		}
		p.blank()
		p.line("%s", p.st.bold(k.listTitle()))
		for _, x := range list {
			p.wastePair(&r.Program, x)
		}
		p.para(2, k.Do)
	}
}

// intro says how sure the figures are.
func (w *Waste) intro() string {
	if w.Label == "sampled" {
		return "Of the bytes that the program stored, or loaded, by samples of its time, in which slow accesses count " +
			"for more; the bounds are those of chance, for 95 of 100 runs:"
	}
	return "Of the bytes that the program stored, or loaded; every access was looked at:"
}

// listTitle heads the list of the worst pairs.
func (k *WasteKind) listTitle() string {
	return strings.ToUpper(k.Title[:1]) + k.Title[1:] + ", " + k.What
}

// amount is the bytes, or the bounds where they are not known.
func (k *WasteKind) amount(w *Waste) string {
	if w.Label == "sampled" {
		return fmt.Sprintf("%s to %s", unit.Percent(k.Share.Low), unit.Percent(k.Share.High))
	}
	return fmt.Sprintf("%s of %s", byteWords(k.Bytes), byteWords(k.Of))
}

func byteWords(n uint64) string { return unit.SI(float64(n)) + "B" }

// uneven is by how much the share of a thread differs from another's for it to be worth a word.
const uneven = 0.1

// threadWords tells whether threads differ, by more than chance.
func (w *Waste) threadWords() string {
	var out []string
	for _, k := range w.Kinds {
		var least, most *WasteThread
		for i := range w.Threads {
			t := &w.Threads[i]
			if _, ok := t.Shares[k.Kind]; !ok {
				continue
			}
			if least == nil || t.Shares[k.Kind].High < least.Shares[k.Kind].High {
				least = t
			}
			if most == nil || t.Shares[k.Kind].Low > most.Shares[k.Kind].Low {
				most = t
			}
		}
		if most == nil {
			continue
		}
		a, b := least.Shares[k.Kind], most.Shares[k.Kind]
		if b.Value-a.Value >= uneven && b.Low > a.High {
			out = append(out, fmt.Sprintf("%s: %s in thread %d, %s in thread %d", k.Title, unit.Percent(b.Value),
				most.Thread, unit.Percent(a.Value), least.Thread))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "The threads differ: " + strings.Join(out, "; ") + "."
}

// worst lists the worst pairs of a kind.
func (w *Waste) worst(kind string, all bool) (out []*WastePair) {
	for i := range w.Pairs {
		x := &w.Pairs[i]
		if x.Kind == kind && (all || len(out) < textPairs && x.Share >= leastPair) {
			out = append(out, x)
		}
	}
	return out
}

func (p *printer) wastePair(g *Program, x *WastePair) {
	then := map[string]string{}
	for _, t := range wasteTexts() {
		then[t.kind] = t.then
	}
	p.line("  %s  %s", p.st.bold(right(unit.Percent(x.Share), 7)), p.st.place(cutPlace(x.headline(then[x.Kind]), p.wide()-11)))
	p.para(11, x.about())
	p.wasteSide(&x.First)
	if !x.Loop() {
		p.wasteSide(&x.Second)
	}
	if why := whyWords(x.Why); why != "" {
		p.item(11, "Why: ", why)
	}
}

// headline names both places.
func (x *WastePair) headline(then string) string {
	if x.Loop() {
		return clean(x.First.Place.String() + ", again and again")
	}
	return clean(fmt.Sprintf("%s, %s %s", x.First.Place.String(), then, x.Second.Place.String()))
}

// Loop reports whether both places are one line on one call path.
func (x *WastePair) Loop() bool { return x.First.key() == x.Second.key() }

// about says how much, how often, and on what.
func (x *WastePair) about() string {
	out := fmt.Sprintf("%s, %s times", byteWords(x.Bytes), strings.TrimSpace(unit.SI(float64(x.Count))))
	if x.Data != "" {
		out += ", on " + x.Data
	}
	if x.Threads > 1 {
		out += fmt.Sprintf(", in %d threads", x.Threads)
	}
	return out
}

func (p *printer) wasteSide(s *WasteSide) {
	if s.Text != "" {
		p.line("           %s  %s", p.st.dim(right(fmt.Sprint(s.Line), 5)), cut(strings.TrimSpace(clean(s.Text)), p.wide()-18))
	}
	if len(s.Path) > 0 {
		p.item(18, "called from ", pathWords(s.Path))
	}
}

// whyWords explains a reason that a collector has found by the code around a pair.
func whyWords(word string) string {
	return map[string]string{
		"initialisation":  "an initialisation: a constant is stored, and nobody reads it before the next store",
		"running-value":   "a running value is kept in memory: it is stored every time, though only the last one is read",
		"invariant-store": "the same constant is stored every time: once is enough",
		"recomputation":   "a computation is done again: what it loads is the same as the last time, and so is the result",
		"invariant-load":  "the same address gives the same value every time: load it once, before the loop",
		"spill":           "registers are short: the compiler keeps the value on the stack, and loads it from there again",
		"search":          "what is loaded decides over a branch: a search that begins again over the same data",
	}[word]
}
