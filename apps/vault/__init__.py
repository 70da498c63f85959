"""Markdown on disk: paths, locks, atomic replacement, formats and differences. Knows no Django."""
