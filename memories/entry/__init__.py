"""One entry as its pages show it: history, arithmetic, timeline, comparison."""
