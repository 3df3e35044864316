"""What grades mean, in sentences for the person who chooses a model."""

from __future__ import annotations

from daemon import wire
from memory.llm import PROBE_EDITION, ROLES, Grades, Role
from memory.time.timestamps import from_ms
from plugins.llms import ModelInfo

SLOW_QUESTION_S = 20.0  # from which a person is warned beforehand
AGAIN = "pal models probe"


def why_outdated(grades: Grades, current: ModelInfo) -> str:
    """Why these grades do not apply to the current model, as the end of a sentence; "" if they do."""
    if grades.version != current.version:
        return "graded as another version"
    return "graded with older tasks" if grades.edition != PROBE_EDITION else ""


def warn_of_age(name: str, grades: Grades | None, current: ModelInfo) -> str:
    """A sentence if the grades no longer count."""
    why = why_outdated(grades, current) if grades else ""
    return f"{name} was {why}. Grade it again: {AGAIN} {name}" if why else ""


def warn_of_choice(role: Role, name: str, grades: Grades | None, current: ModelInfo) -> list[str]:
    """Warnings for a person who chooses that model for a role."""
    if grades is None:
        return [f"{name} was never graded, so its quality is unknown: {AGAIN} {name}"]
    if aged := warn_of_age(name, grades, current):
        return [aged]
    warnings = []
    if bad := grades.shortcomings(role):
        warnings.append(f"{name} has not passed its probe for {role}: {'; '.join(bad)}.")
    if role != "extract" and grades.question_s >= SLOW_QUESTION_S:
        warnings.append(f"With {name} a question will take about {grades.question_s:.0f} seconds.")
    return warnings


def describe_grades(grades: Grades) -> wire.Graded:
    """The grades with their meaning."""
    return wire.Graded(
        name=grades.name,
        at=from_ms(grades.at),
        reads=grades.reads,
        decides=grades.decides,
        answers=grades.answers,
        refuses=grades.refuses,
        tools=grades.tools,
        tokens_per_s=grades.tokens_per_s,
        first_s=grades.first_s,
        context=grades.context,
        question_s=grades.question_s,
        by_role=tuple(_describe_role(role, grades) for role in ROLES),
        advice=_advise(grades),
        notes=grades.notes,
        problem=grades.problem,
        tokens=grades.usage.total,
    )


def _describe_role(role: Role, grades: Grades) -> str:
    bad = grades.shortcomings(role)
    return f"{role}: {'no, ' + '; '.join(bad) if bad else 'yes'}"


def _advise(grades: Grades) -> str:
    fit = [role for role in ROLES if grades.fits(role)]
    unfit = [role for role in ROLES if role not in fit]
    if not fit:
        return (
            f"Grade it again: {AGAIN} {grades.name}"
            if grades.problem
            else "Not good enough for any role; try a larger model."
        )
    advice = f"Use it for {', '.join(fit)}" + (f"; for {', '.join(unfit)} try a larger one, or none." if unfit else ".")
    if grades.question_s >= SLOW_QUESTION_S and "answer" in fit:
        advice += f" A question will take about {grades.question_s:.0f} seconds."
    return advice


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
        grades=describe_grades(grades) if grades else None,
    )
