// The evidence timeline of an entry: a drawing for charts.mjs, which hands it the tools they share.
//
// Rows of the table, in any order: data-t (ISO), data-c (confidence after), data-kind (outcome, claim or other), data-v,
// data-what, data-before, data-sum; an outcome also has data-ok, data-weight and data-verified (1 or 0).
// Canvas: data-now, data-review, data-archive, and data-forecast, the id of a table whose rows have data-t, data-c and,
// where a line is crossed, data-mark (words). The axis ends where the forecast ends.
const HOUR = 36e5;
const DAY = 864e5;
const MONTH = 30.44 * DAY;
const format = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const formats = {
  hour: format({ hour: "2-digit", minute: "2-digit" }),
  day: format({ day: "numeric", month: "short" }),
  month: format({ month: "short", year: "numeric" }),
  full: format({ day: "numeric", month: "short", year: "numeric" }),
};
// en-GB writes Sept; the pages write Sep.
const say = (name, at) => formats[name].format(at).replace("Sept", "Sep");

function points(rows) {
  const read = ({ dataset }) => ({ ...dataset, x: Date.parse(dataset.t), y: Number(dataset.c) });
  return rows
    .map(read)
    .filter((point) => Number.isFinite(point.x))
    .sort((a, b) => a.x - b.x || Number(a.v) - Number(b.v));
}

// Ticks by the smallest step that leaves room for each label; months and years on their first day.
function timeTicks(from, to, width) {
  const most = Math.max(2, Math.floor(width / 76));
  const fits = (step) => (to - from) / step <= most;
  const step = [HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY].find(fits);
  const ticks = [];
  if (step) {
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push({ value: at });
    return { ticks, show: (at) => say(at % DAY ? "hour" : "day", at) };
  }
  const every = [1, 2, 3, 6, 12, 24, 60, 120].find((months) => fits(months * MONTH)) ?? 240;
  const start = new Date(from);
  let month = start.getUTCFullYear() * 12 + Math.ceil((start.getUTCMonth() + 1) / every) * every;
  for (let at; (at = Date.UTC(Math.floor(month / 12), month % 12, 1)) <= to; month += every) ticks.push({ value: at });
  return { ticks, show: (at) => say(every >= 3 ? "month" : "day", at) };
}

// Outcomes as triangles, up or down, the larger the heavier; filled when somebody outside the agent verified them.
function triangles(outcomes, good, { tint }, narrow) {
  const data = outcomes.filter((point) => (point.ok === "1") === good);
  const colour = tint(good ? "ok-fill" : "bad-fill");
  // Five hundred of them must still leave the line visible.
  const size = Math.min(1, 60 / Math.max(1, outcomes.length) + (narrow ? 0.3 : 0.45));
  const radius = (least) => data.map((point) => size * (least + 2.4 * Math.sqrt(Math.min(Number(point.weight) || 0, 6))));
  return {
    label: good ? "success" : "failure",
    data,
    showLine: false,
    pointStyle: "triangle",
    pointRotation: good ? 0 : 180,
    pointRadius: radius(4),
    pointHoverRadius: radius(6),
    pointBackgroundColor: data.map((point) => (point.verified === "1" ? colour : tint("surface"))),
    pointBorderColor: colour,
    pointBorderWidth: 1.6,
    order: 1,
  };
}

// New claims as upright lines; a label only where the one before leaves room for it.
function claimMarks(steps, { tint, note }, perPixel) {
  const claims = steps.filter((point) => point.kind === "claim");
  const crowded = claims.length > 8;
  let last = -Infinity;
  return claims.map((point, at) => {
    const room = point.x - last > 34 * perPixel;
    if (room) last = point.x;
    const flag = { color: "#fff", backgroundColor: tint("accent-fill"), borderRadius: 4, padding: { x: 5, y: 2 } };
    const mark = {
      type: "line",
      xMin: point.x,
      xMax: point.x,
      borderColor: tint("accent", crowded ? 0.45 : 1),
      borderWidth: crowded ? 0.75 : 1.25,
      label: note(`v${point.v}`, { ...flag, display: room, position: "end", yAdjust: 2, xAdjust: 15 }),
    };
    return [`claim${at}`, mark];
  });
}

// Where the forecast crosses a line, with its day; the words stand on the side where the curve is not.
function crossings(ahead, { tint, words }, max, perPixel, narrow) {
  return ahead
    .filter((point) => point.mark)
    .flatMap(({ x, y, mark }, at) => {
      const atEnd = x > max - 130 * perPixel;
      const place = atEnd ? { x: "end", y: "start" } : { x: "start", y: "end" };
      const said = narrow ? [mark, say("day", x)] : `${mark} ${say("day", x)}`;
      const ring = { type: "point", xValue: x, yValue: y, radius: 4, borderWidth: 2 };
      const more = { position: place, yAdjust: atEnd ? 6 : -8, font: { size: 11, weight: 600 } };
      return [
        [`ring${at}`, { ...ring, backgroundColor: tint("surface"), borderColor: tint("warn-fill") }],
        [`words${at}`, words(x, y, said, "warn", more)],
      ];
    });
}

// The bands below the review and the archive line, the future, and today.
function ground({ review = "0.3", archive = "0.1" }, { tint, note, box, words }, range, narrow) {
  const [low, high] = [Number(archive), Number(review)];
  const { min, max, now, perPixel } = range;
  const today = note("today", { display: max - now > 40 * perPixel, position: "end", xAdjust: 20, yAdjust: 2 });
  return {
    archive: box("bad-fill", 0.14, { yMin: 0, yMax: low }),
    review: box("warn-fill", 0.11, { yMin: low, yMax: high }),
    ...(max > now ? { future: box("mute-fill", 0.06, { xMin: now }) } : {}),
    archiveWords: words(min, low / 2, `${narrow ? "archive" : "archived below"} ${low.toFixed(2)}`, "bad"),
    reviewWords: words(min, high - 0.045, `${narrow ? "review" : "under review below"} ${high.toFixed(2)}`, "warn"),
    now: { type: "line", xMin: now, xMax: now, borderColor: tint("text-3"), borderWidth: 1, borderDash: [2, 3], label: today },
  };
}

const tooltip = {
  title: ([{ raw }]) => `v${raw.v} · ${raw.what} · ${say("full", raw.x)}`,
  label: ({ raw }) => {
    const proof = raw.verified === "1" ? "verified outside the agent" : "reported by the agent";
    const moved = `${Number(raw.before).toFixed(3)} → ${raw.y.toFixed(3)}`;
    return [moved, raw.sum, raw.kind === "outcome" ? proof : ""].filter(Boolean);
  },
};

function series(steps, ahead, now, tools, narrow) {
  const { tint } = tools;
  const line = { borderWidth: steps.length > 150 ? 1 : 1.75, pointRadius: 0, pointHitRadius: 0 };
  const last = steps.at(-1);
  const outcomes = steps.filter((point) => point.kind === "outcome");
  const diamond = { showLine: false, pointStyle: "rectRot", pointRadius: 4, pointHoverRadius: 6, pointBorderWidth: 1.6 };
  return [
    {
      ...line,
      label: "confidence",
      data: [...steps, { x: Math.max(now, last.x), y: last.y }],
      stepped: "before",
      borderColor: tint("text"),
      fill: { target: "origin", above: tint("accent", 0.05) },
      order: 3,
    },
    { ...line, label: "forecast", data: ahead, borderColor: tint("text-3"), borderDash: [3, 4], order: 2 },
    triangles(outcomes, true, tools, narrow),
    triangles(outcomes, false, tools, narrow),
    {
      ...diamond,
      label: "other",
      data: steps.filter((point) => point.kind === "other"),
      pointBackgroundColor: tint("surface"),
      pointBorderColor: tint("text-2"),
      order: 1,
    },
  ];
}

function timeline(canvas, tools) {
  const { scale, rowsOf } = tools;
  const steps = points(rowsOf(canvas.dataset.table));
  if (!steps.length) return null;
  const ahead = canvas.dataset.forecast ? points(rowsOf(canvas.dataset.forecast)) : [];
  const now = Date.parse(canvas.dataset.now) || Date.now();
  const width = canvas.parentElement.clientWidth - 60;
  const narrow = width < 460;
  const end = Math.max(now, steps.at(-1).x, ahead.at(-1)?.x ?? now);
  const margin = Math.max((end - steps[0].x) * 0.025, HOUR);
  const min = steps[0].x - margin;
  const max = end + (ahead.length ? 0 : margin);
  const perPixel = (max - min) / Math.max(1, width);
  const axis = timeTicks(min, max, width);
  const marks = [...claimMarks(steps, tools, perPixel), ...crossings(ahead, tools, max, perPixel, narrow)];
  return {
    type: "line",
    data: { datasets: series(steps, ahead, now, tools, narrow) },
    options: {
      layout: { padding: { top: 6, right: 6 } },
      interaction: { mode: "nearest", intersect: true },
      scales: {
        x: scale({
          type: "linear",
          min,
          max,
          grid: { display: false },
          afterBuildTicks: (built) => Object.assign(built, { ticks: axis.ticks }),
          ticks: { callback: axis.show, padding: 8, maxRotation: 0, autoSkip: false },
        }),
        y: scale({ min: 0, max: 1, ticks: { stepSize: 0.2, padding: 8, callback: (value) => value.toFixed(1) } }),
      },
      plugins: {
        tooltip: { callbacks: tooltip },
        annotation: {
          annotations: {
            ...ground(canvas.dataset, tools, { min, max, now, perPixel }, narrow),
            ...Object.fromEntries(marks),
          },
        },
      },
    },
  };
}

(window.drawings ??= {}).timeline = timeline;
