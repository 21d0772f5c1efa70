"""The file by which a host names its learning platforms stops the start where it cannot be used, in one line."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pages.classroom.lti import host_tool
from tests.support.lti_platform import Platform
from tx_core.errors import SettingsProblem

WRONG = {
    "no TOML": lambda file: "key",
    "no platform": lambda file: 'key = "lti.pem"\nplatforms = []',
    "a word that is none": lambda file: f'{file}\nfrom = "x"',
    "an address that is none": lambda file: file.replace("http://", "ftp://"),
    "no key": lambda file: file.replace("lti.pem", "another.pem"),
    "no key in PEM": lambda file: file.replace("lti.pem", "lti.toml"),
    "a key of another kind": lambda file: file.replace("lti.pem", "ec.pem"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(host, tmp_path: Path, name: str):
    path = Platform("http://localhost").file(tmp_path)
    host(lti_file=str(path))
    assert list(host_tool.__wrapped__().by_name) == ["http://localhost attention"]
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "ec.pem").write_bytes(other)
    path.write_text(WRONG[name](path.read_text("utf-8")), "utf-8")
    with pytest.raises(SettingsProblem) as problem:
        host_tool.__wrapped__()
    assert str(problem.value).startswith(f"TX_LTI_FILE={path} ") and len(str(problem.value).splitlines()) == 1
