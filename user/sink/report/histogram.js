// SPDX-License-Identifier: GPL-2.0-only
// The durations of one row of the table, by powers of two.

function binEdge(power) {
	return duration(power ? Math.pow(2, power) : 0);
}

function showHistogram(row) {
	const box = get("histogram");
	if (!row) {
		box.replaceChildren();
		return;
	}
	const bins = row[BINS].map(Number), most = Math.max(...bins);
	const title = make("h3", {}, "Durations of ", named(row[LABEL]), " (" + row[STYLE] + ")");
	if (!Number(row[4])) {
		box.replaceChildren(title, make("p", {class: "muted"}, "None of them is complete."));
		return;
	}
	const body = make("tbody");
	bins.forEach((n, i) => {
		const power = row[FIRST_BIN] + i;
		const bar = make("i");
		bar.style.width = 100 * n / most + "%";
		body.append(make("tr", {}, make("th", {scope: "row"}, binEdge(power) + " \u2013 " +
			duration(Math.pow(2, power + 1))),
			make("td", {}, grouped(row[BINS][i])),
			make("td", {class: "bars", "aria-hidden": "true"}, n ? bar : "")));
	});
	box.replaceChildren(title, make("table", {}, make("thead", {}, make("tr", {},
		make("th", {scope: "col"}, "from \u2013 to below"),
		make("th", {scope: "col"}, "Instances"), make("th", {}))), body));
}
