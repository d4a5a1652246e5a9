#!/usr/bin/awk -f
# The table of scripts/record-overhead, from its files of "wall cpu own-wall own-cpu" a run, named PROGRAM,TOOL:RATE; those of runs alone come first.
function sort(v, n,   i, j, t) {
	for (i = 2; i <= n; i++) {
		t = v[i]
		for (j = i - 1; j >= 1 && v[j] > t; j--) v[j + 1] = v[j]
		v[j + 1] = t
	}
}
# quantile of a sorted list
function quantile(v, n, q,   x, i) {
	x = 1 + q * (n - 1)
	i = int(x)
	return i < n ? v[i] + (x - i) * (v[i + 1] - v[i]) : v[n]
}
function alone(name, col,   i, v, n) {
	n = count[name ",alone:0"]
	for (i = 1; i <= n; i++) v[i] = t[name ",alone:0", i, col]
	sort(v, n)
	return quantile(v, n, 0.5)
}
# over sets mid, low and high to the quartiles of the differences, in seconds or, with per, in percent of the run alone
function over(name, label, col, per,   i, v, n, a) {
	n = count[label]
	for (i = 1; i <= n; i++) {
		a = t[name ",alone:0", i, col]
		v[i] = t[label, i, col] - a
		if (per) v[i] = a > 0 ? v[i] * 100 / a : 0
	}
	sort(v, n)
	low = quantile(v, n, 0.25); mid = quantile(v, n, 0.5); high = quantile(v, n, 0.75)
}
function percent(name, label, col) {
	if (t[label, 1, col] == "-") return "-"
	over(name, label, col, 1)
	return sprintf("%.1f [%.1f %.1f]", mid, low, high)
}
FNR == 1 {
	label = FILENAME
	sub(/.*\//, "", label)
	labels[++m] = label
}
{ for (i = 1; i <= 4; i++) t[label, FNR, i] = $i; count[label] = FNR }
END {
	printf "%-8s %7s %7s  %-16s %4s  %-18s %-18s  %-18s %-18s %7s %7s\n", "program", "wall s", "CPU s", "tool", "runs", "own wall +%", "own CPU +%", "all wall +%", "all CPU +%", "wall +s", "CPU +s"
	for (i = 1; i <= m; i++) {
		if (split(labels[i], part, ",") < 2 || part[2] ~ /^alone/) continue
		over(part[1], labels[i], 1, 0); wall = mid
		over(part[1], labels[i], 2, 0); cpu = mid
		printf "%-8s %7.2f %7.2f  %-16s %4d  %-18s %-18s  %-18s %-18s %7.3f %7.3f\n", part[1], alone(part[1], 1), alone(part[1], 2), part[2], count[labels[i]],
			percent(part[1], labels[i], 3), percent(part[1], labels[i], 4), percent(part[1], labels[i], 1), percent(part[1], labels[i], 2), wall, cpu
	}
}
