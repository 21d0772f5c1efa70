"""Write the two fonts of every page with the characters and icons that it shows: 44 kB instead of Streamlit's 545.

`pip install fonttools brotli && python assets/fonts/build.py`, after an upgrade of Streamlit or with a new icon. Letters are
those of the unicode-range in assets/page.css; for any other character a browser fetches Streamlit's whole font. Icons are found
by their names in our pages and in Streamlit's scripts.
"""

import re
import sys
from pathlib import Path

import streamlit

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from pages.contents import PAGES  # noqa: E402

STATIC = Path(streamlit.__file__).parent / "static" / "static"


def icon_names() -> set[str]:
    """Return the names of all icons that our pages or Streamlit's scripts write."""
    scripts = [*(STATIC / "js").glob("*.js"), *(ROOT / "pages").rglob("*.py")]
    written = {name for script in scripts for name in re.findall(r":material/(\w+)", script.read_text("utf-8"))}
    return written | {page.icon for page in PAGES}


def read(name: str) -> object:
    """Read a font of Streamlit's."""
    from fontTools.ttLib import TTFont  # installed for this alone

    return TTFont(next(STATIC.glob(f"media/{name}*")), recalcTimestamp=False)


def write(font: object, name: str, **kept: object) -> None:
    """Write what is kept of a font; its name goes, which its licence reserves, its notices stay."""
    from fontTools import subset

    options = subset.Options(flavor="woff2", name_IDs=[0, 13, 14], hinting=False, notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(**kept)
    subsetter.subset(font)
    font.flavor = "woff2"
    font.save(HERE / name)


def write_letters() -> None:
    """Write the letters of Source Sans that page.css names."""
    (ranges,) = re.findall(r"unicode-range: ([^;]*);", (ROOT / "assets" / "page.css").read_text(encoding="utf-8"))
    ends = [part.strip().removeprefix("U+").split("-") for part in ranges.split(",")]
    letters = {letter for one in ends for letter in range(int(one[0], 16), int(one[-1], 16) + 1)}
    write(read("SourceSansVF-Upright"), "text.woff2", unicodes=letters)


def write_icons() -> None:
    """Write the icons that are named, and list the names: the font draws an icon where its name is written."""
    font = read("MaterialSymbols-Rounded")
    letters = font.getBestCmap()
    tables = [table.ExtSubTable for lookup in font["GSUB"].table.LookupList.Lookup for table in lookup.SubTable]
    ligatures = [table.ligatures for table in tables if hasattr(table, "ligatures")]
    glyphs = {(first, *one.Component): one.LigGlyph for each in ligatures for first, of_it in each.items() for one in of_it}
    names = icon_names()
    spelled = {name: tuple(letters.get(ord(letter)) for letter in name) for name in names}
    found = {name: glyphs[spelling] for name, spelling in spelled.items() if spelling in glyphs}
    for each in ligatures:
        for first, of_it in each.items():
            each[first] = [one for one in of_it if one.LigGlyph in found.values()]
    write(font, "icons.woff2", glyphs=found.values(), unicodes={ord(letter) for letter in " ".join(found)})
    (HERE / "icons.txt").write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


if __name__ == "__main__":
    write_letters()
    write_icons()
