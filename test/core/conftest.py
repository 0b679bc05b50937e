"""What needs no models is tested without any: nothing here passes only where somebody's cache is filled."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty model store."""
    store = tmp_path_factory.getbasetemp() / 'no-models'
    monkeypatch.setenv('EMAVATAR_MODELS', str(store))
    return store
