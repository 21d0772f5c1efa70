"""Who may look at whom? A mask on one head, −∞ against a penalty, and padding in a batch."""

from pages.ui.shell.frame import open_page

PAGE = "masks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.masks.batch import batch_part
from pages.masks.future import future_part
from pages.masks.head import head_part
from pages.masks.inputs import FIELDS, UNDER_A_MASK, MaskInputs, mask_controls, mask_inputs, note_what_to_notice
from pages.ui.export.part import Part, show_page
from pages.ui.shell.frame import page_links
from pages.ui.stage.view_options import explain_built_in
from tx_core.engine.bert_engine import BertEngine

PARTS = {"one": head_part, "why": future_part, "penalty": head_part, "batch": batch_part}


def mask_part(inputs: MaskInputs, engine: BertEngine) -> Part:
    """Compute the part that is asked for, below what to notice in it."""
    note_what_to_notice(inputs, engine)
    return PARTS[inputs.part](inputs, engine)


inputs = mask_inputs()
if show_page(PAGE, FIELDS, badge, inputs, mask_part, mask_controls(inputs.part)).pictures and inputs.part != "why":
    explain_built_in()
page_links(inputs.text, "", "attention", "fill_mask", "heads_and_blocks", views={"fill_mask": UNDER_A_MASK})
