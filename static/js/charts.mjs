// Every chart is drawn from the table beside it, so that each number exists once and the page works without script.
// <canvas data-chart="timeline" data-table="id of the table" ...>; what each table must carry stands above each drawing.
const { Chart } = window;
const HOUR = 36e5, DAY = 864e5;
const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);
const tint = (name, alpha = 1) => {
  probe.style.color = `var(--${name})`;
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g);
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
};
const fills = { ok: "ok-fill", warn: "warn-fill", bad: "bad-fill", mute: "mute-fill", accent: "accent-fill", line: "line-2" };
const format = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const asDay = format({ day: "numeric", month: "short" }), asHour = format({ hour: "2-digit", minute: "2-digit" });
const asMonth = format({ month: "short", year: "numeric" }), asFull = format({ day: "numeric", month: "short", year: "numeric" });
// Sept is en-GB's word; the pages say Sep.
const short = (words) => words.replace("Sept", "Sep");

// A pattern besides the colour: contested and discredited differ for those who see no red.
function pattern(tone, slanted) {
  const tile = Object.assign(document.createElement("canvas"), { width: 6, height: 6 }), pen = tile.getContext("2d");
  pen.fillStyle = tint(fills[tone]);
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = tint("surface", 0.6);
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (const [x, y, toX, toY] of slanted ? [[-1, 7, 7, -1], [-1, 1, 1, -1], [5, 7, 7, 5]] : [[0, 3, 6, 3]]) { pen.moveTo(x, y); pen.lineTo(toX, toY); }
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}
const paint = (tone) => (tone === "warn" ? pattern(tone, true) : tone === "bad" ? pattern(tone, false) : tint(fills[tone] ?? "mute-fill"));

const rowsOf = (id) => [...(document.getElementById(id)?.tBodies ?? [])].flatMap((body) => [...body.rows]);
const number = (cell) => Number(cell.textContent.replace("\u2212", "-").replace(/[^\d.-]/g, "")) || 0;
const share = (cell) => (/\d/.test(cell.textContent) ? number(cell) : null);
const scale = (more = {}) => ({ border: { display: false }, grid: { color: tint("line"), tickLength: 0 }, ticks: { padding: 8 }, ...more });
const note = (content, more) => ({ display: true, content, color: tint("text-3"), font: { size: 10, weight: 500 }, backgroundColor: "transparent", padding: 2, ...more });
const box = (colour, alpha, more) => ({ type: "box", backgroundColor: tint(colour, alpha), borderWidth: 0, drawTime: "beforeDatasetsDraw", ...more });
const words = (xValue, yValue, content, tone, more) => ({ type: "label", xValue, yValue, content, color: tint(tone), font: { size: 10 }, position: { x: "start" }, ...more });

// Ticks of a time axis: the smallest step that leaves room for each label, months and years on their first day.
function timeTicks(from, to, width) {
  const most = Math.max(2, Math.floor(width / 76)), span = to - from;
  const step = [HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY].find((size) => span / size <= most);
  const ticks = [];
  if (step) {
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push({ value: at });
    return { ticks, show: step < DAY ? (at) => (at % DAY ? asHour.format(at) : short(asDay.format(at))) : (at) => short(asDay.format(at)) };
  }
  const every = [1, 2, 3, 6, 12, 24, 60, 120].find((months) => span / (30.44 * DAY * months) <= most) ?? 240;
  const start = new Date(from), first = start.getUTCFullYear() * 12 + Math.ceil((start.getUTCMonth() + 1) / every) * every;
  for (let month = first; ; month += every) {
    const at = Date.UTC(Math.floor(month / 12), month % 12, 1);
    if (at > to) break;
    ticks.push({ value: at });
  }
  return { ticks, show: (at) => short((every >= 3 ? asMonth : asDay).format(at)) };
}

const draw = {
  // Rows oldest or newest first: data-t (ISO), data-c (confidence after), data-kind (outcome, claim or other), data-v,
  // data-what, data-before, data-sum, and for outcomes data-ok, data-weight, data-verified (1 or 0).
  // Canvas: data-now, data-forecast (id of a table of rows data-t, data-c, and data-mark where a line is crossed),
  // data-review, data-archive.
  timeline(canvas) {
    const { now: nowText, review = "0.3", archive = "0.1", forecast, table } = canvas.dataset;
    const read = (id) => rowsOf(id).map(({ dataset }) => ({ ...dataset, x: Date.parse(dataset.t), y: Number(dataset.c) })).filter((p) => Number.isFinite(p.x)).sort((a, b) => a.x - b.x || Number(a.v) - Number(b.v));
    const steps = read(table), now = Date.parse(nowText) || Date.now(), ahead = forecast ? read(forecast) : [];
    if (!steps.length) return null;
    const width = canvas.parentElement.clientWidth, narrow = width < 520;
    const first = steps[0].x, end = Math.max(now, ahead.at(-1)?.x ?? now), margin = Math.max((end - first) * 0.025, HOUR);
    const min = first - margin, max = end + (ahead.length ? 0 : margin), perPixel = (max - min) / Math.max(1, width - 60);
    const outcomes = steps.filter((p) => p.kind === "outcome"), smaller = Math.min(1, 60 / Math.max(1, outcomes.length) + (narrow ? 0.3 : 0.45));
    const dots = (good) => {
      const data = outcomes.filter((p) => (p.ok === "1") === good), colour = tint(good ? "ok-fill" : "bad-fill");
      const radius = (more) => data.map((p) => smaller * (more + 2.4 * Math.sqrt(Math.min(Number(p.weight) || 0, 6))));
      return { label: good ? "success" : "failure", data, showLine: false, pointStyle: "triangle", pointRotation: good ? 0 : 180, pointRadius: radius(4), pointHoverRadius: radius(6), pointBackgroundColor: data.map((p) => (p.verified === "1" ? colour : tint("surface"))), pointBorderColor: colour, pointBorderWidth: 1.6, order: 1 };
    };
    let free = -Infinity;
    const claims = steps.filter((p) => p.kind === "claim").map((p, at) => {
      const room = p.x - free > 34 * perPixel;
      if (room) free = p.x;
      const tag = note(`v${p.v}`, { display: room, color: "#fff", backgroundColor: tint("accent-fill"), borderRadius: 4, padding: { x: 5, y: 2 }, position: "end", yAdjust: 2, xAdjust: 15 });
      return [`claim${at}`, { type: "line", xMin: p.x, xMax: p.x, borderColor: tint("accent"), borderWidth: 1.25, label: tag }];
    });
    const others = steps.filter((p) => p.kind === "other");
    const crossings = ahead.filter((p) => p.mark).flatMap((p, at) => {
      const right = p.x > max - 130 * perPixel;
      return [[`cross${at}`, { type: "point", xValue: p.x, yValue: p.y, radius: 4, backgroundColor: tint("surface"), borderColor: tint("warn-fill"), borderWidth: 2 }],
        [`crossT${at}`, words(p.x, p.y, narrow ? [p.mark, short(asDay.format(p.x))] : `${p.mark} ${short(asDay.format(p.x))}`, "warn", { position: right ? { x: "end", y: "start" } : { x: "start", y: "end" }, yAdjust: right ? 6 : -8, font: { size: 11, weight: 600 } })]];
    });
    const axis = timeTicks(min, max, width - 60);
    const line = { borderWidth: steps.length > 150 ? 1 : 1.75, pointRadius: 0, pointHitRadius: 0 };
    return {
      type: "line",
      data: { datasets: [
        { ...line, label: "confidence", data: [...steps, { x: Math.max(now, steps.at(-1).x), y: steps.at(-1).y }], stepped: "before", borderColor: tint("text"), fill: { target: "origin", above: tint("accent", 0.05) }, order: 3 },
        { ...line, label: "forecast", data: ahead, borderColor: tint("text-3"), borderDash: [3, 4], order: 2 },
        dots(true), dots(false),
        { label: "other", data: others, showLine: false, pointStyle: "rectRot", pointRadius: 4, pointHoverRadius: 6, pointBackgroundColor: tint("surface"), pointBorderColor: tint("text-2"), pointBorderWidth: 1.6, order: 1 }] },
      options: {
        layout: { padding: { top: 6, right: 6 } },
        scales: {
          x: scale({ type: "linear", min, max, grid: { display: false }, afterBuildTicks: (built) => { built.ticks = axis.ticks; }, ticks: { callback: axis.show, padding: 8, maxRotation: 0, autoSkip: false } }),
          y: scale({ min: 0, max: 1, ticks: { stepSize: 0.2, padding: 8, callback: (value) => value.toFixed(1) } }),
        },
        interaction: { mode: "nearest", intersect: true },
        plugins: {
          tooltip: { callbacks: {
            title: ([item]) => `v${item.raw.v} · ${item.raw.what} · ${short(asFull.format(item.raw.x))}`,
            label: ({ raw }) => [`${Number(raw.before).toFixed(3)} → ${raw.y.toFixed(3)}`, raw.sum, raw.kind !== "outcome" ? "" : raw.verified === "1" ? "verified outside the agent" : "reported by the agent"].filter(Boolean) } },
          annotation: { annotations: {
            archive: box("bad-fill", 0.14, { yMin: 0, yMax: Number(archive) }), review: box("warn-fill", 0.11, { yMin: Number(archive), yMax: Number(review) }),
            ...(max > now ? { future: box("mute-fill", 0.06, { xMin: now }) } : {}),
            archiveT: words(min, Number(archive) / 2, `${narrow ? "archive" : "archived below"} ${Number(archive).toFixed(2)}`, "bad"),
            reviewT: words(min, Number(review) - 0.045, `${narrow ? "review" : "under review below"} ${Number(review).toFixed(2)}`, "warn"),
            now: { type: "line", xMin: now, xMax: now, borderColor: tint("text-3"), borderWidth: 1, borderDash: [2, 3], label: note("today", { display: max - now > 40 * perPixel, position: "end", xAdjust: 20, yAdjust: 2 }) },
            ...Object.fromEntries([...claims, ...crossings]) } },
        },
      },
    };
  },

  // Row: a name, then a number; data-tone (ok, warn, bad, mute, accent, line). As a ring.
  ring(canvas) {
    const rows = rowsOf(canvas.dataset.table);
    if (!rows.some((row) => number(row.cells[1]))) return null;
    return {
      type: "doughnut",
      data: { labels: rows.map((row) => row.cells[0].textContent.trim()), datasets: [{ data: rows.map((row) => number(row.cells[1])), backgroundColor: rows.map((row) => paint(row.dataset.tone)), borderColor: tint("surface"), borderWidth: 2, hoverOffset: 3 }] },
      options: { cutout: "68%", layout: { padding: 4 } },
    };
  },

  // Row: a name, then a number; data-tone. As lying bars, one for each row.
  bars(canvas) {
    const rows = rowsOf(canvas.dataset.table);
    return {
      type: "bar",
      data: { labels: rows.map((row) => row.cells[0].textContent.trim()), datasets: [{ data: rows.map((row) => number(row.cells[1])), backgroundColor: rows.map((row) => paint(row.dataset.tone)), borderRadius: 3, barPercentage: 0.72, categoryPercentage: 0.9 }] },
      options: { indexAxis: "y", scales: { x: scale({ beginAtZero: true, ticks: { maxTicksLimit: 5, padding: 6, precision: 0 } }), y: scale({ grid: { display: false }, ticks: { padding: 8, color: tint("text-2"), font: { size: 12 } } }) } },
    };
  },

  // Columns after the first are series, data-tone on their <th>; rows carry data-from (lower bound of the bin).
  // Canvas: data-review, data-archive.
  histogram(canvas) {
    const rows = rowsOf(canvas.dataset.table), heads = [...document.getElementById(canvas.dataset.table).tHead.rows[0].cells].slice(1);
    const wall = (at, content, tone) => {
      const edge = rows.findIndex((row) => Number(row.dataset.from) >= at - 1e-9) - 0.5;
      return { type: "line", xMin: edge, xMax: edge, borderColor: tint(tone), borderWidth: 1, borderDash: [4, 3], label: note(content, { color: tint(tone), position: "end", xAdjust: 23 }) };
    };
    const every = Math.ceil(rows.length / 5);
    return {
      type: "bar",
      data: { labels: rows.map((row) => row.cells[0].textContent), datasets: heads.map((head, at) => ({ label: head.textContent.trim(), data: rows.map((row) => number(row.cells[at + 1])), backgroundColor: paint(head.dataset.tone), stack: "all", barPercentage: 1, categoryPercentage: 0.86, borderRadius: 2 })) },
      options: { interaction: { mode: "index", intersect: false }, scales: { x: scale({ grid: { display: false }, ticks: { padding: 6, maxRotation: 0, autoSkip: false, callback: (at) => (at % every ? "" : Number(rows[at].dataset.from).toFixed(1)) } }), y: scale({ beginAtZero: true, ticks: { maxTicksLimit: 5, padding: 8, precision: 0 } }) },
        plugins: { annotation: { annotations: { archive: wall(Number(canvas.dataset.archive ?? 0.1), "archive", "bad"), review: wall(Number(canvas.dataset.review ?? 0.3), "review", "warn") } } } },
    };
  },

  // Row: day, successes, failures, success rate in per cent (or a dash).
  days(canvas) {
    const rows = rowsOf(canvas.dataset.table), rate = rows.map((row) => share(row.cells[3]));
    const lowest = Math.min(...rate.filter((value) => value !== null), 100), floor = Math.max(0, Math.min(60, Math.floor((lowest - 10) / 20) * 20));
    const bars = { stack: "all", borderRadius: 2, categoryPercentage: 0.82, order: 2 };
    return {
      data: { labels: rows.map((row) => row.cells[0].textContent.trim()), datasets: [
        { type: "line", label: "success rate", data: rate, yAxisID: "rate", borderColor: tint("text"), borderWidth: 1.5, pointRadius: 0, pointHitRadius: 8, tension: 0.25, spanGaps: true, order: 1 },
        { ...bars, type: "bar", label: "successes", data: rows.map((row) => number(row.cells[1])), backgroundColor: tint("ok-fill", 0.85) },
        { ...bars, type: "bar", label: "failures", data: rows.map((row) => -number(row.cells[2])), backgroundColor: paint("bad") }] },
      options: { interaction: { mode: "index", intersect: false },
        plugins: { tooltip: { callbacks: { label: ({ dataset, raw }) => `${dataset.label}: ${Math.abs(raw)}${dataset.yAxisID ? " %" : ""}` } } },
        scales: { x: scale({ grid: { display: false }, ticks: { padding: 6, maxTicksLimit: 7, maxRotation: 0 } }), y: scale({ ticks: { maxTicksLimit: 6, padding: 8, precision: 0, callback: (value) => Math.abs(value) } }), rate: scale({ position: "right", min: floor, max: 100, grid: { display: false }, ticks: { stepSize: 20, padding: 6, callback: (value) => `${value} %` } }) } },
    };
  },
};

function defaults() {
  Object.assign(Chart.defaults, { font: { family: "Inter, system-ui, sans-serif", size: 11 }, color: tint("text-3"), animation: false, maintainAspectRatio: false });
  Chart.defaults.plugins.legend.display = false;
  Object.assign(Chart.defaults.plugins.tooltip, { backgroundColor: tint("surface"), titleColor: tint("text"), bodyColor: tint("text-2"), borderColor: tint("line-2"), borderWidth: 1, padding: 10, cornerRadius: 7, boxPadding: 4, usePointStyle: true });
}
const made = new Map();
function start(within = document) {
  for (const [canvas, chart] of made) if (!canvas.isConnected || within.contains(canvas)) { chart.destroy(); made.delete(canvas); }
  defaults();
  for (const canvas of within.querySelectorAll("canvas[data-chart]")) {
    const chart = draw[canvas.dataset.chart]?.(canvas);
    canvas.parentElement.classList.toggle("nothing", !chart);
    if (chart) made.set(canvas, new Chart(canvas, chart));
  }
}
// Sheets and fonts first: a chart measured before them would be drawn for another page.
if (document.readyState !== "complete") await new Promise((done) => { addEventListener("load", done, { once: true }); });
await document.fonts.ready;
start();
addEventListener("themechange", () => start());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => start());
document.addEventListener("htmx:afterSettle", ({ target }) => start(target.isConnected ? target : document));
