"""How does a model learn to label a text? A small encoder, trained on the page on texts with labels."""

from pages.ui.shell.frame import open_page

PAGE = "classifier"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.classifier import texts
from pages.classifier.below import explain_classifier, export_label, show_results
from pages.classifier.model import TRAINER, label_inputs, shown_training
from pages.classifier.stage import is_of_sentence, label_stage, predictions
from pages.ui.shell.frame import explain, page_links, show_engine
from pages.ui.stage.training import empty_training_stage
from tx_core.engine.device import best_device
from tx_core.errors import ExplorerError

inputs = label_inputs()
try:
    shown = shown_training(inputs)
    found = predictions(inputs, shown)
except ExplorerError as problem:
    explain(problem)
    empty_training_stage(TRAINER)
    badge.empty()
else:
    label_stage(inputs, shown, found)
    show_engine(badge, texts.MODEL, best_device())
    show_results(shown)
    if shown.model and found and is_of_sentence(found[shown.model.done], inputs):
        export_label(shown, found[shown.model.done], inputs.text)
explain_classifier(inputs)
page_links(inputs.text, "", "attention", "heads_and_blocks")
