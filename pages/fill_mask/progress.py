"""How far the head scan of a visitor is: the stage asks this route while one runs, and the page only when it has ended."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.fill_mask import texts
from pages.ui.stage import background_runs
from pages.ui.stage.packing import NOT_KEPT, read_signed, sign

PATH = "blank-scan"
SCAN_PROGRESS = dict.fromkeys(("running", "stopping"), texts.SCAN_PROGRESS)


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
    said = background_runs.run_in_words(snapshot, SCAN_PROGRESS, texts.SCAN_STARTING)
    return JSONResponse({"running": True, "share": background_runs.share_done(snapshot), "said": said}, headers=NOT_KEPT)


ROUTE = Route(f"/{PATH}/{{name}}", send_progress)
