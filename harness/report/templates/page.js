/* The page: what belongs together. */

const MOST_FUNCTIONS = 500;

function element(tag, text, attributes = {}) {
	const made = Object.assign(document.createElement(tag), attributes);
	if (text !== undefined)
		made.textContent = text;
	return made;
}

class Functions {
	constructor(view, search) {
		this.view = view;
		this.search = search;
		this.table = byId("functions");
		this.by = "own";
		for (const head of this.table.querySelectorAll("th"))
			head.addEventListener("click", () => {
				this.by = head.dataset.by;
				this.draw();
			});
		this.table.addEventListener("click", event => {
			if (event.target.classList.contains("name"))
				search.find(event.target.textContent);
		});
	}

	update(totals, timed) {
		this.rows = [...totals.values()];
		this.timed = timed;
		this.draw();
	}

	draw() {
		const value = one => one[this.by];
		const order = this.by === "name"
			? (a, b) => a.name.localeCompare(b.name)
			: (a, b) => value(b) - value(a) || b.calls - a.calls || a.name.localeCompare(b.name);
		const shown = this.rows.sort(order).slice(0, MOST_FUNCTIONS);
		const what = this.view.isWhole ? "of the whole trace" : "of what the timeline shows";
		const some = shown.length < this.rows.length ? `, the first ${shown.length} of ${this.rows.length}` : "";
		byId("functions-what").textContent = what + some;
		this.table.tBodies[0].replaceChildren(...shown.map(one => this.row(one)));
	}

	row(one) {
		const made = element("tr");
		const time = number => NANOSECONDS
			? (number / 1000).toLocaleString("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 })
			: number.toLocaleString("en");
		const numbers = [one.calls.toLocaleString("en"), ...[one.total, one.own].map(n => this.timed ? time(n) : "")];
		made.append(...numbers.map(text => element("td", text, { className: "number" })));
		const name = element("td");
		name.append(element("button", one.name, { type: "button", className: "name" }));
		made.append(name);
		return made;
	}
}

/* What is known of the selected call or event. */
function details(view, search) {
	const { trace, selected } = view;
	const list = element("dl");
	const fact = (name, text) => list.append(element("dt", name), element("dd", text));
	const made = [list];
	if (selected.loss !== undefined) {
		const { cpu, loss } = selected;
		fact("lost", cpu.lost[loss] < 0 ? "an unknown number of events" : `${cpu.lost[loss]} events`);
		fact("on", `CPU ${cpu.number}, before ${stampText(trace, cpu.lostAt[loss])}`);
		return made;
	}
	const { thread, call, mark } = selected;
	const { calls, marks } = thread;
	const start = call === undefined ? marks.start[mark] : calls.start[call];
	const name = trace.names[call === undefined ? marks.name[mark] : calls.name[call]];
	fact(call === undefined ? "event" : "call", name);
	if (call === undefined)
		fact("text", trace.names[marks.text[mark]]);
	fact("thread", thread.name);
	const cpu = trace.cpus.find(one => {
		const at = firstWhere(one.since.length, i => one.until[i] >= start);
		return at < one.since.length && one.since[at] <= start && trace.threads[one.thread[at]] === thread;
	});
	fact("at", stampText(trace, start) + (cpu ? ` on CPU ${cpu.number}` : ""));
	if (call !== undefined) {
		const kind = { [UNFINISHED]: ", its return is not in the trace", [NO_ENTRY]: ", its entry is not in the trace" }[calls.kind[call]] ?? "";
		fact("took", durationText(calls.length[call]) + kind);
		fact("of its own", durationText(Math.max(0, calls.length[call] - calls.inside[call])));
		fact("called by", calls.around[call] < 0 ? "(no traced function)" : trace.names[calls.name[calls.around[call]]]);
	}
	fact("number", `${call === undefined ? marks.number[mark] : calls.number[call]} in the trace`);
	const button = (text, action) => {
		const one = element("button", text, { type: "button" });
		one.addEventListener("click", action);
		made.push(one);
	};
	if (call !== undefined) {
		const { length } = view.placeOf(selected);
		button("zoom to it", () => view.show(start - length * 0.05, start + length * 1.05));
		if (calls.around[call] >= 0)
			button("select its caller", () => view.reveal({ thread, call: calls.around[call] }));
	}
	button("search for it", () => search.find(name));
	return made;
}

async function begin() {
	if (typeof DecompressionStream === "undefined")
		throw new Error("this browser is too old for the timeline: it has no DecompressionStream");
	const trace = await unpack();
	const view = new View(trace);
	const timed = trace.threads.some(thread => thread.calls.count);
	byId("interactive").hidden = false;
	const search = new Search(view);
	const timeline = new Timeline(view);
	const flame = new Flame(view, search);
	const functions = new Functions(view, search);
	let timer;
	const profiled = () => {
		/* Calls may have begun before the first event. */
		const part = view.isWhole ? [-Infinity, Infinity] : [view.from, view.to];
		const { totals, root } = profile(trace, ...part);
		flame.update(root, timed);
		functions.update(totals, timed);
		document.documentElement.dataset.state = "ready";
	};
	const hint = byId("selected").firstElementChild;
	view.listen(what => {
		if (what === "selected")
			byId("selected").replaceChildren(...view.selected ? details(view, search) : [hint]);
		if (what === "search")
			flame.draw();
		if (what !== "range")
			return;
		const width = durationText(view.to - view.from);
		byId("range").textContent = view.isWhole ? width : `${width} of ${durationText(trace.last)}`;
		byId("flame-what").textContent = view.isWhole ? "" : "of what the timeline shows";
		document.documentElement.dataset.state = "busy";
		clearTimeout(timer);
		timer = setTimeout(profiled, 200);
	});
	for (const button of byId("zoom").querySelectorAll("button"))
		button.addEventListener("click", () => button.dataset.zoom === "all"
			? view.show(...view.whole) : view.zoom(Number(button.dataset.zoom)));
	view.show(...view.whole);
	timeline.redraw();
}

begin().catch(error => {
	const fault = byId("fault");
	fault.hidden = false;
	fault.lastElementChild.textContent = error.message;
	document.documentElement.dataset.state = "failed";
});
