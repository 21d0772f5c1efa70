"""Who may look at whom? A mask on one head, −∞ against a penalty, and padding in a batch."""

from pages.ui.shell.frame import open_page

PAGE = "masks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from dataclasses import replace

from pages.masks.batch import batch_part
from pages.masks.future import future_part
from pages.masks.head import head_part
from pages.masks.inputs import FIELDS, UNDER_A_MASK, MaskInputs, mask_controls, mask_inputs, note_what_to_notice
from pages.ui.export.part import Part, show_page
from pages.ui.shell.controls import embedded_sizes
from pages.ui.shell.frame import page_links
from tx_core.engine.bert_engine import BertEngine

PARTS = {"one": head_part, "why": future_part, "penalty": head_part, "batch": batch_part}


def mask_part(inputs: MaskInputs, engine: BertEngine) -> Part:
    """Compute the part that is asked for, below what to notice in it."""
    note_what_to_notice(inputs, engine)
    part, sizes = PARTS[inputs.part](inputs, engine), (engine.info.num_layers, engine.info.num_heads)
    return replace(part, controls=[*mask_controls(inputs.part, sizes), *part.controls])


inputs = mask_inputs()
show_page(PAGE, FIELDS, badge, inputs, mask_part, mask_controls(inputs.part, embedded_sizes()))
page_links(inputs.text, "", "attention", "fill_mask", "heads_and_blocks", views={"fill_mask": UNDER_A_MASK})
