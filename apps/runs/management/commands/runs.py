from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from apps import access
from apps.console import Console
from apps.runs import present, queries
from apps.runs.models import Run


class Command(Console):
    help = "What ran: state, outcome, duration, tokens, cost, and the batches it wrote."

    def define(self, parser: ArgumentParser) -> None:
        verbs = self.verbs(parser, list="runs, newest first", show="one run with its calls to models and its batches")
        helps = {
            "agent": "an agent's id",
            "kind": "consolidate",
            "state": ", ".join(Run.State.values),
            "before": "a run's id: what came before it",
        }
        for name, text in helps.items():
            verbs["list"].add_argument(f"--{name}", default="", help=text)
        verbs["list"].add_argument("--limit", type=self.number(1, 200), default=50, help="rows (default: %(default)s)")
        verbs["show"].add_argument("run")

    def list(self, options: dict[str, Any]) -> None:
        rows = queries.listed(
            access.operator(),
            agent_id=options["agent"],
            kind=options["kind"],
            state=options["state"],
            before=options["before"],
            limit=options["limit"],
        )
        costs = queries.costs(rows)
        head = f"{'run':<12}  {'asked for':<16}  {'agent':<16} {'state':<8} {'outcome':<16} "
        head += f"{'took':>8}  {'tokens':>8}  {'price':>10}"
        lines = [self._line(run, costs) for run in rows]
        self.show({"runs": [present.record(run) for run in rows]}, *([head, *lines] if rows else []))

    def _line(self, run: Run, costs: Mapping[int, queries.Cost]) -> str:
        facts = f"{self._seconds(run.seconds):>8}  {self._tokens(run):>8}  {self._price(costs.get(run.pk)):>10}"
        outcome = run.outcome or "-"
        when = f"{timezone.localtime(run.created_at):%Y-%m-%d %H:%M}"
        return f"{run.public_id}  {when}  {run.agent_id:<16} {run.state:<8} {outcome:<16} {facts}"

    def show_one(self, options: dict[str, Any]) -> None:
        run = queries.run(options["run"])
        whole = present.whole(run, access.operator())
        self.show(whole, *self._lines(run, whole["batches"]))

    def _lines(self, run: Run, batches: Sequence[str]) -> Sequence[str]:
        """The run as lines for a person."""
        lines = [self._line(run, queries.costs([run])), run.error or run.summary]
        if run.estimate:
            price = run.estimate["cost"] or "unknown"
            lines.append(
                f"estimated  {run.estimate['characters']:,} characters with {run.estimate['notes']} notes, "
                f"about {run.estimate['prompt_tokens']:,} tokens to send, price {price}"
            )
        for call in queries.calls(run):
            if call.state == call.State.ASKED:
                lines.append(f"call  {call.purpose}: asked, {call.route}; no answer so far")
                continue
            counted = f"{self._known(call.prompt_tokens)} + {self._known(call.completion_tokens)} tokens"
            price = "price unknown" if call.cost is None else f"${call.cost:f}"
            took = f"{self._seconds(call.seconds)}, {counted}, {price}"
            how = call.finish_reason or call.error
            if call.reuses:
                how = f"the answer that run {call.reuses} had paid for"
            lines.append(f"call  {call.purpose}: {call.state}, {call.model or call.route}, {took}, {how}")
            lines += [f"      {one['model']}: {one['reason']} after {one['seconds']} s" for one in call.attempts]
        if run.state == Run.State.LOST and queries.unclear(run):
            lines.append("The question was sent and may be billed, so it is not asked again by itself.")
        lines += [f"masked  {path}:{line}  {kind}" for path, line, kind in run.credentials]
        return [*lines, *[f"batch  {batch}" for batch in batches]]

    def _known(self, count: int | None) -> str:
        return "unknown" if count is None else str(count)

    def _seconds(self, seconds: float | None) -> str:
        return "-" if seconds is None else f"{seconds:.1f} s"

    def _tokens(self, run: Run) -> str:
        return "-" if run.tokens is None else str(run.tokens)

    def _price(self, cost: queries.Cost | None) -> str:
        if cost is None:
            return "-"
        return "unknown" if cost.unknown else f"${cost.known:.4f}"
