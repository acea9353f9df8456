"""What the COBRAS paper claims, and whether the results of an experiment support it.

The paper is in Advances in Intelligent Data Analysis XVII (2018); the claims are worded after a manuscript of it.
They are judged on the methods of the paper alone, so a verdict is the same whatever else is in the report.

Each claim is a function that measures its parts. A part is true or false only when the whole 95 % interval lies
on one side of its bound, and otherwise unclear; `Check.verdict` follows from the parts alone. The paper gives no
bounds for words such as "slightly"; those chosen here are the constants below, and each rule names them.
"""

from __future__ import annotations

import numpy as np

from cobras.bench.measures import Mean, bootstrap_interval, median_interval
from cobras.bench.report.formats import duration, percent, plus_minus, ranges, short
from cobras.bench.report.pages import Check, Part
from cobras.bench.report.summary import METHODS, Ranking, Summary
from cobras.core.types import FloatArray

COBRA_SIZES = (10, 25, 50)
SLIGHTLY = 0.05  # ARI
FIRST = 5  # before so many queries COBRAS has no clustering of its own yet
FEW, MANY = 10, 50  # "very few queries" end, and later ones begin, here
TIMED_AT = 100  # queries
INTERACTIVE = 1.0  # seconds that a person can wait without losing the train of thought


def check_claims(summary: Summary) -> list[Check]:
    """All claims of the paper, in its order, judged on its own methods."""
    summary = summary.paper
    return [
        query_efficient(summary),
        *(near_its_size(summary, n) for n in COBRA_SIZES),
        npu_first(summary),
        fastest(summary),
        cobs_before_the_first_query(summary),
        interactive(summary),
        anytime(summary),
    ]


def query_efficient(summary: Summary) -> Check:
    """COBRAS has the best aligned rank over most of the range of queries."""
    claim = "COBRAS is the most query-efficient: the best aligned rank over most of the range of queries."
    rule = "Its aligned rank is the best at more than half of the numbers of queries."
    ranking = summary.ranking
    ranked = [m for m in METHODS if ranking is not None and m in ranking.methods]
    if ranking is None or "COBRAS" not in ranked or all(m.startswith("COBRA") for m in ranked):
        return Check(claim, rule, (), "COBRAS and a method other than COBRA did not both run.")
    places = [ranking.methods.index(m) for m in ranked]
    # From the first query on: before it the methods have had no answer to use.
    own = ranked.index("COBRAS")
    ranks = ranking.ranks[places, 1:]
    share = float((ranks[own] <= ranks.min(axis=0)).mean())
    draws = ranking.draws[:, places, 1:]
    shares = (draws[:, own] <= draws.min(axis=1)).mean(axis=1)
    low, high = np.clip(bootstrap_interval(share, shares), 0, 1).tolist()
    averages = ranks.mean(axis=1)
    rival = min((i for i in range(len(ranked)) if i != own), key=lambda i: averages[i])
    absent = [m for m in METHODS if m not in ranked]
    text = (
        f"COBRAS has the best rank at {percent(share)} ({percent(low)} to {percent(high)}) of the numbers of "
        f"queries among {len(ranked)} methods on {len(ranking.tasks)} tasks; on average its rank is "
        f"{averages[own]:.1f}, that of {ranked[rival]} {averages[rival]:.1f}"
        + (f". Not in the comparison: {', '.join(absent)}" if absent else "")
    )
    return Check(claim, rule, (Part(text, above((low, high), 0.5)),))


def near_its_size(summary: Summary, n: int) -> Check:
    """COBRA-n beats COBRAS slightly at about n queries, and COBRAS is better elsewhere."""
    cobra = f"COBRA-{n}"
    # "Elsewhere": below half and from twice n on; what lies between does not count.
    early, late = range(FIRST, n // 2), range(2 * n, summary.n_queries + 1)
    claim = f"{cobra} beats COBRAS slightly at about {n} queries; elsewhere COBRAS is better."
    rule = (
        f"At {n} queries the mean ARI of {cobra} is higher than that of COBRAS by less than {SLIGHTLY}; at every "
        f"number of queries {f'from {FIRST} to {n // 2 - 1} and ' if early else ''}from {2 * n} on it is lower."
    )
    if missing := _missing_methods(summary, "COBRAS", cobra) or _too_small_budget(summary, 2 * n):
        return Check(claim, rule, (), missing)
    lead, per_task = summary.difference(cobra, "COBRAS", [n])
    text = f"{cobra} minus COBRAS at {n} queries: {_lead_text(lead, per_task)}"
    parts = [
        Part(text, above(lead.interval, 0)),
        Part(f"which is less than {SLIGHTLY}", below(lead.interval, SLIGHTLY)),
        *(_elsewhere_part(summary, cobra, queries) for queries in (early, late) if queries),
    ]
    return Check(claim, rule, tuple(parts))


def _elsewhere_part(summary: Summary, cobra: str, queries: range) -> Part:
    """Whether COBRAS is better at every one of these numbers of queries; false if it is worse at one of them."""
    higher, lower = _higher_and_lower(summary, cobra, queries)
    mean, _ = summary.difference(cobra, "COBRAS", queries)
    text = f"{cobra} minus COBRAS from {queries[0]} to {queries[-1]} queries: {plus_minus(mean)} on average"
    for word, found in (("lower", lower), ("higher", higher)):
        text += f"; {word} by more than the error at {ranges(found)}" if found else ""
    return Part(text, False if higher else (True if len(lower) == len(queries) else None))


def _higher_and_lower(summary: Summary, cobra: str, queries: range) -> tuple[list[int], list[int]]:
    """Numbers of queries at which the whole 95 % interval of the lead over COBRAS is above 0, and below 0."""
    lead = summary.lead_per_query(cobra, "COBRAS")
    low, high = lead.value - lead.half_width, lead.value + lead.half_width
    return [q for q in queries if low[q] > 0], [q for q in queries if high[q] < 0]


def leads_of_cobra(summary: Summary) -> list[str]:
    """For each COBRA a sentence on where it is ahead of COBRAS, whatever the paper says."""
    summary, found = summary.paper, []
    queries = range(FIRST, summary.n_queries + 1)
    for cobra in (m for m in summary.methods if m.startswith("COBRA-")):
        if not queries or not summary.shared_tasks((cobra, "COBRAS")):
            continue
        lead = summary.lead_per_query(cobra, "COBRAS")
        ahead = [q for q in queries if lead.value[q] > 0]
        if not ahead:
            found.append(f"{cobra} is nowhere ahead of COBRAS from {FIRST} queries on.")
            continue
        clearly, _ = _higher_and_lower(summary, cobra, queries)
        best = max(ahead, key=lambda q: float(lead.value[q]))
        points = [best, *(q for q in (TIMED_AT,) if q in ahead and q != best)]
        shown = " and ".join(f"{plus_minus(Mean(*(part[q] for part in lead)))} at {q}" for q in points)
        found.append(
            f"The mean ARI of {cobra} is above that of COBRAS at {ranges(ahead)} queries"
            + (f", and by more than the error at {ranges(clearly)}" if clearly else "")
            + f": {shown} queries."
        )
    return found


def npu_first(summary: Summary) -> Check:
    """The NPU methods are relatively good for very few queries."""
    claim = "The NPU methods, which know the number of clusters, are relatively good for very few queries."
    rule = (
        f"The aligned rank of each at 1 to {FEW} queries is better than the average of all methods, and better "
        f"than its own from {MANY} queries on."
    )
    ranking = summary.ranking
    methods = [m for m in METHODS if m.endswith("-NPU") and ranking is not None and m in ranking.methods]
    if ranking is None or not methods:
        return Check(claim, rule, (), "No NPU method is in the ranking.")
    if missing := _too_small_budget(summary, MANY):
        return Check(claim, rule, (), missing)
    return Check(
        claim, rule, tuple(part for m in methods for part in _early_and_late_ranks(summary, ranking, m))
    )


def fastest(summary: Summary) -> Check:
    """COBRA is the fastest, then COBRAS; the others are slower."""
    at = min(TIMED_AT, summary.n_queries)
    claim = "COBRA is the fastest, then comes COBRAS; the others are slower."
    rule = (
        f"Of the run-time ratios after {at} queries, the median over tasks of COBRAS / COBRA is above 1, and "
        "that of COBRAS / each other method is below 1."
    )
    rivals = [m for m in METHODS if m != "COBRAS" and m in summary.methods]
    if missing := _missing_methods(summary, "COBRAS"):
        return Check(claim, rule, (), missing)
    parts = []
    for rival in rivals:
        values = np.array(list(summary.run_time_ratios("COBRAS", rival, at).values()))
        if not len(values):
            continue
        side = above if rival.startswith("COBRA-") else below
        low, high = median_interval(values)
        text = (
            f"COBRAS / {rival}: median {short(float(np.median(values)))} ({short(low)} to {short(high)}), "
            f"range {short(values.min())} to {short(values.max())} on {len(values)} tasks"
        )
        parts.append(Part(text, side((low, high), 1)))
    return Check(claim, rule, tuple(parts), "" if parts else "No other method of the paper ran.")


def cobs_before_the_first_query(summary: Summary) -> Check:
    """COBS is slow before the first query only."""
    at = min(TIMED_AT, summary.n_queries)
    claim = "COBS is slow before the first query only."
    rule = (
        f"In the median task more than half of the time until {at} queries passes before the first one, and "
        f"95 % of the answers take less than {INTERACTIVE:g} s."
    )
    if missing := _missing_methods(summary, "COBS"):
        return Check(claim, rule, (), missing)
    rows = [summary.rows("COBS", task.name) for task in summary.tasks]
    times = [np.median(summary.seconds[found][:, [0, at]], axis=0) for found in rows if len(found)]
    shares = np.array([first / total for first, total in times if total > 0])
    if not len(shares):
        return Check(claim, rule, (), "Its run times are too short to be measured.")
    low, high = median_interval(shares)
    text = (
        f"in the median task {percent(float(np.median(shares)))} ({percent(low)} to {percent(high)}) of the "
        f"time passes before the first query, range {percent(shares.min())} to {percent(shares.max())}"
    )
    return Check(claim, rule, (Part(text, above((low, high), 0.5)), _waiting_part(summary, "COBS")))


def interactive(summary: Summary) -> Check:
    """COBRAS is fast enough for a person who waits for the next question."""
    claim = "COBRAS is fast enough for interactive use."
    rule = f"On every task 95 % of the answers take less than {INTERACTIVE:g} s."
    if missing := _missing_methods(summary, "COBRAS"):
        return Check(claim, rule, (), missing)
    waits = {task.name: summary.waiting_times("COBRAS", task.name) for task in summary.tasks}
    slow = {task: float(np.percentile(found, 95)) for task, found in waits.items() if len(found)}
    if not slow:
        return Check(claim, rule, (), "COBRAS asked nothing.")
    worst = max(slow, key=lambda task: slow[task])
    text = f"on the slowest task, {worst}, 95 % take less than {duration(slow[worst])}"
    return Check(claim, rule, (_waiting_part(summary, "COBRAS"), Part(text, slow[worst] < INTERACTIVE)))


def anytime(summary: Summary) -> Check:
    """With many queries COBRAS ends above every COBRA."""
    last = 250
    claim = f"COBRAS goes on improving where COBRA has stopped: at {last} queries it is above every COBRA variant."
    rule = f"Its mean ARI at {last} queries is higher than that of each COBRA variant."
    if missing := _missing_methods(summary, "COBRAS") or _too_small_budget(summary, last):
        return Check(claim, rule, (), missing)
    variants = [m for m in METHODS if m.startswith("COBRA-") and summary.shared_tasks(("COBRAS", m))]
    parts = []
    for cobra in variants:
        lead, per_task = summary.difference("COBRAS", cobra, [last])
        parts.append(Part(f"COBRAS minus {cobra}: {_lead_text(lead, per_task)}", above(lead.interval, 0)))
    return Check(claim, rule, tuple(parts), "" if parts else "No COBRA variant ran.")


def _early_and_late_ranks(summary: Summary, ranking: Ranking, method: str) -> list[Part]:
    own = ranking.methods.index(method)
    # The mean of all ranks 1 to n_methods * n_tasks.
    middle = (len(ranking.methods) * len(ranking.tasks) + 1) / 2
    early, late = (ranking.ranks[own, part].mean() for part in (slice(1, FEW + 1), slice(MANY, None)))
    drawn_early = ranking.draws[:, own, 1 : FEW + 1].mean(axis=1)
    drawn_late = ranking.draws[:, own, MANY:].mean(axis=1)
    low, high = map(float, bootstrap_interval(early, drawn_early))
    text = f"rank of {method} at 1 to {FEW} queries: {early:.1f} ({low:.1f} to {high:.1f})"
    first = Part(f"{text}, average of all methods: {middle:.1f}", below((low, high), middle))
    low, high = map(float, bootstrap_interval(late - early, drawn_late - drawn_early))
    text = (
        f"its rank from {MANY} queries on: {late:.1f}, worse by {late - early:.1f} ({low:.1f} to {high:.1f})"
    )
    if share := summary.frozen_shares(method, ranking.tasks)[-1]:
        text += f"; {percent(share)} of its runs were cut off by the time limit"
    return [first, Part(text, above((low, high), 0))]


def _waiting_part(summary: Summary, method: str) -> Part:
    waits = summary.waiting_times(method)
    if not len(waits):
        return Part(f"{method} was given no answer", None)
    half, most, longest = np.percentile(waits, [50, 95, 100])
    text = (
        f"half of the answers take less than {duration(half)}, 95 % less than {duration(most)}, "
        f"the longest {duration(longest)}"
    )
    return Part(text, bool(most < INTERACTIVE))


def _missing_methods(summary: Summary, *methods: str) -> str:
    absent = [m for m in methods if not any(len(summary.rows(m, task.name)) for task in summary.tasks)]
    if absent:
        return f"{' and '.join(absent)} did not run."
    if len(methods) > 1 and not summary.shared_tasks(methods):
        return f"{' and '.join(methods)} have no task and fold in common."
    return ""


def _too_small_budget(summary: Summary, n: int) -> str:
    return f"The budget of {summary.n_queries} queries is less than {n}." if summary.n_queries < n else ""


def _lead_text(lead: Mean, per_task: FloatArray) -> str:
    return f"{plus_minus(lead)} (ahead on {int((per_task > 0).sum())} of {len(per_task)} tasks)"


def above(interval: tuple[float, float], bound: float) -> bool | None:
    """Whether a value with this interval lies above a bound; None if the bound is inside the interval.

    Examples
    --------
    >>> above((0.1, 0.3), 0), above((-0.3, -0.1), 0), above((-0.1, 0.3), 0)
    (True, False, None)
    """
    low, high = interval
    if low > bound:
        return True
    return False if high < bound else None


def below(interval: tuple[float, float], bound: float) -> bool | None:
    """Whether a value with this interval lies below a bound; None if the bound is inside the interval."""
    return above((-interval[1], -interval[0]), -bound)
