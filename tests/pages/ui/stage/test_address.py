"""The view of a page with a stage stays although Streamlit goes on sending the address with which the page was loaded."""

from tests.support.staged import staged


def test_what_was_computed_stays_while_the_loaded_address_is_sent_again(open_app):
    app = open_app("positions", scheme="alibi", look="effect", length="9")
    arrival = staged(app)["arrival"]["number"]
    for length in range(10, 20):
        app.session_state["positions_length"] = length
        app.run()
    app.run()
    assert staged(app)["settings"] | {"length": "19", "scheme": "alibi"} == staged(app)["settings"]
    assert staged(app)["arrival"]["number"] == arrival
    app.query_params = {"scheme": "t5"}
    app.run()
    assert staged(app)["settings"]["scheme"] == "t5"
    assert staged(app)["arrival"]["number"] == arrival + 1
