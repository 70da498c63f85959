"""A proposal to decide about, made from what is on disk."""

import pytest

from apps.proposals import analysis, services


@pytest.fixture
def propose(request):
    """Make a rewrite proposal for `coach` from its present MEMORY.md: `propose("- new text\\n")`."""

    def make(text: str, *, reasons: str = "", run: str = ""):
        from apps.agents import store

        scope = request.getfixturevalue("scope")
        path, data = store.read_memory(scope.root)
        found = analysis.analyse(
            store.decode(data), text, notes=[], dates=frozenset(), limit=24_000, findings={}
        ).stored()
        return services.propose_rewrite(
            scope.id,
            path=path,
            text=text.encode(),
            previous=data,
            reasons=reasons,
            analysis=found,
            source="memory:consolidate",
            run=run,
        )

    return make


@pytest.fixture
def memory(request):
    """MEMORY.md of `coach`, with a text of its own."""
    file = request.getfixturevalue("scope").root / "MEMORY.md"
    file.write_bytes(b"# Memory\n\n- one\n- two\n")
    return file
