"""The names of the months, as people write them in ten languages."""

from __future__ import annotations

_NAMES = (
    "january jan januari januar jänner janvier janv enero gennaio gen janeiro januára stycznia styczeń",
    "february feb februari februar februára février févr fevrier febrero febbraio fevereiro fev lutego luty",
    "march mar maart marts mrt märz maerz mars marzo março marca marzec",
    "april apr avril avr abril abr aprile kwietnia kwiecień",
    "may mei mai maj maja mayo maggio maio",
    "june jun juni juin junio giugno junho czerwca czerwiec",
    "july jul juli juillet juil julio luglio julho lipca lipiec",
    "august aug augustus août aout agosto ago sierpnia sierpień",
    "september sep sept septembre septiembre settembre setembro września wrzesień",
    "october oct oktober okt octobre octubre ottobre outubro października październik",
    "november nov novembre noviembre novembro listopada listopad",
    "december dec dezember dez desember des décembre déc decembre diciembre dic dicembre dezembro grudnia grudzień",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
