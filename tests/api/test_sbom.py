"""The software bill of materials of a release (script/sbom)."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from gateway import REPOSITORY

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "spdx-2.3.json").read_text())
PAGE = REPOSITORY / "build" / "page_packages.json"


@pytest.fixture(scope="module")
def bill(tmp_path_factory):
    if not PAGE.exists():
        pytest.skip("the page was not built here")
    file = tmp_path_factory.mktemp("sbom") / "agent-gateway_0.1.0_amd64.deb"
    file.write_bytes(b"a package")
    printed = subprocess.run([sys.executable, REPOSITORY / "script" / "sbom", "0.1.0", file], capture_output=True, text=True, check=True)
    return json.loads(printed.stdout)


def test_bill_is_valid_spdx(bill):
    jsonschema.Draft201909Validator(SCHEMA).validate(bill)


def test_each_relation_is_between_elements_of_the_document(bill):
    known = {element["SPDXID"] for element in [bill, *bill["packages"], *bill["files"]]}
    used = {relation[end] for relation in bill["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
    assert used == known


def test_each_library_of_the_build_has_an_entry_and_is_in_the_sysroot(bill):
    libraries = re.findall(r"\blib[\w.+-]+-dev\b", (REPOSITORY / "script" / "bootstrap").read_text())
    # Tests, fuzzers and benchmarks alone use the first ones. The package of Boost's headers represents its libraries.
    libraries = {name for name in libraries if not re.match("libg(test|mock)-|libclang-rt-|libbenchmark-|libboost-", name)}
    assert len(libraries) > 20
    assert libraries <= {entry["name"] for entry in bill["packages"]}
    assert libraries <= set((REPOSITORY / "script" / "sysroot").read_text().split())


def test_packages_of_the_page_are_listed_with_their_licences(bill):
    by_name = {entry["name"]: entry for entry in bill["packages"]}
    assert {"svelte", "@fontsource-variable/geist", "marked", "lucide-static"} <= set(by_name)
    assert all(entry["licenseDeclared"] != "NOASSERTION" for entry in by_name.values())
