// SPDX-License-Identifier: GPL-2.0-only
// The timeline: what is shown, selected and found, and what mouse, fingers and keys do with it.

function makeTimeline(data, onSelect) {
	const box = get("timeline"), canvas = get("canvas");
	const {spans} = data;
	const {items, height: total} = layOut(data);
	const w = makeWindow(data.last);
	const look = {selected: -1, found: null};	// found: how many before each span fit
	const painter = makePainter(data, canvas, look);
	const dark = matchMedia("(prefers-color-scheme: dark)");
	let waiting = false, height = 0, marked = null;

	// ---- Drawing

	function draw() {
		waiting = false;
		w.width = Math.max(box.clientWidth, 1);
		painter.draw(w, items, box.scrollTop, height);
		if (marked) {
			const c = canvas.getContext("2d");
			c.globalAlpha = 0.25;
			c.fillStyle = painter.palette().accent;
			c.fillRect(Math.min(marked[0], marked[1]), 0, Math.abs(marked[1] - marked[0]), height);
			c.globalAlpha = 1;
		}
		get("window").textContent = "from " + duration(w.from) + ", " + duration(w.to - w.from) + " shown";
	}

	function redraw() {
		if (!waiting) requestAnimationFrame(draw);
		waiting = true;
	}

	function resize() {
		const scale = window.devicePixelRatio || 1;
		height = Math.round(Math.min(total, Math.max(window.innerHeight * 0.62, 200)));
		box.style.height = height + 2 + "px";
		get("sizer").style.height = total - height + "px";
		canvas.style.height = height + "px";
		canvas.width = Math.max(Math.round(box.clientWidth * scale), 1);
		canvas.height = Math.round(height * scale);
		redraw();
	}

	// ---- What is where

	function itemAt(y) {
		const item = items[firstItem(items, y + box.scrollTop)];
		return y >= AXIS && item && item.strip && item.y <= y + box.scrollTop ? item : null;
	}

	// The span at a time or next to it, at most so far away; -1 = none.
	function spanAt(strip, time, reach) {
		const i = lowerBound(spans.reach, strip.from, strip.to, time - reach);
		let best = -1, distance = Infinity;
		for (let k = i; k < strip.to && k < i + 2000 && spans.start[k] <= time + reach; k++) {
			const d = Math.max(spans.start[k] - time, time - spans.end[k], 0);
			if (d <= reach && (d < distance || (d === 0 && strip.overlaps))) {
				best = k;
				distance = d;
			}
		}
		return best;
	}

	// What the pointer is on: a span, and how many share its pixel.
	function under(x, y) {
		const item = itemAt(y);
		if (!item) return null;
		const strip = item.strip, pixel = (w.to - w.from) / w.width, time = w.time(x);
		const i = spanAt(strip, time, pixel * (strip.kind === MARKS ? 6 : 4));
		if (i < 0) return null;
		const from = lowerBound(spans.reach, strip.from, strip.to, time - pixel);
		const to = lowerBound(spans.start, from, strip.to, time + pixel);
		return {span: i, together: Math.max(to - from, 1)};
	}

	function itemOf(i) {
		return items.find((item) => item.strip && i >= item.strip.from && i < item.strip.to);
	}

	// ---- Selecting

	function select(i) {
		look.selected = i;
		get("to-span").disabled = i < 0;
		redraw();
		onSelect(i);
	}

	// Brings the span into sight, where it must be to be at least some pixels wide.
	function reveal(i, closer) {
		const item = itemOf(i), length = spans.end[i] - spans.start[i];
		const span = w.to - w.from, middle = (spans.start[i] + spans.end[i]) / 2;
		const seen = spans.end[i] >= w.from && spans.start[i] <= w.to;
		if (closer) w.show(spans.start[i] - length * 0.3, spans.end[i] + length * 0.3);
		else if (length > 0 && length < span / 200) w.show(middle - length * 25, middle + length * 25);
		else if (!seen) w.show(middle - span / 2, middle + span / 2);
		if (item.y < box.scrollTop + AXIS || item.y + item.height > box.scrollTop + height)
			box.scrollTop = item.y - height / 2;
		redraw();
	}

	function firstInSight() {
		for (let k = firstItem(items, box.scrollTop + AXIS); k < items.length; k++) {
			const strip = items[k].strip;
			if (!strip) continue;
			const i = lowerBound(spans.reach, strip.from, strip.to, w.from);
			if (i < strip.to && spans.start[i] <= w.to) return i;
		}
		return spans.n ? 0 : -1;
	}

	function step(along, rows) {
		let i = look.selected;
		if (i < 0) {
			i = firstInSight();
		} else if (rows) {
			i = inOtherRow(i, rows);
		} else {
			const strip = itemOf(i).strip;
			i = Math.min(Math.max(i + along, strip.from), strip.to - 1);
		}
		if (i < 0) return;
		select(i);
		reveal(i);
	}

	// The nearest in the row above or below.
	function inOtherRow(i, rows) {
		let k = items.indexOf(itemOf(i)) + rows;
		while (k >= 0 && k < items.length && !items[k].strip) k += rows;
		if (k < 0 || k >= items.length) return i;
		const strip = items[k].strip, time = (spans.start[i] + spans.end[i]) / 2;
		const j = spanAt(strip, time, 0);
		if (j >= 0) return j;
		const after = lowerBound(spans.start, strip.from, strip.to, time);
		return Math.min(after, strip.to - 1);
	}

	// ---- Finding

	// numbers: of names; null = no search. Only of one style, if given. Returns how many spans fit.
	function find(numbers, style) {
		look.found = null;
		if (numbers) {
			const fits = new Uint8Array(data.names.length);
			for (const n of numbers) fits[n] = 1;
			look.found = new Uint32Array(spans.n + 1);
			for (let i = 0; i < spans.n; i++) {
				const fit = fits[spans.name[i]] && (!style || STYLES[kindOf(spans, i)] === style);
				look.found[i + 1] = look.found[i] + (fit ? 1 : 0);
			}
		}
		redraw();
		return look.found ? look.found[spans.n] : 0;
	}

	// The next of those found, in order of rows and time, around at the ends.
	function next(along) {
		const n = look.found ? look.found[spans.n] : 0;
		if (!n) return 0;
		const before = look.selected < 0 ? 0 : look.found[look.selected];
		const on = look.selected >= 0 && look.found[look.selected + 1] > before;
		let k = along > 0 ? before + (on ? 1 : 0) : before - 1;
		if (look.selected < 0) k = along > 0 ? 0 : n - 1;
		k = (k % n + n) % n;
		const i = lowerBound(look.found, 1, spans.n + 1, k + 1) - 1;
		select(i);
		reveal(i);
		return k + 1;
	}

	// ---- Mouse and fingers

	const pointers = new Map();
	let moved = 0;

	function place(e) {
		const r = canvas.getBoundingClientRect();
		return {x: e.clientX - r.left, y: e.clientY - r.top};
	}

	canvas.addEventListener("pointerdown", (e) => {
		if (e.button) return;
		const p = place(e);
		pointers.set(e.pointerId, p);
		canvas.setPointerCapture(e.pointerId);
		moved = 0;
		marked = e.shiftKey ? [p.x, p.x] : null;
	});

	function drag(before, now) {
		moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
		if (marked) {
			marked[1] = now.x;
		} else if (moved > 3) {
			canvas.classList.add("grabbing");
			w.move((before.x - now.x) / w.width);
			box.scrollTop += before.y - now.y;
		}
		redraw();
	}

	function pinch(id, before, now) {
		const other = [...pointers].find(([key]) => key !== id)[1];
		const was = Math.max(Math.abs(before.x - other.x), 10), is = Math.max(Math.abs(now.x - other.x), 10);
		w.zoom(was / is, (now.x + other.x) / 2);
		moved = 99;
		redraw();
	}

	canvas.addEventListener("pointermove", (e) => {
		const now = place(e), before = pointers.get(e.pointerId);
		if (!before) {
			showTip(data, under(now.x, now.y), e);
			return;
		}
		pointers.set(e.pointerId, now);
		hideTip();
		if (pointers.size === 2) pinch(e.pointerId, before, now);
		else drag(before, now);
	});

	function release(e) {
		const p = pointers.get(e.pointerId);
		pointers.delete(e.pointerId);
		canvas.classList.remove("grabbing");
		if (!p) return;
		if (marked && Math.abs(marked[1] - marked[0]) > 4) {
			w.show(w.time(Math.min(...marked)), w.time(Math.max(...marked)));
		} else if (moved <= 3 && e.type === "pointerup") {
			const at = under(p.x, p.y);
			select(at ? at.span : -1);
		}
		marked = null;
		redraw();
	}
	canvas.addEventListener("pointerup", release);
	canvas.addEventListener("pointercancel", release);
	canvas.addEventListener("pointerleave", hideTip);
	canvas.addEventListener("dblclick", (e) => {
		const p = place(e), at = under(p.x, p.y);
		if (at) reveal(at.span, true);
	});

	box.addEventListener("wheel", (e) => {
		const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? height : 1;
		const dx = e.deltaX * unit, dy = e.deltaY * unit;
		if (e.ctrlKey || e.metaKey || e.altKey)
			w.zoom(Math.exp(Math.min(Math.max(dy, -120), 120) * 0.003), place(e).x);
		else if (e.shiftKey || Math.abs(dx) > Math.abs(dy))
			w.move((dx || dy) / w.width);
		else
			return;	// scrolls
		e.preventDefault();
		hideTip();
		redraw();
	}, {passive: false});

	// ---- Keys and buttons

	const actions = {
		"+": () => w.zoom(0.6, w.width / 2), "=": () => w.zoom(0.6, w.width / 2),
		"-": () => w.zoom(1 / 0.6, w.width / 2),
		"ArrowLeft": () => w.move(-0.15), "ArrowRight": () => w.move(0.15),
		"Home": () => w.show(w.low, w.low + w.to - w.from),
		"End": () => w.show(w.high - (w.to - w.from), w.high),
		"0": w.all,
		"z": () => look.selected >= 0 && reveal(look.selected, true),
		"n": () => next(1), "p": () => next(-1),
		"Escape": () => select(-1),
	};
	const withShift = {
		"ArrowLeft": () => step(-1, 0), "ArrowRight": () => step(1, 0),
		"ArrowUp": () => step(0, -1), "ArrowDown": () => step(0, 1),
	};

	box.addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
		const action = e.shiftKey && withShift[key] || (!e.shiftKey || key.length === 1) && actions[key];
		if (!action) return;
		action();
		e.preventDefault();
		hideTip();
		redraw();
	});
	for (const [id, key] of [["zoom-in", "+"], ["zoom-out", "-"], ["pan-left", "ArrowLeft"],
		["pan-right", "ArrowRight"], ["fit", "0"], ["to-span", "z"]])
		get(id).addEventListener("click", () => {
			actions[key]();
			redraw();
		});

	function repaint() {
		painter.setDark(dark.matches);
		drawLegend(data, painter.palette());
		redraw();
	}
	dark.addEventListener("change", repaint);
	box.addEventListener("scroll", redraw, {passive: true});
	new ResizeObserver(resize).observe(box);
	window.addEventListener("resize", resize);
	repaint();
	resize();
	return {window: w, look: look, items: items, draw: draw, find: find, next: next, select: select, reveal: reveal};
}
