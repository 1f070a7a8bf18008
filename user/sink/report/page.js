// SPDX-License-Identifier: GPL-2.0-only
// Head of the page, what is missing, and how table, timeline and search go together.

function listNotices(data) {
	const f = data.facts, notices = [];
	const add = (how, ...text) => notices.push(make("li", {class: "notice " + how}, ...text));
	const sums = new Map();	// kind -> [total, "12 aclprofPop", ...]
	for (const t of f.tallies) {
		const sum = sums.get(t.kind) || {total: 0n, parts: []};
		sums.set(t.kind, sum);
		sum.total += BigInt(t.count);
		const ret = t.ret === undefined ? "" : " returned " + t.ret;
		if (t.func) sum.parts.push(grouped(t.count) + " " + t.func + ret);
	}
	const tell = (kind, how, one, many, then) => {
		const sum = sums.get(kind);
		if (!sum) return;
		const total = sum.total.toString();
		add(how, counted(total, one, many) + (sum.parts.length ? ": " + sum.parts.join(", ") : "") + (then || ""));
	};
	const why = {truncated: "incomplete: its recording crashed", running: "incomplete: its recording goes on",
		damaged: "damaged: only what stands before the damage was read"}[f.cut];
	// Else it was one of those that were merged.
	if (!f.complete)
		add("bad", "The capture is " + (why || "incomplete") + ". It reaches to " + moment(BigInt(f.last_ns)) + ".");
	for (const source of f.sources)
		if (source.ended)
			add("bad", "Capture " + source.number + " of those that were merged was " + visible(source.ended) + ": ", named(source.name));
	tell("loss", "bad", "call lost", "calls lost", "; ranges that they could have changed are uncertain");
	tell("limit", "bad", "call beyond a limit", "calls beyond a limit");
	tell("lost_return", "bad", "lost return record", "lost return records");
	tell("lost_process", "bad", "process record lost", "process records lost");
	tell("lost_start", "bad", "end whose begin was lost", "ends whose begin was lost");
	tell("unreadable", "bad", "unreadable message", "unreadable messages");
	tell("mismatch", "bad", "call unaccounted for (an error of acltap)", "calls unaccounted for (an error of acltap)");
	tell("bad", "bad", "record not understood", "records not understood");
	tell("late", "bad", "record out of order (an error of acltap)", "records out of order (an error of acltap)");
	tell("orphan", "warn", "orphan (an end without a begin)", "orphans (ends without a begin)");
	tell("failed", "warn", "failed call", "failed calls");
	tell("cut", "warn", "message cut to 255 bytes", "messages cut to 255 bytes");
	for (const t of f.tallies)
		if (t.kind === "null_stamp")
			add("warn", counted(t.count, "create_stamp call", "create_stamp calls") +
				" returned NULL: msproftx is off in PID " + t.pid + ". Start it with 'msprof --msproftx=on'.");
	if (Number(f.statuses[UNCERTAIN]))
		add("bad", counted(f.statuses[UNCERTAIN], "uncertain range or mark", "uncertain ranges and marks") + ": records were lost that they depend on.");
	const rest = [1, 2, 3].filter((s) => Number(f.statuses[s])).map((s) => grouped(f.statuses[s]) + " " + STATUSES[s]);
	if (rest.length) add("warn", "Ranges that are not complete: " + rest.join(", ") + ". They are in the timeline and counted, but have no part in durations.");
	if (!notices.length) add("good", "Nothing was lost, everything is complete.");
	if (f.filtered) add("info", "A filter left out " + counted(f.filtered, "range or mark", "ranges and marks") +
		": neither timeline nor statistics have them. Losses and failures are those of the whole capture.");
	tell("call", "info", "call only counted", "calls only counted");
	listLimits(data, add);
	get("notices").replaceChildren(...notices);
}

// What this page itself leaves out.
function listLimits(data, add) {
	const f = data.facts, out = Number(f.left_out), threads = Number(f.left_out_threads);
	if (out) {
		const odd = Number(f.left_out_not_complete);
		add("warn", "The timeline shows " + grouped(f.shown) + " of " + grouped(f.shown + out + threads) +
			" ranges and marks. Left out are the shortest: " +
			(odd ? grouped(odd) + " that are not complete, and all others" : "none of them") +
			(odd ? " up to " : " is longer than ") + duration(Number(f.left_out_longest_ns)) +
			". The statistics count all.");
	}
	if (threads) add("warn", counted(threads, "range or mark is", "ranges and marks are") + " not in the timeline: more than 65,536 threads.");
	if (Number(f.unnamed)) add("warn", counted(f.unnamed, "range or mark has", "ranges and marks have") + " no name in the timeline: too many different ones. The statistics have them.");
	if (Number(f.more_processes)) add("warn", "More than 65,536 processes: the list has only the first.");
	if (Number(f.spans_of_others)) add("warn", "More than 100,000 different names: " + counted(f.spans_of_others, "range or mark is", "ranges and marks are") + " in '(all others)'.");
	if (Number(f.coarse_rows)) add("info", "Too many durations to keep: median and percentiles of " + counted(f.coarse_rows, "row", "rows") + " are within 1 %.");
	if (Number(f.self_incomplete)) add("warn", "Too many ranges were open at once: some self times are too long.");
	if (f.losses_joined) add("info", "Losses at more than 10,000 times: the timeline shows the last ones as one.");
}

function listFacts(data) {
	const f = data.facts, list = get("facts-list");
	const add = (title, ...text) => list.append(make("dt", {}, title), make("dd", {}, ...text));
	const kinds = [["mark", "marks"], ["push/pop", "push/pop"], ["start/end", "start/end"], ["mark_ex", "mark_ex"]];
	const parts = kinds.map(([one, many], k) => Number(f.kinds[k]) ? counted(f.kinds[k], one, many) : "").filter((s) => s);
	const total = f.kinds.reduce((sum, n) => sum + Number(n), 0);
	const first = BigInt(f.first_ns), length = Number(BigInt(f.last_ns) - first);
	const host = f.host ? visible(f.host) : "unknown";
	const names = [...new Set(f.processes.map((p) => visible(p.name)))].filter((name) => name);
	add("Host", host);
	if (f.kernel) add("Kernel", visible(f.kernel));
	add("Recorded by", "acltap" + (f.version ? " " + visible(f.version) : ", version unknown"));
	if (first > 0n) add("Start", moment(first));
	if (length > 0) add("Length", duration(length));
	if (f.aligned) add("Merged", "clocks aligned by " + (f.aligned === "clock" ? "wall clock" : "'" + visible(f.aligned) + "'"));
	add("Events", grouped(total) + (parts.length ? ": " + parts.join(", ") : ""));
	get("headline").textContent = (names.slice(0, 3).join(", ") || "no process") +
		(names.length > 3 ? " and more" : "") + " on " + host + ", " + counted(total, "event", "events");
	document.title = (names[0] || "acltap report") + " - acltap";
}

// A table that can be folded; columns as [title, text of a row], left out where no row has one.
function addList(one, many, list, all, open) {
	const most = 1000;
	const columns = all.filter(([, of]) => list.some(of));
	const row = (p) => make("tr", {}, ...columns.map(([title, of]) => make("td",
		{class: title === "Command" ? "text mono" : "text"}, make("bdi", {}, visible(String(of(p) || ""))))));
	const table = make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": many},
		make("table", {}, make("thead", {}, make("tr", {}, ...columns.map(([t]) => make("th", {scope: "col", class: "text"}, t)))),
			make("tbody", {}, ...list.slice(0, most).map(row))));
	const title = counted(list.length, one, many) + (list.length > most ? ", the first " + grouped(most) : "");
	const details = make("details", {}, make("summary", {}, title), table);
	details.open = open;
	get("processes").append(details);
}

function listProcesses(data) {
	const {sources, processes} = data.facts;
	const list = processes.slice().sort((a, b) => byRank(a, b) || a.pid - b.pid);
	const several = hostsOf(list) > 1, onHost = new Map(list.map((p) => [p.pid, p.host_pid]));
	if (list.length)
		addList("process", "processes", list, [["PID", (p) => p.host_pid || p.pid],
			["PID inside", (p) => p.nspid === p.pid ? 0 : p.nspid], ["Host", (p) => several ? p.host : ""],
			["Rank", (p) => p.rank < 0 ? "" : String(p.rank)],
			["Local rank", (p) => p.local_rank < 0 ? "" : String(p.local_rank)], ["Capture", (p) => p.source],
			["Parent", (p) => onHost.get(p.ppid) || p.ppid], ["Name", (p) => p.name], ["Command", (p) => p.cmdline || p.exe]], list.length <= 5);
	if (sources.length)
		addList("merged capture", "merged captures", sources, [["Capture", (s) => s.number], ["File", (s) => s.name],
			["Host", (s) => s.host], ["Kernel", (s) => s.kernel], ["Recorded by", (s) => s.version && "acltap " + s.version],
			["Clock moved by", (s) => duration(Number(s.shift_ns))], ["Ended", (s) => s.ended]], false);
}

// ---- Search: what is typed restricts the table and marks in the timeline; a name of the table alone.

function connect(data) {
	const rows = data.facts.stats, search = get("search"), found = get("found");
	const timeline = makeTimeline(data, (i) => showSelected(data, i));
	const table = makeTable(rows, choose, data.facts.filtered ? "Nothing passed the filter." : "Nothing was traced.");
	let chosen = null;

	function tell(count, at) {
		get("next").disabled = get("previous").disabled = !count;
		found.textContent = at ? grouped(at) + " of " + grouped(count) : grouped(count) + " in the timeline";
	}

	function mark(row) {
		chosen = row;
		table.mark(row);
		showHistogram(row);
	}

	function typed() {
		const part = search.value.toLowerCase();
		const fits = (name) => name.toLowerCase().includes(part);
		const shown = table.restrict(part ? fits : () => true);
		if (chosen) mark(null);
		if (!part) {
			timeline.find(null);
			tell(0);
			found.textContent = "";
			return;
		}
		const numbers = [];
		data.names.forEach((name, i) => fits(name) && numbers.push(i));
		tell(timeline.find(numbers));
		found.textContent = counted(shown, "row", "rows") + ", " + found.textContent;
	}

	// A name is found in the timeline: the first one of it, the longest way to see them all.
	function choose(row) {
		if (row === chosen) {
			mark(null);
			typed();
			return;
		}
		mark(row);
		const number = data.numberOf.get(row[LABEL]);
		const count = timeline.find(number === undefined ? [] : [number], row[STYLE]);
		timeline.select(-1);
		tell(count, count ? timeline.next(1) : 0);
	}

	function go(along) {
		const at = timeline.next(along);
		if (at) tell(timeline.look.found[data.spans.n], at);
	}

	search.addEventListener("input", typed);
	search.addEventListener("keydown", (e) => {
		if (e.key === "Enter") go(e.shiftKey ? -1 : 1);
		if (e.key === "Escape") {
			search.value = "";
			typed();
		}
	});
	get("next").addEventListener("click", () => go(1));
	get("previous").addEventListener("click", () => go(-1));
	return {timeline: timeline, table: table};
}

const data = readData();
listNotices(data);
listFacts(data);
listProcesses(data);
// For the browser's console and for tests.
window.report = Object.assign(connect(data), {data: data});
document.documentElement.setAttribute("data-ready", "");
