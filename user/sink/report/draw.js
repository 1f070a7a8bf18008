// SPDX-License-Identifier: GPL-2.0-only
// Drawing on the canvas. What is narrower than a pixel is drawn together with its neighbours: the
// more of a pixel is taken, the stronger its colour, so that the work for a row is bounded by its
// width and not by the number of spans.

const HUES = [210, 30, 140, 275, 0, 180, 55, 325, 100, 240, 15, 160];
const STEPS = 6;	// of the strength of what is drawn together
const NARROW = 2;	// device pixels, below it spans are drawn together
const WIDE = 8;	// px, from here on they are drawn with all that is to be seen of them

function makePalette(dark) {
	const style = getComputedStyle(document.documentElement);
	const p = {dark: dark};
	for (const name of ["bg", "panel", "fg", "muted", "line", "accent", "bad"])
		p[name] = style.getPropertyValue("--" + name).trim();
	const fills = HUES.map((hue) => dark ? rgbOf(hue, 0.38, 0.38) : rgbOf(hue, 0.62, 0.78));
	p.fills = fills.map((rgb) => mix(rgb, rgb, 1));
	p.dim = dark ? "#2a2f36" : "#e6e9ed";
	p.text = dark ? "#f4f6f8" : "#14181c";
	p.hatch = dark ? "#ffffffa0" : "#00000080";
	p.found = dark ? "#ffd54a" : "#b26a00";
	const ground = hexOf(p.bg);
	p.mixed = fills.concat([hexOf(p.dim)]).map((rgb) => {
		const list = [];
		for (let i = 1; i <= STEPS; i++) list.push(mix(rgb, ground, 0.25 + 0.75 * i / STEPS));
		return list;
	});
	p.pixels = p.mixed.map((list) => list.map((text) => {
		const [r, g, b] = hexOf(text);
		return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
	}));
	return p;
}

// Hue in degrees, saturation, lightness.
function rgbOf(h, s, l) {
	const part = (n) => {
		const k = (n + h / 30) % 12;
		return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
	};
	return [part(0), part(8), part(4)];
}

function hexOf(text) {
	const t = text.length === 4 ? text.replace(/[^#]/g, "$&$&") : text;
	return [1, 3, 5].map((i) => parseInt(t.slice(i, i + 2), 16));
}

// In the form that a canvas reads fastest.
function mix(a, b, share) {
	return "#" + a.map((v, i) => Math.round(v * share + b[i] * (1 - share)).toString(16).padStart(2, "0")).join("");
}

function hueOf(text) {
	let h = 0;
	for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0;
	return ((h ^ h >>> 15) >>> 0) % HUES.length;
}

// Lines over what has no proven end: each status has its own.
function drawStatus(c, palette, status, x0, x1, y, h) {
	const slant = {1: [6, 1], 3: [5, -1]}[status];	// unfinished, superseded
	c.save();
	c.beginPath();
	c.rect(x0, y, x1 - x0, h);
	c.clip();
	c.strokeStyle = palette.hatch;
	c.lineWidth = 1.2;
	c.beginPath();
	if (slant)
		for (let x = Math.floor(x0 / slant[0]) * slant[0] - h; x < x1 + h; x += slant[0]) {
			c.moveTo(x, slant[1] > 0 ? y + h : y);
			c.lineTo(x + h, slant[1] > 0 ? y : y + h);
		}
	else	// open: arrows towards what is not known
		for (let x = Math.floor(x0 / 12) * 12; x < x1 + 8; x += 12) {
			c.moveTo(x, y + 3);
			c.lineTo(x + 5, y + h / 2);
			c.lineTo(x, y + h - 3);
		}
	c.stroke();
	if (status === 3) {	// the other way as well: crossed
		c.beginPath();
		for (let x = Math.floor(x0 / 5) * 5 - h; x < x1 + h; x += 5) {
			c.moveTo(x, y + h);
			c.lineTo(x + h, y);
		}
		c.stroke();
	}
	c.restore();
	c.setLineDash([3, 2]);
	c.strokeStyle = palette.bad;
	c.lineWidth = 1;
	c.strokeRect(x0 + 0.5, y + 0.5, Math.max(x1 - x0 - 1, 1), h - 1);
	c.setLineDash([]);
}

// A flag on top of what is too narrow for lines.
function drawFlag(c, palette, x, y) {
	c.fillStyle = palette.bad;
	c.beginPath();
	c.moveTo(x - 4, y);
	c.lineTo(x + 4, y);
	c.lineTo(x, y + 6);
	c.fill();
}

// A range of which only the begin is known.
function drawUnknown(c, palette, x, y, h) {
	c.setLineDash([2, 2]);
	c.strokeStyle = palette.bad;
	c.strokeRect(x + 0.5, y + 0.5, 11, h - 1);
	c.setLineDash([]);
	c.fillStyle = palette.bad;
	c.fillRect(x, y, 2, h);
	c.textAlign = "center";
	c.fillText("?", x + 6.5, y + h / 2 + 0.5);
	c.textAlign = "left";
}

function drawDiamond(c, x, y, h) {
	c.fillRect(x - 0.75, y, 1.5, h);
	c.beginPath();
	c.moveTo(x, y + h / 2 - 5);
	c.lineTo(x + 5, y + h / 2);
	c.lineTo(x, y + h / 2 + 5);
	c.lineTo(x - 5, y + h / 2);
	c.fill();
}

// The text as far as there is room; measured by a common width, which is much faster.
function fitText(text, room) {
	const most = Math.floor(room / 6.8);
	if (text.length <= most) return text;
	return most < 3 ? "" : text.slice(0, most - 1) + "\u2026";
}

function makePainter(data, canvas, look) {
	const {spans} = data;
	const hues = data.names.map(hueOf);
	const shown = [];	// names as they are drawn
	const nameOf = (i) => shown[spans.name[i]] || (shown[spans.name[i]] = nameOrNone(data.names[spans.name[i]]));
	let c, palette, w;

	const matches = (from, to) => look.found ? look.found[to] - look.found[from] : 0;
	const hueAt = (i, match) => look.found && !match ? HUES.length : hues[spans.name[i]];

	function drawWide(i, y, h) {
		const x0 = Math.max(w.x(spans.start[i]), -20), x1 = Math.min(w.x(spans.end[i]), w.width + 20);
		const status = statusOf(spans, i), match = matches(i, i + 1);
		c.fillStyle = palette.mixed[hueAt(i, match)][STEPS - 1];
		c.fillRect(x0, y, Math.max(x1 - x0 - (x1 - x0 > 4 ? 1 : 0), 1), h);
		if (status) drawStatus(c, palette, status, x0, x1, y, h);
		if (match) {
			c.fillStyle = palette.found;
			c.fillRect(x0, y + h - 3, Math.max(x1 - x0 - 1, 1), 3);
		}
		const left = Math.max(x0, 0), room = Math.min(x1, w.width) - left - 8;
		if (room < 16) return;
		const text = fitText(nameOf(i) + (status ? " (" + STATUSES[status] + ")" : ""), room);
		if (status && text) {	// readable above the lines
			c.fillStyle = palette.mixed[hueAt(i, match)][STEPS - 1];
			c.fillRect(left + 2, y + 2, Math.min(text.length * 7 + 4, room + 4), h - 4);
		}
		c.fillStyle = look.found && !match ? palette.muted : palette.text;
		c.fillText(text, left + 4, y + h / 2 + 0.5, room + 2);
	}

	function drawTogether(i, j, px, line) {
		const share = (spans.sum[j] - spans.sum[i]) / ((w.to - w.from) / line.length);
		const strength = Math.min(Math.max(Math.ceil(share * STEPS), 1), STEPS) - 1;
		const match = matches(i, j);
		const first = match ? lowerBound(look.found, i + 1, j, look.found[i] + 1) - 1 : i;
		if (px >= 0 && px < line.length) line[px] = palette.pixels[hueAt(first, match)][strength];
		return match;
	}

	function drawNarrow(i, x0, x1, line) {
		const match = matches(i, i + 1), from = Math.max(Math.round(x0), 0);
		const to = Math.max(Math.round(x1) - (x1 - x0 > 4 ? 1 : 0), from + 1);
		line.fill(palette.pixels[hueAt(i, match)][STEPS - 1], from, Math.min(to, line.length));
		return match;
	}

	// Pixels with something that is searched for.
	function drawFound(found, y, h) {
		c.fillStyle = palette.found;
		for (let k = 0; k < found.length;) {
			const from = found[k];
			let to = from + 2;
			for (; k < found.length && found[k] <= to; k++) to = found[k] + 2;
			c.fillRect(from, y + h - 3, to - from, 3);
		}
	}

	// What is narrow goes into the line, device pixel by device pixel; the rest is listed.
	function scanRanges(strip, line) {
		const wide = [], found = [], flags = [];
		const scale = line.length / w.width, wideEnough = WIDE * scale;
		let i = lowerBound(spans.reach, strip.from, strip.to, w.from);
		while (i < strip.to && spans.start[i] <= w.to) {
			const x0 = w.x(spans.start[i]) * scale, x1 = w.x(spans.end[i]) * scale;
			let j = i + 1, match;
			if (x1 - x0 >= wideEnough) {
				wide.push(i++);
				continue;
			}
			if (x1 - x0 >= NARROW) {
				match = drawNarrow(i, x0, x1, line);
			} else {
				const px = Math.floor(x0);
				j = Math.max(nearBound(spans.start, i, strip.to, w.time((px + 1) / scale)), j);
				// Only the last can reach beyond this pixel by much.
				if (j - 1 > i && (w.x(spans.end[j - 1]) - w.x(spans.start[j - 1])) * scale >= NARROW) j--;
				match = drawTogether(i, j, px, line);
			}
			if (match) found.push(x0 / scale);
			if (spans.odd[j] > spans.odd[i]) flags.push(i, j, x0 / scale);
			i = j;
		}
		return {wide: wide, found: found, flags: flags};
	}

	function drawRanges(scan, y, h) {
		for (const i of scan.wide) drawWide(i, y, h);
		drawFound(scan.found, y, h);
		drawFlags(scan.flags, y, h);
	}

	function drawFlags(flags, y, h) {
		let last = -10;
		for (let k = 0; k < flags.length; k += 3) {
			const [i, j, x] = [flags[k], flags[k + 1], flags[k + 2]];
			const alone = j === i + 1 && statusOf(spans, i) === UNCERTAIN;
			if (x - last < (alone ? 14 : 6)) continue;
			last = x;
			if (alone) drawUnknown(c, palette, x, y, h);
			else drawFlag(c, palette, x, y);
		}
	}

	function drawMarks(strip, y, h) {
		let i = lowerBound(spans.start, strip.from, strip.to, w.time(-6)), before = -Infinity;
		while (i < strip.to && w.x(spans.start[i]) <= w.width + 6) {
			const x = w.x(spans.start[i]);
			let j = nearBound(spans.start, i, strip.to, w.time(Math.floor(x) + 2));
			if (j === i) j++;
			const match = matches(i, j);
			c.fillStyle = match ? palette.found : look.found ? palette.dim : palette.fg;
			const room = (j < strip.to ? Math.min(w.x(spans.start[j]), w.width + 300) : w.width + 300) - x - 16;
			if (room > -6 && x - before > 10) drawDiamond(c, x, y, h);
			else c.fillRect(Math.floor(x), y + 1, 1, h - 2);
			before = x;
			if (spans.odd[j] > spans.odd[i]) drawFlag(c, palette, x, y);
			if (room > 24) {
				c.fillStyle = look.found && !match ? palette.muted : palette.fg;
				c.fillText(fitText((j > i + 1 ? (j - i) + " marks: " : "") + nameOf(i), room), x + 8, y + h / 2 + 0.5, room);
			}
			i = j;
		}
	}

	function drawSelection(strip, y, h) {
		const i = look.selected;
		if (i < strip.from || i >= strip.to) return;
		const x0 = Math.max(w.x(spans.start[i]), -10), x1 = Math.min(w.x(spans.end[i]), w.width + 10);
		c.strokeStyle = palette.fg;
		c.lineWidth = 2;
		c.strokeRect(x0 - (x1 - x0 < 8 ? 6 : 1), y - 1, Math.max(x1 - x0 + 1, 12), h + 2);
		c.lineWidth = 1;
	}

	// One line of pixels for each row that is to be seen, stretched to its height afterwards: far
	// cheaper than as many rectangles.
	const lines = document.createElement("canvas");
	let image = null, pixels = null;

	function drawStrips(seen) {
		if (!seen.length) return;
		if (!image || image.width !== canvas.width || image.height < seen.length) {
			lines.width = canvas.width;
			lines.height = seen.length + 8;
			image = new ImageData(lines.width, lines.height);
			pixels = new Uint32Array(image.data.buffer);
		}
		const width = image.width;
		pixels.fill(0);
		const scans = seen.map(({strip}, k) => strip.kind === MARKS ? null
			: scanRanges(strip, pixels.subarray(k * width, (k + 1) * width)));
		lines.getContext("2d").putImageData(image, 0, 0);
		c.imageSmoothingEnabled = false;
		seen.forEach(({strip, y, height}, k) => {
			if (scans[k]) {
				c.drawImage(lines, 0, k, width, 1, 0, y, w.width, height);
				drawRanges(scans[k], y, height);
			} else {
				drawMarks(strip, y, height);
			}
			drawSelection(strip, y, height);
		});
	}

	function drawTitle(item, y) {
		if (item.process) {
			c.fillStyle = palette.panel;
			c.fillRect(0, y, w.width, item.height);
		}
		c.fillStyle = item.process ? palette.fg : palette.muted;
		c.font = (item.process ? "600 " : "") + "12px system-ui, sans-serif";
		c.fillText(item.title, 6, y + item.height / 2 + 0.5);
		c.font = "12px system-ui, sans-serif";
	}

	function drawLosses(height) {
		for (const [from, to] of data.facts.losses) {
			const x0 = w.x(Number(from)), x1 = Math.max(w.x(Number(to)), x0 + 2);
			if (x1 < 0 || x0 > w.width) continue;
			c.globalAlpha = 0.16;
			c.fillStyle = palette.bad;
			c.fillRect(x0, AXIS, x1 - x0, height - AXIS);
			c.globalAlpha = 1;
			c.fillRect(x0, AXIS - 5, x1 - x0, 5);
		}
	}

	function drawAxis(height) {
		const most = Math.max(Math.floor(w.width / 110), 1);
		const raw = (w.to - w.from) / most, power = Math.pow(10, Math.floor(Math.log10(raw)));
		const step = power * [1, 2, 5, 10].find((k) => k * power >= raw);
		c.fillStyle = palette.panel;
		c.fillRect(0, 0, w.width, AXIS);
		for (let k = Math.ceil(w.from / step); k * step <= w.to; k++) {
			const x = Math.round(w.x(k * step));
			c.fillStyle = palette.line;
			c.fillRect(x, AXIS - 6, 1, height);
			c.fillStyle = palette.muted;
			c.fillText(axisText(k * step, step), x + 3, AXIS / 2);
		}
		c.fillStyle = palette.line;
		c.fillRect(0, AXIS - 1, w.width, 1);
	}

	return {
		setDark(dark) { palette = makePalette(dark); },
		palette: () => palette,
		// What of the items is to be seen when so much has been scrolled away.
		draw(view, items, scrolled, height) {
			const scale = canvas.width / view.width;
			w = view;
			c = canvas.getContext("2d", {alpha: false});
			c.setTransform(scale, 0, 0, scale, 0, 0);
			c.font = "12px system-ui, sans-serif";
			c.textBaseline = "middle";
			c.lineWidth = 1;
			c.fillStyle = palette.bg;
			c.fillRect(0, 0, w.width, height);
			drawAxis(height);
			c.save();
			c.beginPath();
			c.rect(0, AXIS, w.width, height - AXIS);
			c.clip();
			const seen = [];
			for (let k = firstItem(items, scrolled + AXIS); k < items.length; k++) {
				const item = items[k], y = item.y - scrolled;
				if (y > height) break;
				if (item.strip) seen.push({strip: item.strip, y: y + 1, height: item.height - 3});
				else drawTitle(item, y);
			}
			drawStrips(seen);
			c.restore();
			drawLosses(height);
		},
	};
}

function axisText(t, step) {
	const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]].find(([s]) => step >= s) || [1, "ns"];
	const value = t / size;
	return Math.abs(value) >= 1e15 ? value.toExponential(3) + " " + unit : grouped(Math.round(value)) + " " + unit;
}

// The first that ends below y.
function firstItem(items, y) {
	let from = 0, to = items.length;
	while (from < to) {
		const middle = from + to >>> 1;
		if (items[middle].y + items[middle].height <= y) from = middle + 1;
		else to = middle;
	}
	return from;
}
