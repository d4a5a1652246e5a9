// Text for terminals and files whose encoding is not UTF-8.

package report

import "strings"

// asciiFor are the stand-ins of what reports draw with. Bars keep their length to a column, lines
// of bars the order of their levels.
var asciiFor = map[rune]string{
	'━': "-", '█': "#", '░': ".", '…': "~", '·': ".", '⋯': "...", '±': "+-", '×': "x", '’': "'", '“': "\"", '”': "\"", '–': "-", '→': "->",
	'▏': "|", '▎': "|", '▍': "|", '▌': "=", '▋': "=", '▊': "=", '▉': "#",
	'▁': "_", '▂': ".", '▃': "-", '▄': "=", '▅': "+", '▆': "*", '▇': "%",
}

// toASCII replaces every other character; what has no stand-in becomes a question mark.
func toASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch stand, ok := asciiFor[r]; {
		case r < 0x80:
			b.WriteRune(r)
		case ok:
			b.WriteString(stand)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
