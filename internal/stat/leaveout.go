package stat

// thin is the part of a vector's squared length below which what a left out component leaves of it
// is computed from its components: a difference of products would lose more than three digits.
const thin = 1e-3

// SelectWithout chooses predictors as Select does, with one component left out of y and of all
// candidates, and all of them centred anew. Vectors need not be of unit length for that, so that
// the products follow from those of the whole vectors: of centred a and b, <a, b> becomes <a, b> -
// a[out] b[out] n/(n-1). Beta is that of the vectors as they are.
func (s *Selector) SelectWithout(out int, alpha float64) Model {
	y := s.less(s.y, out)
	if y == nil {
		return Model{}
	}
	l := newLeaveOut(s, out)
	sel := s.start()
	sel.candidates, sel.n, sel.y, sel.res = l, len(s.y)-1, y, append([]float64(nil), y...)
	sel.size, sel.left, sel.corr = l.size, append(sel.left[:0], l.size...), l.products(s.y, y, s.corr)
	return sel.run(alpha)
}

// leaveOut are the candidates without a component.
type leaveOut struct {
	*Selector
	out    int
	factor float64   // n/(n-1)
	size   []float64 // squared lengths
	thin   map[int][]float64
}

func newLeaveOut(s *Selector, out int) *leaveOut {
	n := float64(len(s.y))
	l := &leaveOut{Selector: s, out: out, factor: n / (n - 1), size: make([]float64, len(s.size)), thin: map[int][]float64{}}
	for i, all := range s.size {
		x := s.x.Row(i)[out]
		l.size[i] = all - x*x*l.factor
		if l.size[i] < thin*all {
			l.thin[i] = s.less(s.x.Row(i), out)
			l.size[i] = Dot(l.thin[i], l.thin[i])
		}
	}
	return l
}

// less centres a vector without a component, which becomes 0; nil if nothing else is left of it.
func (s *Selector) less(v []float64, out int) []float64 {
	w := append(append(make([]float64, 0, len(v)), v[:out]...), v[out+1:]...)
	size := Norm(w)
	if Centre(w); !(Norm(w) > relNil*size) {
		return nil
	}
	w = append(w, 0)
	copy(w[out+1:], w[out:])
	w[out] = 0
	return w
}

// vector is candidate i without the component.
func (l *leaveOut) vector(i int) []float64 {
	if v, ok := l.thin[i]; ok {
		return v
	}
	return l.less(l.x.Row(i), l.out)
}

func (l *leaveOut) with(i int) []float64 {
	return l.products(l.x.Row(i), l.vector(i), l.Selector.with(i))
}

// products are those of a vector, less the component, with all candidates; whole is the vector with
// it, and all are its products.
func (l *leaveOut) products(whole, less, all []float64) []float64 {
	p := make([]float64, len(all))
	if x := whole[l.out]; Dot(less, less) < thin*Dot(whole, whole) {
		for j := range p {
			p[j] = Dot(l.x.Row(j), less)
		}
	} else {
		n := l.x.N
		for j := range p {
			p[j] = all[j] - l.x.Rows[j*n+l.out]*x*l.factor
		}
	}
	for j, v := range l.thin {
		p[j] = 0
		if v != nil {
			p[j] = Dot(v, less)
		}
	}
	return p
}
