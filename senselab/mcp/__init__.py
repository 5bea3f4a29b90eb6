"""The Model Context Protocol: tools that ask the API, at /mcp in this process, or over HTTP from a terminal."""
