"""How does a model learn to label a text? BERT fine-tuned on film reviews, and a small encoder that is trained on the page."""

from pages.ui.shell.frame import open_page

PAGE = "classifier"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.classifier import fine_tuned, own_model
from pages.classifier.model import TRAINER, label_inputs
from pages.ui.shell.frame import explain, page_links
from pages.ui.stage.training import empty_training_stage
from tx_core.errors import ExplorerError

inputs = label_inputs()
part = own_model if inputs.is_own else fine_tuned
try:
    part.show_label(inputs, badge)
except ExplorerError as problem:
    explain(problem)
    empty_training_stage(TRAINER)
    badge.empty()
part.explain_classifier(inputs)
page_links(inputs.text, "", "attention", "heads_and_blocks")
