// Every chart is drawn from the table beside it, so that each number exists once and the page works without script.
// <canvas data-chart="days" data-table="id of the table">; what a table must carry stands above each drawing. Other files
// add drawings to window.drawings before this one starts; each is handed the canvas and the tools below.
const { Chart } = window;
const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);

// The colour that a token of the sheets has just now, light or dark.
function tint(name, alpha = 1) {
  probe.style.color = `var(--${name})`;
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g);
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

const SLANTED = [
  [-1, 7, 7, -1],
  [-1, 1, 1, -1],
  [5, 7, 7, 5],
];
const LYING = [[0, 3, 6, 3]];

// A pattern besides the colour: contested and discredited differ for those who see no red.
function pattern(colour, strokes) {
  const tile = Object.assign(document.createElement("canvas"), { width: 6, height: 6 });
  const pen = tile.getContext("2d");
  pen.fillStyle = tint(colour);
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = tint("surface", 0.6);
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (const [x, y, toX, toY] of strokes) {
    pen.moveTo(x, y);
    pen.lineTo(toX, toY);
  }
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}

const FILLS = { ok: "ok-fill", mute: "mute-fill", accent: "accent-fill", line: "line-2" };
function paint(tone) {
  if (tone === "warn") return pattern("warn-fill", SLANTED);
  if (tone === "bad") return pattern("bad-fill", LYING);
  return tint(FILLS[tone] ?? "mute-fill");
}

const rowsOf = (id) => [...(document.getElementById(id)?.tBodies ?? [])].flatMap((body) => [...body.rows]);
const nameOf = (row) => row.cells[0].textContent.trim();
const number = (cell) => Number(cell.textContent.replace("\u2212", "-").replace(/[^\d.-]/g, "")) || 0;
const numberOrNothing = (cell) => (/\d/.test(cell.textContent) ? number(cell) : null);

const scale = (more = {}) => ({
  border: { display: false },
  grid: { color: tint("line"), tickLength: 0 },
  ticks: { padding: 8 },
  ...more,
});
const note = (content, more) => ({
  display: true,
  content,
  color: tint("text-3"),
  font: { size: 10, weight: 500 },
  backgroundColor: "transparent",
  padding: 2,
  ...more,
});
const box = (colour, alpha, more) => ({
  type: "box",
  backgroundColor: tint(colour, alpha),
  borderWidth: 0,
  drawTime: "beforeDatasetsDraw",
  ...more,
});
const words = (xValue, yValue, content, tone, more) => ({
  type: "label",
  xValue,
  yValue,
  content,
  color: tint(tone),
  font: { size: 10 },
  position: { x: "start" },
  ...more,
});
const tools = { tint, paint, scale, note, box, words, rowsOf, number };

// Row: a name, then a number; data-tone (ok, warn, bad, mute, accent, line). As a ring.
function ring(canvas) {
  const rows = rowsOf(canvas.dataset.table);
  const data = rows.map((row) => number(row.cells[1]));
  if (!data.some(Boolean)) return null;
  const backgroundColor = rows.map((row) => paint(row.dataset.tone));
  return {
    type: "doughnut",
    data: {
      labels: rows.map(nameOf),
      datasets: [{ data, backgroundColor, borderColor: tint("surface"), borderWidth: 2, hoverOffset: 3 }],
    },
    options: { cutout: "68%", layout: { padding: 4 } },
  };
}

// Row: a name, then a number; data-tone. As lying bars, one for each row.
function bars(canvas) {
  const rows = rowsOf(canvas.dataset.table);
  const data = rows.map((row) => number(row.cells[1]));
  if (!data.some(Boolean)) return null;
  const backgroundColor = rows.map((row) => paint(row.dataset.tone));
  const names = { padding: 8, color: tint("text-2"), font: { size: 12 } };
  return {
    type: "bar",
    data: {
      labels: rows.map(nameOf),
      datasets: [{ data, backgroundColor, borderRadius: 3, barPercentage: 0.72, categoryPercentage: 0.9 }],
    },
    options: {
      indexAxis: "y",
      scales: {
        x: scale({ beginAtZero: true, ticks: { maxTicksLimit: 5, padding: 6, precision: 0 } }),
        y: scale({ grid: { display: false }, ticks: names }),
      },
    },
  };
}

// Columns after the first are series, data-tone on their <th>; rows carry data-from, the lower bound of the bin.
// Canvas: data-review, data-archive.
function histogram(canvas) {
  const { table, review = "0.3", archive = "0.1" } = canvas.dataset;
  const rows = rowsOf(table);
  if (!rows.length) return null;
  const heads = [...document.getElementById(table).tHead.rows[0].cells].slice(1);
  const every = Math.ceil(rows.length / 5);
  const wall = (at, content, tone) => {
    const edge = rows.findIndex((row) => Number(row.dataset.from) >= Number(at) - 1e-9) - 0.5;
    const label = note(content, { color: tint(tone), position: "end", xAdjust: 23 });
    return { type: "line", xMin: edge, xMax: edge, borderColor: tint(tone), borderWidth: 1, borderDash: [4, 3], label };
  };
  const datasets = heads.map((head, at) => ({
    label: head.textContent.trim(),
    data: rows.map((row) => number(row.cells[at + 1])),
    backgroundColor: paint(head.dataset.tone),
    stack: "all",
    barPercentage: 1,
    categoryPercentage: 0.86,
    borderRadius: 2,
  }));
  const fifths = (at) => (at % every ? "" : Number(rows[at].dataset.from).toFixed(1));
  return {
    type: "bar",
    data: { labels: rows.map(nameOf), datasets },
    options: {
      interaction: { mode: "index", intersect: false },
      scales: {
        x: scale({ grid: { display: false }, ticks: { padding: 6, maxRotation: 0, autoSkip: false, callback: fifths } }),
        y: scale({ beginAtZero: true, ticks: { maxTicksLimit: 5, padding: 8, precision: 0 } }),
      },
      plugins: {
        annotation: {
          annotations: { archive: wall(archive, "archive", "bad"), review: wall(review, "review", "warn") },
        },
      },
    },
  };
}

// Row: day, successes, failures, success rate in per cent (or a dash). Failures hang below the line.
function days(canvas) {
  const rows = rowsOf(canvas.dataset.table);
  if (!rows.length) return null;
  const rates = rows.map((row) => numberOrNothing(row.cells[3]));
  const lowest = Math.min(100, ...rates.filter((rate) => rate !== null));
  const floor = Math.max(0, Math.min(60, Math.floor((lowest - 10) / 20) * 20));
  const bar = { type: "bar", stack: "all", borderRadius: 2, categoryPercentage: 0.82, order: 2 };
  const line = { type: "line", borderWidth: 1.5, pointRadius: 0, pointHitRadius: 8, tension: 0.25, spanGaps: true };
  const datasets = [
    { ...line, label: "success rate", data: rates, yAxisID: "rate", borderColor: tint("text"), order: 1 },
    { ...bar, label: "successes", data: rows.map((row) => number(row.cells[1])), backgroundColor: tint("ok-fill", 0.85) },
    { ...bar, label: "failures", data: rows.map((row) => -number(row.cells[2])), backgroundColor: paint("bad") },
  ];
  const label = ({ dataset, raw }) => `${dataset.label}: ${Math.abs(raw)}${dataset.yAxisID ? " %" : ""}`;
  return {
    data: { labels: rows.map(nameOf), datasets },
    options: {
      interaction: { mode: "index", intersect: false },
      plugins: { tooltip: { callbacks: { label } } },
      scales: {
        x: scale({ grid: { display: false }, ticks: { padding: 6, maxTicksLimit: 7, maxRotation: 0 } }),
        y: scale({ ticks: { maxTicksLimit: 6, padding: 8, precision: 0, callback: Math.abs } }),
        rate: scale({
          position: "right",
          min: floor,
          max: 100,
          grid: { display: false },
          ticks: { stepSize: 20, padding: 6, callback: (value) => `${value} %` },
        }),
      },
    },
  };
}

const drawings = { ...window.drawings, ring, bars, histogram, days };
const made = new Map();

function setDefaults() {
  const font = { family: "Inter, system-ui, sans-serif", size: 11 };
  Object.assign(Chart.defaults, { font, color: tint("text-3"), animation: false, maintainAspectRatio: false });
  Chart.defaults.plugins.legend.display = false;
  Object.assign(Chart.defaults.plugins.tooltip, {
    backgroundColor: tint("surface"),
    titleColor: tint("text"),
    bodyColor: tint("text-2"),
    borderColor: tint("line-2"),
    borderWidth: 1,
    padding: 10,
    cornerRadius: 7,
    boxPadding: 4,
    usePointStyle: true,
  });
}

function start(within = document) {
  for (const [canvas, chart] of made) {
    if (canvas.isConnected && !within.contains(canvas)) continue;
    chart.destroy();
    made.delete(canvas);
  }
  setDefaults();
  for (const canvas of within.querySelectorAll("canvas[data-chart]")) {
    const chart = drawings[canvas.dataset.chart]?.(canvas, tools);
    canvas.parentElement.classList.toggle("nothing", !chart);
    if (chart) made.set(canvas, new Chart(canvas, chart));
  }
}

// Sheets and fonts first: a chart measured before them would be drawn for another page.
if (document.readyState !== "complete") {
  await new Promise((done) => addEventListener("load", done, { once: true }));
}
await document.fonts.ready;
start();
addEventListener("themechange", () => start());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => start());
document.addEventListener("tablechange", ({ target }) => start(target));
document.addEventListener("htmx:afterSettle", ({ target }) => start(target.isConnected ? target : document));
