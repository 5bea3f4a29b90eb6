// Drawings of the pages about time, for charts.mjs, which hands them the tools they share.

// Row: a day, then hot, warm and archive (or a dash where nobody counted). Hot and warm stand on each other; the archive,
// often a thousand times as large, has a scale of its own.
function stack(canvas, { tint, scale, rowsOf, number }) {
  const rows = rowsOf(canvas.dataset.table);
  const counted = (cell) => (/\d/.test(cell.textContent) ? number(cell) : null);
  const column = (at) => rows.map((row) => counted(row.cells[at]));
  if (!column(1).some((value) => value !== null)) return null;
  const area = { stack: "all", fill: true, pointRadius: 0, pointHitRadius: 10, borderWidth: 1.25, tension: 0, spanGaps: true };
  const filled = (label, at, tone) => ({
    ...area,
    label,
    data: column(at),
    borderColor: tint(tone),
    backgroundColor: tint(tone, 0.35),
    yAxisID: "y",
    order: 2,
  });
  const line = { pointRadius: 0, pointHitRadius: 10, borderWidth: 1.5, borderDash: [4, 3], spanGaps: true, order: 1 };
  return {
    type: "line",
    data: {
      labels: rows.map((row) => row.cells[0].textContent.trim()),
      datasets: [
        filled("hot", 1, "accent-fill"),
        filled("warm", 2, "mute-fill"),
        { ...line, label: "archive", data: column(3), borderColor: tint("text"), yAxisID: "archive" },
      ],
    },
    options: {
      interaction: { mode: "index", intersect: false },
      scales: {
        x: scale({ grid: { display: false }, ticks: { padding: 6, maxTicksLimit: 7, maxRotation: 0 } }),
        y: scale({ beginAtZero: true, stacked: true, ticks: { maxTicksLimit: 5, padding: 8, precision: 0 } }),
        archive: scale({
          position: "right",
          beginAtZero: true,
          grid: { display: false },
          ticks: { maxTicksLimit: 5, padding: 8, precision: 0 },
        }),
      },
    },
  };
}

const TONES = { ink: "text", mute: "text-3", ok: "ok-fill", warn: "warn-fill", accent: "accent-fill" };

// Row: a step (a number, unless the canvas has data-steps), then a value for each column; <th> of a column: data-tone, and
// data-in-force for what is drawn dashed.
function curves(canvas, { tint, scale, rowsOf, number }) {
  const rows = rowsOf(canvas.dataset.table);
  const heads = [...document.getElementById(canvas.dataset.table).tHead.rows[0].cells].slice(1);
  const steps = "steps" in canvas.dataset;
  const x = rows.map((row, at) => (steps ? at : number(row.cells[0])));
  const names = rows.map((row) => row.cells[0].textContent.trim());
  const datasets = heads.map((head, at) => ({
    label: head.textContent.trim(),
    data: rows.map((row, place) => ({ x: x[place], y: number(row.cells[at + 1]) })),
    borderColor: tint(TONES[head.dataset.tone] ?? "text"),
    backgroundColor: tint(TONES[head.dataset.tone] ?? "text"),
    borderDash: "inForce" in head.dataset ? [4, 3] : [],
    borderWidth: "inForce" in head.dataset ? 1.25 : 1.75,
    pointRadius: steps ? 3 : 0,
    pointHitRadius: 8,
    order: "inForce" in head.dataset ? 2 : 1,
  }));
  const most = Math.max(1, ...datasets.flatMap(({ data }) => data.map((point) => point.y)));
  return {
    type: "line",
    data: { datasets },
    options: {
      interaction: { mode: "index", intersect: false },
      plugins: {
        tooltip: {
          callbacks: {
            title: ([{ dataIndex }]) => names[dataIndex],
            label: ({ dataset, raw }) => `${dataset.label}: ${raw.y.toFixed(3)}`,
          },
        },
      },
      scales: {
        x: scale({
          type: "linear",
          min: 0,
          max: x.at(-1),
          grid: { display: false },
          ticks: { padding: 6, maxTicksLimit: 8, maxRotation: 0, precision: 0 },
        }),
        y: scale({ min: 0, max: most <= 1 ? 1 : undefined, ticks: { maxTicksLimit: 6, padding: 8 } }),
      },
    },
  };
}

Object.assign((window.drawings ??= {}), { stack, curves });
