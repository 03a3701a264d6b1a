/* The timeline: a canvas as high as its box; only what is in sight is drawn. */

const ROW = 18, AXIS = 22, GAP = 6, NARROW = 1, LABEL = 54;
const INK = "#14171c";

class Timeline {
	constructor(view) {
		this.view = view;
		this.box = byId("timeline");
		this.canvas = this.box.querySelector("canvas");
		this.open = new Set();
		this.layOut();
		view.listen(what => {
			if (what === "selected")
				this.scrollTo(view.selected);
			this.redraw();
		});
		this.box.addEventListener("scroll", () => this.redraw());
		new ResizeObserver(() => this.redraw()).observe(this.box);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
		this.listenToPointer();
		this.box.addEventListener("keydown", event => this.key(event));
	}

	/* One row for what runs on a CPU, with the calls below if it is open; the rows of each thread. */
	layOut() {
		const { cpus, threads } = this.view.trace;
		this.tracks = [];
		let top = AXIS;
		const add = (track, rows) => {
			this.tracks.push({ ...track, top, rows, bottom: top + ROW * rows });
			top += ROW * rows + GAP;
		};
		for (const cpu of cpus) {
			const deepest = Math.max(0, ...Array.from(new Set(cpu.thread), i => threads[i].lanes.length));
			add({ cpu, label: `CPU ${cpu.number}` }, this.open.has(cpu) ? 1 + deepest : 1);
		}
		for (const thread of threads) {
			const marks = thread.marks.start.length ? 1 : 0;
			if (marks || thread.lanes.length)
				add({ thread, marks, label: thread.name }, 1 + marks + thread.lanes.length);
		}
		this.height = top;
		byId("tracks").style.height = `${top}px`;
		this.box.style.height = `min(60vh, ${top + 2}px)`;
		byId("labels").replaceChildren(...this.tracks.map(track => this.label(track)));
	}

	label(track) {
		const made = document.createElement("button");
		made.type = "button";
		made.style.top = `${track.top - (track.cpu ? 0 : 1)}px`;
		made.textContent = track.label;
		if (track.cpu) {
			made.setAttribute("aria-expanded", this.open.has(track.cpu));
			made.addEventListener("click", () => {
				if (!this.open.delete(track.cpu))
					this.open.add(track.cpu);
				this.layOut();
				this.redraw();
			});
		}
		return made;
	}

	redraw() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			this.draw();
		});
	}

	draw() {
		const { box, canvas, view } = this;
		const ratio = devicePixelRatio || 1;
		const [width, height] = [box.clientWidth, box.clientHeight];
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.height = `${height}px`;
		}
		this.width = width;
		this.scale = width / (view.to - view.from);
		const style = getComputedStyle(document.documentElement);
		this.ink = style.getPropertyValue("--text");
		this.line = style.getPropertyValue("--line");
		this.fail = style.getPropertyValue("--fail");
		this.paper = style.getPropertyValue("--page");
		const on = this.on = canvas.getContext("2d");
		on.setTransform(ratio, 0, 0, ratio, 0, 0);
		on.clearRect(0, 0, width, height);
		on.font = "11px ui-monospace, monospace";
		on.textBaseline = "middle";
		const top = box.scrollTop;
		for (const track of this.tracks)
			if (track.bottom > top && track.top < top + height)
				this.drawTrack(track, track.top - top);
		this.drawAxis();
	}

	x(time) {
		return (time - this.view.from) * this.scale;
	}

	drawTrack(track, y) {
		this.on.fillStyle = this.line;
		this.on.fillRect(0, y - GAP / 2, this.width, 1);
		if (track.cpu) {
			this.drawCpu(track, y);
			return;
		}
		const { thread } = track;
		if (track.marks)
			this.drawMarks(thread, y + ROW);
		thread.lanes.forEach((_, depth) => {
			const row = y + ROW * (1 + track.marks + depth);
			this.drawLane(thread, depth, row, this.view.from, this.view.to);
		});
	}

	drawCpu({ cpu, rows }, y) {
		const { from, to, trace } = this.view;
		let at = firstWhere(cpu.since.length, i => cpu.until[i] > from);
		while (at < cpu.since.length && cpu.since[at] < to) {
			const thread = trace.threads[cpu.thread[at]];
			const [left, right] = [Math.max(this.x(cpu.since[at]), 0), Math.min(this.x(cpu.until[at]), this.width)];
			this.rectangle(left, right, y, thread.name, false);
			const narrow = right - left < NARROW;
			if (!narrow && rows > 1) {
				const [since, until] = [Math.max(cpu.since[at], from), Math.min(cpu.until[at], to)];
				thread.lanes.forEach((_, depth) =>
					this.drawLane(thread, depth, y + ROW * (1 + depth), since, until));
			}
			const next = from + (Math.floor(left) + 1) / this.scale;
			at = narrow ? firstWhere(cpu.since.length, i => cpu.until[i] > next, at + 1) : at + 1;
		}
		this.on.fillStyle = this.fail;
		for (let i = firstWhere(cpu.lostAt.length, j => cpu.lostAt[j] >= from); i < cpu.lostAt.length; i++) {
			if (cpu.lostAt[i] > to)
				break;
			this.on.fillRect(this.x(cpu.lostAt[i]) - 1.5, y - 2, 3, ROW * rows + 2);
		}
	}

	/* The calls of one depth between two times, each cut to them. */
	drawLane(thread, depth, y, since, until) {
		const lane = thread.lanes[depth], { calls } = thread, { names } = this.view.trace;
		let at = firstWhere(lane.length, i => calls.end[lane[i]] > since);
		while (at < lane.length) {
			const call = lane[at];
			if (calls.start[call] >= until)
				break;
			const left = this.x(Math.max(calls.start[call], since));
			const right = this.x(Math.min(calls.end[call], until));
			this.rectangle(left, right, y, names[calls.name[call]], this.isSelected(thread, call),
				calls.name[call], calls.kind[call]);
			/* Nothing else is to be seen in this column. */
			const next = this.view.from + (Math.floor(left) + 1) / this.scale;
			at = right - left < NARROW ? firstWhere(lane.length, i => calls.end[lane[i]] > next, at + 1) : at + 1;
		}
	}

	isSelected(thread, call) {
		const selected = this.view.selected;
		return selected?.thread === thread && selected.call === call;
	}

	rectangle(left, right, y, name, selected, number = -1, kind = WHOLE) {
		const { on, view } = this;
		const wide = right - left;
		const faint = view.matched !== null && number >= 0 && !view.matched[number];
		on.fillStyle = colour(name, faint);
		on.fillRect(left, y, Math.max(wide - (wide > 3 ? 0.5 : 0), NARROW), ROW - 1);
		if (kind !== WHOLE && wide > 3) {
			/* An open end. */
			on.fillStyle = this.fail;
			on.fillRect(kind === UNFINISHED ? right - 2 : left, y, 2, ROW - 1);
		}
		if (selected) {
			on.strokeStyle = this.ink;
			on.lineWidth = 2;
			on.strokeRect(left, y, Math.max(wide, 2), ROW - 2);
		}
		if (wide > 24) {
			on.fillStyle = faint ? this.ink : INK;
			const begin = Math.max(left, number < 0 ? LABEL : 0) + 3;
			on.fillText(name.slice(0, Math.max(0, Math.floor((right - begin - 3) / 6.7))), begin, y + ROW / 2);
		}
	}

	drawMarks(thread, y) {
		const { marks } = thread, { from, to, trace, matched, selected } = this.view;
		let at = firstWhere(marks.start.length, i => marks.start[i] >= from);
		while (at < marks.start.length && marks.start[at] <= to) {
			const x = this.x(marks.start[at]);
			const number = marks.name[at], name = trace.names[number];
			const faint = matched !== null && !matched[number] && !matched[marks.text[at]];
			const chosen = selected?.thread === thread && selected.mark === at;
			this.on.fillStyle = chosen ? this.ink : colour(name, faint);
			this.on.fillRect(x, y, chosen ? 4 : 2, ROW - 1);
			const next = at + 1 < marks.start.length ? this.x(marks.start[at + 1]) : this.width;
			if (next - x > 30) {
				this.on.fillStyle = this.ink;
				this.on.fillText(name.slice(0, Math.floor((next - x - 6) / 6.7)), x + 4, y + ROW / 2);
			}
			const beyond = this.view.from + (Math.floor(x) + 1) / this.scale;
			at = next - x < 1 ? firstWhere(marks.start.length, i => marks.start[i] >= beyond, at + 1) : at + 1;
		}
	}

	drawAxis() {
		const { on, view, width } = this;
		on.fillStyle = this.paper;
		on.fillRect(0, 0, width, AXIS - 3);
		const rough = (view.to - view.from) / Math.max(width / 110, 1);
		const power = 10 ** Math.floor(Math.log10(rough));
		const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
		on.fillStyle = this.ink;
		for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
			const x = this.x(time);
			on.fillRect(x, 0, 1, 5);
			on.fillText(durationText(time), x + 3, 10);
		}
		on.fillStyle = this.fail;
		for (const x of view.matchColumns?.(this.scale) ?? [])
			on.fillRect(x, AXIS - 6, 1, 3);
	}

	/* What lies at a point of the box, or null. */
	itemAt(x, y) {
		const time = this.view.from + x / this.scale;
		const below = y + this.box.scrollTop;
		const track = this.tracks.find(one => below >= one.top && below < one.bottom);
		if (!track || y < AXIS)
			return null;
		const row = Math.floor((below - track.top) / ROW);
		const near = 3 / this.scale;
		if (track.cpu) {
			const { cpu } = track;
			const loss = firstWhere(cpu.lostAt.length, i => cpu.lostAt[i] >= time - near);
			if (loss < cpu.lostAt.length && cpu.lostAt[loss] <= time + near)
				return { cpu, loss };
			const at = firstWhere(cpu.since.length, i => cpu.until[i] > time);
			if (row === 0 || at === cpu.since.length || cpu.since[at] > time)
				return null;
			return this.callAt(this.view.trace.threads[cpu.thread[at]], row - 1, time);
		}
		const { thread } = track;
		if (track.marks && row === 1) {
			const { start } = thread.marks;
			const at = firstWhere(start.length, i => start[i] >= time - near);
			return at < start.length && start[at] <= time + near ? { thread, mark: at } : null;
		}
		return this.callAt(thread, row - 1 - track.marks, time);
	}

	callAt(thread, depth, time) {
		const lane = thread.lanes[depth], { calls } = thread;
		if (!lane)
			return null;
		const near = 1 / this.scale;
		const at = firstWhere(lane.length, i => calls.end[lane[i]] >= time - near);
		return at < lane.length && calls.start[lane[at]] <= time + near ? { thread, call: lane[at] } : null;
	}

	scrollTo(item) {
		const track = item && this.tracks.find(one => item.cpu ? one.cpu === item.cpu : one.thread === item.thread);
		if (!track)
			return;
		const row = item.call === undefined ? 1 : 1 + track.marks + item.thread.calls.depth[item.call];
		const y = track.top + ROW * row;
		if (y < this.box.scrollTop + AXIS || y + ROW > this.box.scrollTop + this.box.clientHeight)
			this.box.scrollTop = y - this.box.clientHeight / 2;
	}

	key(event) {
		const { view } = this;
		const actions = {
			ArrowLeft: () => view.move(-0.2), ArrowRight: () => view.move(0.2),
			a: () => view.move(-0.2), d: () => view.move(0.2),
			"+": () => view.zoom(0.5), "=": () => view.zoom(0.5), w: () => view.zoom(0.5),
			"-": () => view.zoom(2), s: () => view.zoom(2),
			0: () => view.show(...view.whole), Home: () => view.show(...view.whole),
			Escape: () => view.select(null),
		};
		if (actions[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
			actions[event.key]();
			event.preventDefault();
		}
	}

	/* Drag, click, two fingers, and the wheel with Ctrl. */
	listenToPointer() {
		const { canvas, view } = this;
		const fingers = new Map();
		let moved = 0;
		canvas.addEventListener("wheel", event => {
			if (!event.ctrlKey && !event.shiftKey && !event.deltaX)
				return;
			event.preventDefault();
			if (event.ctrlKey)
				view.zoom(1.0015 ** event.deltaY, view.from + event.offsetX / this.scale);
			else
				view.move((event.deltaX || event.deltaY) / this.width);
		}, { passive: false });
		canvas.addEventListener("pointerdown", event => {
			if (fingers.size === 0)
				moved = 0;
			fingers.set(event.pointerId, event.offsetX);
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", event => {
			const before = fingers.get(event.pointerId);
			if (before === undefined)
				return;
			moved += Math.abs(event.offsetX - before);
			if (fingers.size === 1) {
				view.move((before - event.offsetX) / this.width);
			} else {
				const [id, other] = [...fingers].find(([key]) => key !== event.pointerId) ?? [];
				const apart = Math.abs(event.offsetX - other);
				if (id !== undefined && apart > 5)
					view.zoom(Math.abs(before - other) / apart, view.from + (event.offsetX + other) / 2 / this.scale);
			}
			fingers.set(event.pointerId, event.offsetX);
		});
		canvas.addEventListener("pointerup", event => {
			if (fingers.delete(event.pointerId) && fingers.size === 0 && moved < 4)
				view.select(this.itemAt(event.offsetX, event.offsetY));
		});
		canvas.addEventListener("pointercancel", event => fingers.delete(event.pointerId));
		canvas.addEventListener("dblclick", event => {
			const item = this.itemAt(event.offsetX, event.offsetY);
			if (item?.call !== undefined) {
				const { start, length } = view.placeOf(item);
				view.show(start - length * 0.05, start + length * 1.05);
			}
		});
	}
}
