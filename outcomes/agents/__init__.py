"""Agents as others see them: what each wrote and read, how its tasks ended, and how sure it may be."""
