"""How many cores a thread computes on: one for what is small, and then as many as before."""

from threading import Thread

import torch

from tx_core.engine.device import use_all_cores, use_one_core


def test_a_thread_takes_one_core_and_then_all_of_its_own_again():
    usual, seen = torch.get_num_threads(), []

    def work() -> None:
        for take in (use_all_cores, use_one_core, use_one_core, use_all_cores, use_one_core):
            take()
            seen.append(torch.get_num_threads())

    torch.set_num_threads(3)
    try:
        worker = Thread(target=work)
        worker.start()
        worker.join()
        assert seen == [3, 1, 1, 3, 1]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(usual)
