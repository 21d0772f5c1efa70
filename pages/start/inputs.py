"""What the page is asked: one sentence with a blank."""

from pages.start import texts
from pages.ui.stage.routes import route_fields

FIELDS = route_fields(texts.SENTENCE)
