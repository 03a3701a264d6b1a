/* What part of the trace is seen, which call is selected, and how both are told. */

const NANOSECONDS = byId("interactive").dataset.unit === "ns";

class View {
	constructor(trace) {
		this.trace = trace;
		this.whole = [0, Math.max(trace.last, 1)];
		[this.from, this.to] = this.whole;
		this.selected = null;
		this.matched = null;
		this.listeners = [];
	}

	listen(listener) {
		this.listeners.push(listener);
	}

	changed(what) {
		for (const listener of this.listeners)
			listener(what);
	}

	get isWhole() {
		return this.from === this.whole[0] && this.to === this.whole[1];
	}

	/* Show from..to, moved into the trace; no narrower than 10 ns. */
	show(from, to) {
		const [least, most] = this.whole;
		const width = Math.min(Math.max(to - from, 10), most - least);
		from = Math.min(Math.max(from, least), most - width);
		this.from = from;
		this.to = from + width;
		this.changed("range");
	}

	zoom(factor, at = (this.from + this.to) / 2) {
		this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	move(part) {
		const by = (this.to - this.from) * part;
		this.show(this.from + by, this.to + by);
	}

	/* Select an item {thread, call} or {thread, mark} or {cpu, loss}, or nothing. */
	select(item) {
		this.selected = item;
		this.changed("selected");
	}

	/* Select and bring into sight. */
	reveal(item) {
		const { start, length } = this.placeOf(item);
		const width = this.to - this.from;
		if (start < this.from || start + length > this.to || length * 200 < width) {
			const room = Math.min(width, Math.max(length * 20, 1000));
			this.show(start + length / 2 - room / 2, start + length / 2 + room / 2);
		}
		this.select(item);
	}

	placeOf({ thread, call, mark, cpu, loss }) {
		if (call !== undefined)
			return { start: thread.calls.start[call], length: thread.calls.length[call] };
		return { start: cpu ? cpu.lostAt[loss] : thread.marks.start[mark], length: 0 };
	}
}

function durationText(time) {
	if (!NANOSECONDS)
		return `${Math.round(time).toLocaleString("en")} ticks`;
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
		if (time >= size)
			return `${(time / size).toFixed(3)} ${unit}`;
	return `${Math.round(time)} ns`;
}

/* The time stamp of a moment as in the kernel's trace file, with nanoseconds. */
function stampText(trace, time) {
	const stamp = trace.first + BigInt(Math.round(time));
	if (!NANOSECONDS)
		return `${stamp}`;
	return `${stamp / 1000000000n}.${String(stamp % 1000000000n).padStart(9, "0")} s`;
}

/* A colour for each name; the same one everywhere. */
const hues = new Map();
function colour(name, faint = false) {
	let hue = hues.get(name);
	if (hue === undefined) {
		let hash = 7;
		for (let i = 0; i < name.length; i++)
			hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
		hue = (hash * 137.508) % 360;
		hues.set(name, hue);
	}
	return faint ? `hsl(${hue} 25% 60% / 0.25)` : `hsl(${hue} 60% 70%)`;
}
