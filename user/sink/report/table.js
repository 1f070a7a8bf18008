// SPDX-License-Identifier: GPL-2.0-only
// The statistics: the columns of `acltap stat`, sortable, restricted to names that contain what is
// searched for. Only so many rows are in the document at once.

const PAGE = 200;
const LABEL = 0, STYLE = 1, FIRST_BIN = 15, BINS = 16;
// Title, number in a row of the data, decimals (null = text).
const COLUMNS = [
	["Range", LABEL, null], ["Style", STYLE, null], ["Time (%)", 2, 1], ["Total Time (ns)", 3, 0],
	["Instances", 4, 0], ["Avg (ns)", 5, 1], ["Med (ns)", 6, 1], ["Min (ns)", 7, 0],
	["Max (ns)", 8, 0], ["StdDev (ns)", 9, 1], ["P95 (ns)", 10, 0], ["P99 (ns)", 11, 0],
	["Self (ns)", 12, 0], ["Unfinished", 13, 0], ["Uncertain", 14, 0],
];
const TOTAL = 3;

function smallHistogram(row) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const bins = row[BINS].map(Number), most = Math.max(...bins, 1);
	const width = Math.min(96 / bins.length, 12);
	svg.setAttribute("class", "small");
	svg.setAttribute("viewBox", "0 0 96 20");
	svg.setAttribute("aria-hidden", "true");
	bins.forEach((n, i) => {
		if (!n) return;
		const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
		const height = Math.max(20 * n / most, 1);
		bar.setAttribute("x", i * width);
		bar.setAttribute("y", 20 - height);
		bar.setAttribute("width", Math.max(width - 1, 1));
		bar.setAttribute("height", height);
		svg.append(bar);
	});
	return svg;
}

function cell(row, [, column, decimals]) {
	if (decimals === null) return make("td", {class: "text"}, row[column]);
	const bad = column >= 13 && Number(row[column]) > 0;
	return make("td", bad ? {class: "count-bad"} : {}, grouped(row[column], decimals));
}

function makeTable(rows, choose, none) {
	const body = make("tbody");
	const heads = COLUMNS.map(([title, column, decimals]) => {
		const button = make("button", {type: "button"}, title);
		button.addEventListener("click", () => sortBy(column));
		return make("th", {scope: "col", class: decimals === null ? "text" : ""}, button);
	});
	const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads,
		make("th", {scope: "col", class: "text"}, "Durations"))), body);
	let order = {column: TOTAL, up: false};
	let fits = () => true;
	let shown = rows, limit = PAGE, chosen = null;

	const compare = (a, b) => {
		const x = a[order.column], y = b[order.column];
		const d = order.column <= STYLE ? (x < y ? -1 : x > y ? 1 : 0) : Number(x) - Number(y);
		return order.up ? d : -d;
	};

	function tableRow(row) {
		const button = make("button", {type: "button", tabindex: "-1"}, named(row[LABEL]));
		button.addEventListener("click", () => choose(row));
		return make("tr", row === chosen ? {class: "chosen"} : {}, make("th", {scope: "row"}, button),
			...COLUMNS.slice(1).map((c) => cell(row, c)), make("td", {}, smallHistogram(row)));
	}

	function draw() {
		const more = get("more");
		body.replaceChildren(...shown.slice(0, limit).map(tableRow));
		if (!shown.length)
			body.append(make("tr", {}, make("td", {class: "empty text", colspan: COLUMNS.length + 1},
				rows.length ? "No name contains this." : none)));
		focusable(chosen && shown.indexOf(chosen) < limit ? Math.max(shown.indexOf(chosen), 0) : 0);
		more.hidden = shown.length <= limit;
		more.textContent = "Show " + grouped(Math.min(PAGE, shown.length - limit)) + " more of " +
			counted(shown.length, "row", "rows");
		heads.forEach((head, i) => {
			if (COLUMNS[i][1] !== order.column) head.removeAttribute("aria-sort");
			else head.setAttribute("aria-sort", order.up ? "ascending" : "descending");
		});
	}

	// One name of all can be reached by Tab; from it the arrows go on.
	let reached = null;

	function focusable(number) {
		const row = body.rows[number], button = row && row.querySelector("button");
		if (!button) return null;
		if (reached) reached.tabIndex = -1;
		reached = button;
		button.tabIndex = 0;
		return button;
	}

	body.addEventListener("focusin", (e) => focusable(e.target.closest("tr").sectionRowIndex));
	body.addEventListener("keydown", (e) => {
		const by = {ArrowDown: 1, ArrowUp: -1}[e.key];
		const button = by && focusable(e.target.closest("tr").sectionRowIndex + by);
		if (!button) return;
		button.focus();
		e.preventDefault();
	});

	function sortBy(column) {
		order = {column: column, up: order.column === column ? !order.up : column <= STYLE};
		arrange();
	}

	// Equal ones stay in the order of acltap stat.
	function arrange() {
		shown = rows.filter((row) => fits(row[LABEL]));
		if (order.column !== TOTAL || order.up) shown.sort(compare);
		draw();
	}

	get("more").addEventListener("click", () => {
		const first = limit;
		limit += PAGE;
		draw();
		body.rows[first].querySelector("button").focus({preventScroll: true});
	});
	get("table-box").append(table);
	draw();
	return {
		// Rows for which the name fits.
		restrict(to) {
			fits = to;
			limit = PAGE;
			arrange();
			return shown.length;
		},
		mark(row) {
			const focused = body.contains(document.activeElement);
			chosen = row;
			draw();
			if (focused) reached.focus({preventScroll: true});
		},
	};
}
