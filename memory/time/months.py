"""The names of the months, as people write them in twenty languages, with and without accents."""

from __future__ import annotations

import unicodedata

from memory.text.unicode import strip_accents

_NAMES = (
    "january jan januari januar jänner janvier janv enero gennaio gen janeiro januára stycznia styczeń ledna leden"
    " január tammikuu tammikuuta ianuarie ocak января январь январе ιανουαρίου ιανουάριος ιανουάριο يناير ינואר בינואר"
    " जनवरी มกราคม",
    "february feb februari februar februára février févr fevrier febrero febbraio fevereiro fev lutego luty února únor"
    " február helmikuu helmikuuta februarie şubat февраля февраль феврале φεβρουαρίου φεβρουάριος φεβρουάριο فبراير"
    " פברואר בפברואר फ़रवरी फरवरी กุมภาพันธ์",
    "march mar maart marts mrt märz maerz mars marzo março marca marzec března březen március maaliskuu maaliskuuta"
    " martie mart марта март марте μαρτίου μάρτιος μάρτιο مارس מרץ במרץ मार्च มีนาคม",
    "april apr avril avr abril abr aprile kwietnia kwiecień dubna duben április huhtikuu huhtikuuta aprilie nisan"
    " апреля апрель апреле απριλίου απρίλιος απρίλιο أبريل ابريل אפריל באפריל अप्रैल เมษายน",
    "may mei mai maj maja mayo maggio maio května květen május toukokuu toukokuuta mayıs мая май мае μαΐου μάιος μάιο"
    " مايو מאי במאי मई พฤษภาคม",
    "june jun juni juin junio giugno junho czerwca czerwiec června červen június kesäkuu kesäkuuta iunie haziran"
    " июня июнь июне ιουνίου ιούνιος ιούνιο يونيو יוני ביוני जून มิถุนายน",
    "july jul juli juillet juil julio luglio julho lipca lipiec července červenec július heinäkuu heinäkuuta iulie"
    " temmuz июля июль июле ιουλίου ιούλιος ιούλιο يوليو יולי ביולי जुलाई กรกฎาคม",
    "august aug augustus août aout agosto ago sierpnia sierpień srpna srpen augusztus elokuu elokuuta ağustos"
    " августа август августе αυγούστου αύγουστος αύγουστο أغسطس אוגוסט באוגוסט अगस्त สิงหาคม",
    "september sep sept septembre septiembre settembre setembro września wrzesień září szeptember syyskuu syyskuuta"
    " septembrie eylül сентября сентябрь сентябре σεπτεμβρίου σεπτέμβριος σεπτέμβριο سبتمبر ספטמבר בספטמבר सितंबर"
    " सितम्बर กันยายน",
    "october oct oktober okt octobre octubre ottobre outubro października październik října říjen október lokakuu"
    " lokakuuta octombrie ekim октября октябрь октябре οκτωβρίου οκτώβριος οκτώβριο أكتوبر אוקטובר באוקטובר अक्टूबर"
    " अक्तूबर ตุลาคม",
    "november nov novembre noviembre novembro listopada listopad listopadu marraskuu marraskuuta noiembrie kasım"
    " ноября ноябрь ноябре νοεμβρίου νοέμβριος νοέμβριο نوفمبر נובמבר בנובמבר नवंबर नवम्बर พฤศจิกายน",
    "december dec dezember dez desember des décembre déc decembre diciembre dic dicembre dezembro grudnia grudzień"
    " prosince prosinec joulukuu joulukuuta decembrie aralık декабря декабрь декабре δεκεμβρίου δεκέμβριος δεκέμβριο"
    " ديسمبر דצמבר בדצמבר दिसंबर दिसम्बर ธันวาคม",
)
MONTHS = {
    name: number
    for number, names in enumerate(_NAMES, 1)
    for written in names.split()
    for name in (written, strip_accents(written))
}


def month_of(name: str) -> int | None:
    """1 to 12 for the name of a month, also with letters that patterns take for others whatever their case: ſ, ı."""
    lower = name.lower()
    return MONTHS.get(lower) or MONTHS.get(strip_accents(unicodedata.normalize("NFKC", lower)))
