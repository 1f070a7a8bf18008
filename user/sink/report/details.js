// SPDX-License-Identifier: GPL-2.0-only
// All that is known of one span, beside the pointer and below the timeline; and the legend.

// [title, text] of each property.
function describe(data, i) {
	const {spans, facts} = data;
	const strip = data.strips.find((s) => i >= s.from && i < s.to);
	const [pid, tid] = facts.threads[strip.thread];
	const status = statusOf(spans, i), d = data.detailsOf(i);
	const length = spans.end[i] - spans.start[i];
	const rows = [["Kind", KINDS[kindOf(spans, i)]], ["Status", statusText(status, strip.kind)]];
	rows.push(["Start", "+" + duration(spans.start[i]) + ", " + moment(data.zero + BigInt(spans.start[i]))]);
	if (strip.kind !== MARKS) {
		if (hasEnd(spans, i))
			rows.push([status ? "Until then" : "Duration", duration(length) + " (" + grouped(length) + " ns)"]);
		else if (status === OPEN) rows.push(["Duration", "longer than " + duration(length)]);
		else rows.push(["Duration", "not known"]);
	}
	rows.push(["Process", processTitle(pid, facts.processes.find((p) => p.pid === pid), hostsOf(facts.processes))]);
	rows.push(["Thread", tid + (d.endTid === undefined ? "" : ", ended by " + d.endTid)]);
	if (strip.kind === NESTED) rows.push(["Depth", String(d.depth === undefined ? strip.row : d.depth)]);
	if (d.category !== undefined)
		rows.push(["Category", d.category + (d.categoryName ? " " + visible(d.categoryName) : "")]);
	if (d.payload !== undefined)
		rows.push(["Payload", d.payload + " (type " + d.payloadType + ", " + counted(d.payloadLength, "byte", "bytes") + ")"]);
	if (d.ret !== undefined) rows.push(["Returned", String(d.ret)]);
	if (d.domain !== undefined) rows.push(["Domain", visible(d.domain)]);
	if (d.unreadable) rows.push(["Message", "could not be read whole"]);
	if (d.cut) rows.push(["Message", "cut to 255 bytes"]);
	return rows;
}

function statusText(status, kind) {
	return [
		"complete",
		"unfinished: its thread, process or program ended first",
		"open: had not ended when tracing ended",
		"superseded: its id was started again",
		kind === MARKS ? "uncertain: records were lost that it depends on"
			: "uncertain: records were lost that it depends on; its end is not known",
	][status];
}

function hideTip() {
	get("tip").hidden = true;
}

function showTip(data, at, e) {
	const tip = get("tip");
	if (!at) {
		hideTip();
		return;
	}
	const {spans} = data, i = at.span, status = statusOf(spans, i);
	const length = spans.end[i] - spans.start[i], isMark = kindOf(spans, i) % 3 === 0;
	const text = [isMark ? "mark" : hasEnd(spans, i) ? duration(length)
		: status === OPEN ? "longer than " + duration(length) : "duration not known",
	"at +" + duration(spans.start[i])];
	if (status) text.push(STATUSES[status]);
	tip.replaceChildren(make("b", {}, named(data.names[spans.name[i]])), text.join(", "));
	if (at.together > 1)
		tip.append(make("br"), make("span", {class: "muted"}, "and " +
			grouped(at.together - 1) + " more that close: zoom in"));
	tip.hidden = false;
	const r = tip.getBoundingClientRect();
	const x = e.clientX + 14, y = e.clientY + 16;
	tip.style.left = Math.max(Math.min(x, window.innerWidth - r.width - 8), 4) + "px";
	tip.style.top = (y + r.height > window.innerHeight ? e.clientY - r.height - 10 : y) + "px";
}

function showSelected(data, i) {
	const box = get("selected");
	if (i < 0) {
		box.replaceChildren();
		return;
	}
	const list = make("dl");
	for (const [title, text] of describe(data, i)) list.append(make("dt", {}, title), make("dd", {}, text));
	box.replaceChildren(make("h3", {}, "Selected: ", named(data.names[data.spans.name[i]])), list);
}

// Only what there is, drawn as in the timeline.
function drawLegend(data, palette) {
	const legend = get("legend"), {kinds, statuses, losses} = data.facts;
	legend.replaceChildren();
	const entry = (text, paint) => {
		const canvas = make("canvas", {"aria-hidden": "true"}), scale = window.devicePixelRatio || 1;
		canvas.width = 46 * scale;
		canvas.height = 16 * scale;
		const c = canvas.getContext("2d");
		c.scale(scale, scale);
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		paint(c);
		legend.append(make("li", {}, canvas, text));
	};
	const filled = (c) => {
		c.fillStyle = palette.fills[0];
		c.fillRect(0, 0, 46, 16);
	};
	if (Number(kinds[1]) + Number(kinds[2])) entry("complete range", filled);
	if (Number(kinds[0]) + Number(kinds[3]))
		entry("mark", (c) => {
			c.fillStyle = palette.fg;
			drawDiamond(c, 23, 0, 16);
		});
	for (const status of [1, 2, 3])
		if (Number(statuses[status]))
			entry(STATUSES[status], (c) => {
				filled(c);
				drawStatus(c, palette, status, 0, 46, 0, 16);
			});
	if (Number(statuses[UNCERTAIN])) entry("uncertain: end not known", (c) => drawUnknown(c, palette, 16, 0, 16));
	if (data.spans.odd[data.spans.n])
		entry("flag: one here is not complete", (c) => {
			filled(c);
			drawFlag(c, palette, 23, 0);
		});
	if (losses.length)
		entry("records were lost in this time", (c) => {
			c.globalAlpha = 0.3;
			c.fillStyle = palette.bad;
			c.fillRect(0, 0, 46, 16);
		});
}
