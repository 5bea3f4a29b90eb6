"""The rules of the domain: pure functions of plain values and `now`, without clock, database or framework."""
