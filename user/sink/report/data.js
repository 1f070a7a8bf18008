// SPDX-License-Identifier: GPL-2.0-only
// The data of the page, as user/sink/html.c and html_spans.h describe it. Spans become columns
// (one array for each property), in strips: rows of one thread, in order of their start.

const STATUSES = ["complete", "unfinished", "open", "superseded", "uncertain"];
const KINDS = ["marker", "push/pop", "start/end", "marker_ex"];
const STYLES = ["Marker", "PushPop", "StartEnd", "Marker"];	// of the statistics
const OPEN = 2, UNCERTAIN = 4;
const MARKS = 0, NESTED = 1, LANES = 2;

function bytesOf(id) {
	const text = atob(get(id).textContent);
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
	return bytes;
}

function reader(bytes) {
	let at = 0;
	function next() {
		let value = 0, scale = 1, byte;
		do {
			byte = bytes[at++];
			value += (byte & 127) * scale;	// not by shifts: these end at 32 bits
			scale *= 128;
		} while (byte & 128);
		return value;
	}
	return {
		next: next,
		signed() {
			const v = next();
			return v % 2 ? -(v + 1) / 2 : v / 2;
		},
		more: () => at < bytes.length,
		tell: () => at,
		seek(to) { at = to; },
	};
}

function columns(n) {
	return {
		n: n,
		start: new Float64Array(n),	// ns since zero_ns
		end: new Float64Array(n),	// of one without a known end: see closeOpen()
		reach: null,			// largest end up to here in the strip
		sum: new Float64Array(n + 1),	// durations of all before
		odd: new Uint32Array(n + 1),	// how many before are not complete
		name: new Uint32Array(n),
		flags: new Uint8Array(n),
		details: new Int32Array(n).fill(-1),	// where in the bytes
	};
}

const statusOf = (spans, i) => spans.flags[i] & 7;
const kindOf = (spans, i) => spans.flags[i] >> 3 & 3;
const hasEnd = (spans, i) => (spans.flags[i] & 32) !== 0;

function readStrips(facts, spans) {
	const from = reader(bytesOf("spans"));
	const strips = [];
	let i = 0;
	while (from.more()) {
		const strip = {thread: from.next(), kind: from.next(), row: from.next(), from: i};
		strip.to = i + from.next();
		for (let time = 0; i < strip.to; i++) {
			time += from.next();
			spans.start[i] = time;
			spans.end[i] = time + from.next();
			spans.name[i] = from.next();
			spans.flags[i] = from.next();
		}
		strips.push(strip);
	}
	return strips;
}

// What was open when tracing ended lasts up to then; of what is uncertain only the start is known.
function closeOpen(spans, last) {
	for (let i = 0; i < spans.n; i++)
		if (statusOf(spans, i) === OPEN && !hasEnd(spans, i)) spans.end[i] = Math.max(last, spans.start[i]);
}

function addSums(spans, strips) {
	spans.reach = spans.end;
	for (let i = 0; i < spans.n; i++) {
		spans.sum[i + 1] = spans.sum[i] + spans.end[i] - spans.start[i];
		spans.odd[i + 1] = spans.odd[i] + (statusOf(spans, i) !== 0);
	}
	// In the last row of many spans may overlap: ends are in no order then.
	for (const strip of strips)
		for (let i = strip.from + 1; i < strip.to; i++)
			if (spans.reach[i] < spans.reach[i - 1]) {
				if (spans.reach === spans.end) spans.reach = spans.end.slice();
				spans.reach[i] = spans.reach[i - 1];
				strip.overlaps = true;
			}
}

function readDetails(from, names) {
	const which = from.next();
	const d = {};
	if (which & 1) d.endTid = from.next();
	if (which & 2) {
		d.category = from.next();
		d.categoryName = names[from.next() || -1];
	}
	if (which & 4) {
		d.payloadType = from.signed();
		d.payloadLength = from.next();
		d.payload = BigInt(from.next()) | BigInt(from.next()) << 32n;
	}
	if (which & 8) d.ret = from.signed();
	if (which & 16) d.domain = names[from.next()];
	if (which & 128) d.depth = from.next();
	d.unreadable = (which & 32) !== 0;
	d.cut = (which & 64) !== 0;
	return d;
}

function readData() {
	const facts = JSON.parse(get("facts").textContent);
	const names = JSON.parse(get("names").textContent);
	const spans = columns(facts.shown);
	const strips = readStrips(facts, spans);
	const zero = BigInt(facts.zero_ns);
	const last = Number(BigInt(facts.last_ns) - zero);
	closeOpen(spans, last);
	addSums(spans, strips);

	const details = reader(bytesOf("details"));
	for (let i = 0; i < spans.n; i++)
		if (spans.flags[i] & 64) {
			spans.details[i] = details.tell();
			readDetails(details, names);
		}
	return {
		facts: facts, names: names, spans: spans, strips: strips, zero: zero,
		last: Math.max(last, 1),
		numberOf: new Map(names.map((name, i) => [name, i])),
		detailsOf(i) {
			if (spans.details[i] < 0) return {};
			details.seek(spans.details[i]);
			return readDetails(details, names);
		},
	};
}

// The first of from..to whose value is not below v; column must be ascending there.
function lowerBound(column, from, to, v) {
	while (from < to) {
		const middle = from + to >>> 1;
		if (column[middle] < v) from = middle + 1;
		else to = middle;
	}
	return from;
}

// The same when it is probably near the begin.
function nearBound(column, from, to, v) {
	let step = 1;
	while (from + step < to && column[from + step] < v) step *= 2;
	return lowerBound(column, from + (step >> 1), Math.min(from + step + 1, to), v);
}
