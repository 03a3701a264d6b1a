/* Search by name: a text that the name contains, or a glob with * and ?. */

class Search {
	constructor(view) {
		this.view = view;
		this.form = byId("search");
		this.input = this.form.querySelector("input");
		this.output = this.form.querySelector("output");
		this.pattern = null;
		this.items = { time: new Float64Array(0) };
		view.matchColumns = scale => this.columns(scale);
		this.input.addEventListener("input", () => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => this.run(), 150);
		});
		this.input.addEventListener("keydown", event => {
			if (event.key !== "Enter")
				return;
			event.preventDefault();
			this.run();
			this.go(event.shiftKey ? -1 : 1);
		});
		this.form.addEventListener("submit", event => event.preventDefault());
		for (const button of this.form.querySelectorAll("button"))
			button.addEventListener("click", () => this.go(Number(button.dataset.go)));
	}

	find(name) {
		this.input.value = name;
		this.run();
	}

	run() {
		clearTimeout(this.timer);
		const text = this.input.value.trim();
		if (text === this.last)
			return;
		this.last = text;
		this.pattern = text ? matcher(text) : null;
		const { view } = this;
		view.matched = this.pattern && Uint8Array.from(view.trace.names, this.pattern);
		this.items = this.pattern ? this.collect() : { time: new Float64Array(0) };
		this.at = -1;
		this.tell();
		view.changed("search");
	}

	/* All matching calls and events in order of time. */
	collect() {
		const { trace, matched } = this.view;
		const found = [];
		for (const thread of trace.threads) {
			const { calls, marks } = thread;
			for (const call of thread.order)
				if (matched[calls.name[call]])
					found.push({ thread, call, time: calls.start[call] });
			for (let mark = 0; mark < marks.start.length; mark++)
				if (matched[marks.name[mark]] || matched[marks.text[mark]])
					found.push({ thread, mark, time: marks.start[mark] });
		}
		found.sort((a, b) => a.time - b.time);
		return { list: found, time: Float64Array.from(found, one => one.time) };
	}

	go(by) {
		const { list, time } = this.items;
		if (!time.length)
			return;
		if (this.at < 0) {
			const next = firstWhere(time.length, i => time[i] >= this.view.from);
			this.at = by > 0 ? next % time.length : (next + time.length - 1) % time.length;
		} else {
			this.at = (this.at + by + time.length) % time.length;
		}
		const { thread, call, mark } = list[this.at];
		this.view.reveal(call === undefined ? { thread, mark } : { thread, call });
		this.tell();
	}

	tell() {
		const count = this.items.time.length.toLocaleString("en");
		const place = this.at >= 0 ? `${(this.at + 1).toLocaleString("en")} of ` : "";
		this.output.textContent = this.pattern ? `${place}${count} ${count === "1" ? "match" : "matches"}` : "";
	}

	/* The columns of the timeline in which something matches. */
	*columns(scale) {
		const { time } = this.items, { from, to } = this.view;
		let at = firstWhere(time.length, i => time[i] >= from);
		while (at < time.length && time[at] <= to) {
			const x = Math.floor((time[at] - from) * scale);
			yield x;
			at = firstWhere(time.length, i => time[i] >= from + (x + 1) / scale, at + 1);
		}
	}
}

function matcher(text) {
	if (/[*?]/.test(text)) {
		const source = text.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
		const whole = new RegExp(`^${source}$`, "i");
		return name => whole.test(name);
	}
	const small = text.toLowerCase();
	return name => name.toLowerCase().includes(small);
}
