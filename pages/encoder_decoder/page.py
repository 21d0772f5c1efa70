"""How does one sequence become another? An encoder-decoder trained on the page, with its masks and shapes."""

from pages.ui.shell.frame import open_page

PAGE = "encoder_decoder"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.encoder_decoder import texts
from pages.encoder_decoder.below import explain_model, export_answer, show_inside
from pages.encoder_decoder.model import TRAINER, chosen_settings, chosen_training, number_input
from pages.encoder_decoder.stage import answer_stage, answers
from pages.ui.shell.frame import explain, page_links, show_engine
from pages.ui.stage.training import empty_training_stage
from tx_core.engine.device import best_device
from tx_core.errors import ExplorerError

numbers = number_input()
try:
    shown = chosen_training()
    settings = chosen_settings()
    found = answers(numbers, shown)
except ExplorerError as problem:
    explain(problem)
    empty_training_stage(TRAINER)
    badge.empty()
else:
    answer_stage(numbers, shown, found, settings)
    show_engine(badge, texts.ENGINE.format(layers=settings.num_layers), best_device())
    if shown.model and found:
        export_answer(shown, found[max(found)])
explain_model()
show_inside()
page_links("", "", "self_attention", "masks", "positions")
