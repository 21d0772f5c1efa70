"""A page to be: only its frame is there."""

from pages.ui.frame import open_page, share_link

open_page("attention")
share_link()
