package stat

// Residual removes from the centred vector x its projections on the orthogonal, centred vectors of
// basis (nil ones are skipped), in place. If what is left is shorter than tol of x's original
// length, it is nil: x is cleared and false returned.
func Residual(x []float64, basis [][]float64, tol float64) bool {
	size := Norm(x)
	for range 2 { // the second pass removes what rounding left
		for _, b := range basis {
			if bb := Dot(b, b); bb > 0 {
				AddScaled(x, -Dot(x, b)/bb, b)
			}
		}
	}
	if left := Norm(x); left > tol*size && left > 0 {
		return true
	}
	clear(x)
	return false
}
