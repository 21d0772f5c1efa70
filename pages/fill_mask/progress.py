"""How far the head scan of a visitor is: the stage asks this route while one runs, and the page only when it has ended."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.fill_mask import texts
from pages.ui.stage import background_runs
from pages.ui.stage.packing import NOT_KEPT, read_signed, sign

PATH = "blank-scan"


def progress_path() -> str:
    """Return the address of the progress of this visitor's scan; it says nothing of the visitor to anybody else."""
    return f"{PATH}/{sign([background_runs.visitor()])}"


def send_progress(request: Request) -> Response:
    """Send how far the scan of a visitor is, whom this host has named; 404 for another name."""
    try:
        (visitor,) = read_signed(request.path_params["name"])
    except ValueError:
        return Response(None, 404, NOT_KEPT)
    snapshot = background_runs.SCANS.snapshot(str(visitor), "scan")
    if snapshot is None or not snapshot.running:
        return JSONResponse({"running": False}, headers=NOT_KEPT)
    share, said = 0.0, texts.SCAN_STARTING
    if snapshot.state == "waiting":
        said = background_runs.queue_in_words(snapshot.ahead)
    elif snapshot.records:
        last = snapshot.records[-1]
        share, said = last.done / last.total, texts.SCAN_PROGRESS.format(done=last.done, total=last.total, seconds=last.seconds)
    return JSONResponse({"running": True, "share": share, "said": said}, headers=NOT_KEPT)


ROUTE = Route(f"/{PATH}/{{name}}", send_progress)
