"""What the attention page says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

SHOW_EXAMPLE = "Show that view"
