"""What people see of a page in a browser, and what of it misleads them."""

from typing import Any

from tests.walls.hostile import misleading

# Of a page: whatever is read of it. Fields of forms hold what is stored, as they send it back.
SEEN = """() => {
    const read = ["title", "alt", "aria-label", "aria-description", "placeholder", "label", "data-label"];
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
    const texts = [["title", document.title]];
    while (walker.nextNode()) {
        const within = walker.currentNode.parentElement;
        if (within.closest("textarea, script, style")) continue;
        const name = within.closest("bdi, option, title, .toast") ? "name" : "text";
        texts.push([name, walker.currentNode.textContent]);
    }
    for (const element of document.querySelectorAll("*")) {
        for (const name of read) if (element.hasAttribute(name)) texts.push(["name", element.getAttribute(name)]);
    }
    return {
        ran: window.hurt !== undefined,
        injected: document.querySelectorAll("img[src=x], [onerror]").length,
        texts,
    };
}"""
# Of a chart: labels, ticks, notes and the tooltip of each of its points.
CHARTS = """() => [...document.querySelectorAll("canvas[data-chart]")].flatMap((canvas) => {
    const chart = window.Chart?.getChart(canvas);
    if (!chart) return [];
    const texts = [...(chart.data.labels ?? [])];
    for (const scale of Object.values(chart.scales)) texts.push(...scale.ticks.map((tick) => tick.label));
    for (const note of Object.values(chart.options.plugins?.annotation?.annotations ?? {})) {
        texts.push(note.content, note.label?.content);
    }
    chart.data.datasets.forEach((dataset, datasetIndex) => {
        texts.push(dataset.label);
        dataset.data.forEach((_, index) => {
            const { x, y } = chart.getDatasetMeta(datasetIndex).data[index] ?? {};
            chart.tooltip.setActiveElements([{ datasetIndex, index }], { x, y });
            chart.tooltip.update(true);
            texts.push(...(chart.tooltip.title ?? []), ...(chart.tooltip.body ?? []).flatMap((part) => part.lines));
        });
    });
    return texts.flat().filter((text) => typeof text === "string").map((text) => ["chart", text]);
})"""


def wrong_with(page: Any, alike: str, names: tuple[str, ...]) -> list[Any]:
    """Return what runs, breaks out or misleads on a page: in text, tooltips, labels, titles, toasts and charts."""
    seen = page.evaluate(SEEN)
    found: list[Any] = [("script", "it ran")] if seen["ran"] or seen["injected"] else []
    for kind, text in seen["texts"] + page.evaluate(CHARTS):
        is_raw_name = kind != "text" and alike[0] in text
        if is_raw_name or misleading(text, alike, names):
            found.append((kind, text.strip()[:200]))
    return found
