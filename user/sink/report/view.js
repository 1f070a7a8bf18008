// SPDX-License-Identifier: GPL-2.0-only
// The part of the time that is shown, in ns since zero_ns; and where things are, from top to
// bottom: a line for each process and thread, then its rows.

const AXIS = 26, PROCESS = 24, THREAD = 19, ROW = 19, GAP = 6;
const SHORTEST = 20;	// ns in the window

function makeWindow(last) {
	const margin = last * 0.01 + SHORTEST;
	const low = -margin, high = last + margin;
	const w = {
		from: low, to: high, width: 1,
		x: (t) => (t - w.from) / (w.to - w.from) * w.width,
		time: (x) => w.from + x / w.width * (w.to - w.from),
		show(from, to) {
			const length = Math.min(Math.max(to - from, SHORTEST), high - low);
			const middle = (from + to) / 2, edge = length / 20;	// not far beyond both ends
			const first = Math.max(low, -edge), end = Math.min(high, last + edge);
			w.from = Math.max(Math.min(middle - length / 2, end - length), first);
			w.to = w.from + length;
		},
		all: () => w.show(low, high),
		zoom(factor, x) {
			const t = w.time(x), left = x / w.width, length = (w.to - w.from) * factor;
			w.show(t - left * length, t + (1 - left) * length);
		},
		move(part) {
			const by = (w.to - w.from) * part;
			w.show(w.from + by, w.to + by);
		},
		low: low, high: high,
	};
	return w;
}

// In a trace of several hosts a PID can be a number of the trace's own; then the host's is shown.
function processTitle(pid, process, hosts) {
	let title = "PID " + (process && process.host_pid || pid);
	if (process && process.name) title = visible(process.name) + "  " + title;
	if (process && process.rank >= 0) title = "rank " + process.rank + "  " + title;
	if (process && hosts > 1) title += " on " + visible(process.host || "an unknown host");
	return title;
}

function hostsOf(processes) {
	return new Set(processes.map((p) => p.host)).size;
}

function byRank(a, b) {
	const x = a && a.rank >= 0 ? a.rank : Infinity, y = b && b.rank >= 0 ? b.rank : Infinity;
	return x === y ? 0 : x - y;
}

// By rank, then by number.
function layOut(data) {
	const {facts, strips} = data;
	const processes = new Map(facts.processes.map((p) => [p.pid, p]));
	const threads = new Map();
	for (const strip of strips) {
		if (!threads.has(strip.thread)) threads.set(strip.thread, []);
		threads.get(strip.thread).push(strip);
	}
	const pids = new Map();
	for (const thread of threads.keys()) {
		const pid = facts.threads[thread][0];
		if (!pids.has(pid)) pids.set(pid, []);
		pids.get(pid).push(thread);
	}
	const items = [], hosts = hostsOf(facts.processes);
	let y = AXIS;
	const add = (item, height) => {
		items.push(Object.assign(item, {y: y, height: height}));
		y += height;
	};
	for (const pid of [...pids.keys()].sort((a, b) => byRank(processes.get(a), processes.get(b)) || a - b)) {
		add({title: processTitle(pid, processes.get(pid), hosts), process: true}, PROCESS);
		for (const thread of pids.get(pid).sort((a, b) => facts.threads[a][1] - facts.threads[b][1])) {
			const [, tid, name] = facts.threads[thread];
			add({title: "Thread " + tid + (name ? "  " + visible(name) : "")}, THREAD);
			for (const strip of threads.get(thread)) add({strip: strip}, ROW);
			y += GAP;
		}
	}
	return {items: items, height: y + GAP};
}
