// Accounts whose rows cancel: they add up to many times the imbalance before what they take back,
// and no share of it says anything. Such rows are told in time alone.
package report

import (
	"fmt"
	"math"

	"lime/internal/unit"
)

// gross is what the rows of an account come to, whatever their sign.
func (l *Ledger) gross() float64 {
	sum := l.RestPositive - l.RestNegative
	for i := range l.Rows {
		sum += math.Abs(l.Rows[i].Time)
	}
	return sum
}

// whole is what a row's weight is measured by: the imbalance, or all that the rows come to where
// they cancel.
func (l *Ledger) whole() float64 {
	if l.Cancels {
		return l.gross()
	}
	return l.Total
}

// weight is by what the bar of a row is as long.
func (l *Ledger) weight(row *LedgerRow) float64 {
	if l.Cancels {
		return ratio(row.Time, l.gross())
	}
	return row.Share
}

// percent prints a time as a share of the imbalance, nothing where shares say nothing: a row beyond
// the whole is made up for by others.
func (l *Ledger) percent(time float64) string {
	if l.Cancels || beyond(ratio(time, l.Total)) {
		return ""
	}
	return unit.Percent(ratio(time, l.Total))
}

// beyondRounding is the share by which a sum of times may pass the whole for nothing but rounding:
// half of what is printed.
const beyondRounding = 0.0005

// beyond reports whether a share of the imbalance is more than all of it: then others make up for
// it, and it says nothing by itself.
func beyond(share float64) bool { return math.Abs(share) > 1+beyondRounding }

// dropShares takes the shares off an account whose rows cancel.
func (l *Ledger) dropShares() {
	for i := range l.Rows {
		row := &l.Rows[i]
		row.Share = 0
		for k := range row.With {
			row.With[k].Share = 0
		}
	}
}

// dropShare takes the share off a cause that others make up for.
func (c *Cause) dropShare(time float64) {
	c.Share, c.ShareKind, c.ShareInterval, c.LedgerTime = 0, "none", nil, time
	for i := range c.Parts {
		c.Parts[i].Share = nil
	}
}

// cancelWords says why there are no shares.
func (l *Ledger) cancelWords() string {
	if !l.Cancels {
		return ""
	}
	return " Its rows make up for one another: they add up to far more than that, and shares would say nothing."
}

// addedWords is what stands for a share where others make up for the row.
func (c *Cause) addedWords() string { return fmt.Sprintf("adds %s", unit.SI(c.LedgerTime)) }

// shareShort is the share that stands beside a line of source.
func (c *Cause) shareShort() string {
	if c.ShareKind == "none" {
		return ""
	}
	return unit.Percent(c.Share)
}
