#!/usr/bin/awk -f
# The table of scripts/record-overhead, from its files of "wall cpu" a run, named KERNEL.LENGTH,TOOL:RATE; those of runs alone come first.
function median(v, n,   i, j, t) {
	for (i = 2; i <= n; i++) {
		t = v[i]
		for (j = i - 1; j >= 1 && v[j] > t; j--) v[j + 1] = v[j]
		v[j + 1] = t
	}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function over(name, label, col,   i, v, n) {
	n = count[label]
	for (i = 1; i <= n; i++) v[i] = t[label, i, col] - t[name ",alone:0", i, col]
	return median(v, n)
}
function alone(name, col,   i, v, n) {
	n = count[name ",alone:0"]
	for (i = 1; i <= n; i++) v[i] = t[name ",alone:0", i, col]
	return median(v, n)
}
FNR == 1 {
	label = FILENAME
	sub(/.*\//, "", label)
	labels[++m] = label
}
{ t[label, FNR, 1] = $1; t[label, FNR, 2] = $2; count[label] = FNR }
END {
	printf "%-14s %-10s %5s %5s %8s %9s %8s %8s %9s %8s %9s %7s\n", "program", "tool", "rate", "runs", "alone s", "wall +s", "wall +%", "CPU s", "CPU +s", "CPU +%", "fixed s", "share %"
	for (i = 1; i <= m; i++) {
		if (split(labels[i], part, ",") < 2 || part[2] ~ /^alone/) continue
		split(part[2], tool, ":")
		for (c = 1; c <= 2; c++) { a[c] = alone(part[1], c); o[c] = over(part[1], labels[i], c) }
		fixed = share = ""
		split(part[1], name, ".")
		short = name[1] ".short"
		if (name[2] == "long" && (short ",alone:0") in count) {
			sa = alone(short, 2)
			so = over(short, short "," part[2], 2)
			if (a[2] > sa) {
				share = sprintf("%.1f", 100 * (o[2] - so) / (a[2] - sa))
				fixed = sprintf("%.3f", so - sa * (o[2] - so) / (a[2] - sa))
			}
		}
		printf "%-14s %-10s %5d %5d %8.2f %9.3f %8.1f %8.2f %9.3f %8.1f %9s %7s\n", part[1], tool[1], tool[2], count[labels[i]], a[1], o[1], 100 * o[1] / a[1], a[2], o[2], 100 * o[2] / a[2], fixed, share
	}
}
