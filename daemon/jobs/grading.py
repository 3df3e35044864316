"""What grades mean, in sentences for the person who chooses a model."""

from __future__ import annotations

from daemon import wire
from memory.llm import PROBE_AGAIN, PROBE_EDITION, SLOW_QUESTION_S, Grades, Role
from plugins.llms import ModelInfo


def why_outdated(grades: Grades, current: ModelInfo) -> str:
    """Why these grades do not apply to the current model, as the end of a sentence; "" if they do."""
    if grades.version != current.version:
        return "graded as another version"
    return "graded with older tasks" if grades.edition != PROBE_EDITION else ""


def warn_of_age(name: str, grades: Grades | None, current: ModelInfo) -> str:
    """A sentence if the grades no longer count."""
    why = why_outdated(grades, current) if grades else ""
    return f"{name} was {why}. Grade it again: {PROBE_AGAIN} {name}" if why else ""


def warn_of_choice(role: Role, name: str, grades: Grades | None, current: ModelInfo) -> list[str]:
    """Warnings for a person who chooses that model for a role."""
    if grades is None:
        return [f"{name} was never graded, so its quality is unknown: {PROBE_AGAIN} {name}"]
    if aged := warn_of_age(name, grades, current):
        return [aged]
    warnings = []
    if bad := grades.shortcomings(role):
        warnings.append(f"{name} has not passed its probe for {role}: {'; '.join(bad)}.")
    if role != "extract" and grades.question_s >= SLOW_QUESTION_S:
        warnings.append(f"With {name} a question will take about {grades.question_s:.0f} seconds.")
    return warnings


def describe_model(
    name: str, info: ModelInfo, grades: Grades | None, tokens: int, roles: tuple[str, ...]
) -> wire.ModelRow:
    """A model that can be reached, with the tokens that it took today and the roles that it has."""
    return wire.ModelRow(
        name,
        info.is_local,
        info.context_tokens,
        info.size,
        tokens,
        roles,
        outdated=grades is not None and bool(why_outdated(grades, info)),
        grades=grades,
    )
