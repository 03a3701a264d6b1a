"use strict";
/* The columns of the trace, as harness/report/page.py packs them, and what is derived from them. */

const WHOLE = 0, UNFINISHED = 1, NO_ENTRY = 2;
const TYPES = { d: Float64Array, H: Uint16Array, I: Uint32Array };
const byId = id => document.getElementById(id);

async function unpack() {
	const text = atob(byId("packed").textContent);
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	const buffer = await new Response(stream).arrayBuffer();
	const described = JSON.parse(byId("described").textContent);
	let offset = 0;
	const columns = table => {
		const made = {};
		for (const [name, [type, length]] of Object.entries(table)) {
			made[name] = new TYPES[type](buffer, offset, length);
			offset += Math.ceil(made[name].byteLength / 8) * 8;
		}
		return made;
	};
	const threads = described.threads.map((one, index) => ({
		index, name: one.name, calls: columns(one.calls), marks: columns(one.marks),
	}));
	const cpus = described.cpus.map((one, number) => ({ number, ...columns(one) }));
	threads.forEach(prepareThread);
	for (const cpu of cpus) {
		sum(cpu.since);
		sum(cpu.until);
		sum(cpu.lostAt);
	}
	return { first: BigInt(described.first), last: described.last, names: described.names, threads, cpus };
}

/* Each time is stored less the one before. */
function sum(times) {
	for (let i = 1; i < times.length; i++)
		times[i] += times[i - 1];
}

/*
 * Of the calls of a thread: the end, the call around each (-1: none), the time of the calls in it, and
 * a list for each depth in order of time.
 */
function prepareThread(thread) {
	const { calls, marks } = thread;
	sum(calls.start);
	sum(marks.start);
	const count = calls.start.length;
	calls.count = count;
	calls.end = new Float64Array(count);
	calls.inside = new Float64Array(count);
	calls.around = new Int32Array(count).fill(-1);
	calls.kind = calls.depth.map(depth => depth & 3);
	calls.depth = calls.depth.map(depth => depth >> 2);
	for (let i = 0; i < count; i++)
		calls.end[i] = calls.start[i] + calls.length[i];
	/* Calls whose entry is not in the trace come at their exit. */
	const order = Uint32Array.from(calls.start, (_, i) => i);
	order.sort((a, b) => calls.start[a] - calls.start[b] || calls.depth[a] - calls.depth[b]);
	thread.order = order;
	thread.lanes = [];
	const open = [];
	for (const i of order) {
		const depth = calls.depth[i];
		open[depth] = i;
		open.length = depth + 1;
		const around = depth > 0 ? open[depth - 1] : undefined;
		if (around !== undefined && calls.end[around] > calls.start[i]) {
			calls.around[i] = around;
			calls.inside[around] += calls.length[i];
		}
		(thread.lanes[depth] ??= []).push(i);
	}
	for (let depth = 0; depth < thread.lanes.length; depth++)
		thread.lanes[depth] = Uint32Array.from(thread.lanes[depth] ?? []);
}

/* The first index of count for which above(index) holds, for a predicate that stays true. */
function firstWhere(count, above, from = 0) {
	let low = from, high = count;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (above(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
