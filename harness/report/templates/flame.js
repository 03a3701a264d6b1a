/* The calls in the part of the trace that is seen: totals of functions, and the flame graph. */

const LEVEL = 18, MOST_LEVELS = 60;

/*
 * The totals of each function, and the tree of call paths, both of the time from..to: for the whole
 * trace those of `harness stat` and of the flame view.
 */
function profile(trace, from, to) {
	const totals = new Map();
	const root = { name: "all", own: 0, value: 0, inner: new Map() };
	for (const thread of trace.threads) {
		const top = inner(root, thread.name);
		if (thread.calls.count)
			profileCalls(trace, thread, from, to, totals, top);
		else
			profileMarks(trace, thread, from, to, totals, top);
	}
	addUp(root);
	return { totals, root };
}

function inner(node, name) {
	let found = node.inner.get(name);
	if (!found)
		node.inner.set(name, found = { name, own: 0, value: 0, inner: new Map() });
	return found;
}

function profileCalls(trace, thread, from, to, totals, top) {
	const { calls, order } = thread;
	const nodes = new Map();
	const seen = i => Math.max(0, Math.min(calls.end[i], to) - Math.max(calls.start[i], from));
	for (const i of order) {
		if (calls.start[i] > to)
			break;
		if (calls.end[i] < from)
			continue;
		const name = trace.names[calls.name[i]], time = seen(i), around = calls.around[i];
		const ended = calls.kind[i] !== UNFINISHED, sums = totalsOf(totals, name);
		sums.calls++;
		if (ended) {
			sums.total += recursive(calls, i) ? 0 : time;
			sums.own += time;
		}
		const node = inner(nodes.get(around) ?? top, name);
		node.own += time;
		nodes.set(i, node);
		if (around >= 0) {
			if (calls.kind[around] !== UNFINISHED)
				totalsOf(totals, trace.names[calls.name[around]]).own -= time;
			nodes.get(around).own -= time;
		}
	}
}

/* Whether a call that has ended around this one, and so has its time, is of the same function. */
function recursive(calls, i) {
	for (let around = calls.around[i]; around >= 0; around = calls.around[around])
		if (calls.name[around] === calls.name[i] && calls.kind[around] !== UNFINISHED)
			return true;
	return false;
}

/* Entries alone: the caller and the function, by number of calls. */
function profileMarks(trace, thread, from, to, totals, top) {
	const { marks } = thread;
	for (let i = firstWhere(marks.start.length, j => marks.start[j] >= from); i < marks.start.length; i++) {
		if (marks.start[i] > to)
			break;
		const text = trace.names[marks.text[i]];
		if (!text.startsWith("<-"))
			continue;
		const name = trace.names[marks.name[i]];
		totalsOf(totals, name).calls++;
		inner(inner(top, text.slice(2)), name).own++;
	}
}

function totalsOf(totals, name) {
	let found = totals.get(name);
	if (!found)
		totals.set(name, found = { name, calls: 0, total: 0, own: 0 });
	return found;
}

function addUp(node) {
	node.value = Math.max(0, node.own);
	for (const one of node.inner.values())
		node.value += addUp(one);
	return node.value;
}

class Flame {
	constructor(view, search) {
		this.view = view;
		this.search = search;
		this.box = byId("flame");
		this.path = [];
		/* Its height follows from what is drawn. */
		new ResizeObserver(() => this.box.clientWidth !== this.width && this.draw()).observe(this.box);
	}

	update(root, timed) {
		this.root = root;
		this.text = timed ? durationText : count => `${count.toLocaleString("en")} calls`;
		this.draw();
	}

	/* The path that is shown whole, as far as it is still there. */
	zoomed() {
		const nodes = [this.root];
		for (const name of this.path) {
			const next = nodes.at(-1).inner.get(name);
			if (!next?.value)
				break;
			nodes.push(next);
		}
		return nodes;
	}

	draw() {
		if (!this.root)
			return;
		const nodes = this.zoomed();
		this.width = this.box.clientWidth;
		const least = 0.7 / Math.max(this.width, 1);
		const made = [];
		let deepest = 0;
		const place = (node, path, left, width, level) => {
			if (width < least || level > MOST_LEVELS)
				return;
			deepest = Math.max(deepest, level);
			made.push(this.frame(node, path, left, width, level));
			const next = node === nodes[level] ? nodes[level + 1] : undefined;
			if (next) {
				place(next, [...path, next.name], 0, 1, level + 1);
				return;
			}
			let at = left;
			for (const one of [...node.inner.values()].sort((a, b) => b.value - a.value)) {
				const share = node.value ? one.value / node.value * width : 0;
				place(one, [...path, one.name], at, share, level + 1);
				at += share;
			}
		};
		place(this.root, [], 0, 1, 0);
		this.box.style.height = `${(deepest + 1) * LEVEL}px`;
		this.box.replaceChildren(...made);
	}

	frame(node, path, left, width, level) {
		const made = document.createElement("button");
		made.type = "button";
		made.style.cssText = `left: ${left * 100}%; width: ${width * 100}%; top: ${level * LEVEL}px; background: ${colour(node.name)}`;
		const share = this.root.value ? (node.value / this.root.value * 100).toFixed(1) : "0";
		made.title = `${node.name}: ${this.text(node.value)} (${share} %), of its own ${this.text(Math.max(0, node.own))}`;
		made.setAttribute("aria-label", made.title);
		if (width * this.width > 20)
			made.textContent = node.name;
		if (this.search.pattern)
			made.classList.add(this.search.pattern(node.name) ? "match" : "faint");
		made.dataset.path = path.join(";");
		made.addEventListener("click", () => {
			this.path = path;
			this.draw();
		});
		return made;
	}
}
