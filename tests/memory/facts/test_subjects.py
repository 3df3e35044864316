"""Of whom a sentence says something: a fact of another person is not learnt."""

from __future__ import annotations

import pytest

from tests.memory.facts.replies import learnt, triple

MIRA = "Mira Okafor"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Rent of the flat: 560. Sam pays 610 for his.", ("Sam", "pays", "560", "Sam pays 610 for his")),
        ("Mira lives in Porto with Ana. Call Mira.", ("owner", "lives_in", "Porto", "Mira lives in Porto")),
        ("They moved to Porto.", ("they", "live_in", "Porto", "They moved to Porto")),
        ("She moved to Porto.", ("Mira", "lives_in", "Porto", "She moved to Porto")),
        ("It was raised to 25.", ("hall rate", "is", "25", "raised to 25")),
        ("The hall is let for 25 now.", ("boat house", "rent", "25", "The hall is let for 25 now")),
    ],
)
def test_the_value_of_another_subject_is_not_learnt(text: str, fact: tuple[str, str, str, str]) -> None:
    assert not learnt(text, triple(*fact))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Moved to Leipzig last Friday, flat with two rooms.", ("owner", "moved_on", "2024-05-31", "last Friday")),
        ("Fen's first day as RA.", ("Fen", "works_as", "research assistant", "Fen's first day as RA")),
        ("Choir: Tue 19:00.", ("choir", "meets", "Tuesdays at 19", "Choir: Tue 19:00")),
        ("The hall rate was 22. It was raised to 25.", ("hall rate", "is", "25", "raised to 25")),
        ("Bus 12 goes to Riga? It does, at 9.", ("bus 12", "leaves_at", "9", "It does, at 9")),
        ("The van is in Bonn, perhaps until May.", ("van", "is_in", "Bonn", "The van is in Bonn")),
        ("| Odile Pike | Riga |", ("Odile", "lives_in", "Riga", "| Odile Pike | Riga |")),
        ("Service in Feb and Aug.", ("owner", "has_service_in", "February and August", "Feb and Aug")),
    ],
)
def test_what_is_said_in_other_words_is_learnt(text: str, fact: tuple[str, str, str, str]) -> None:
    assert learnt(text, triple(*fact))


@pytest.mark.parametrize(
    ("text", "fact", "is_learnt"),
    [
        ("Her sister Petra lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Her sister Petra lives in Oslo.", ("Petra", "lives_in", "Oslo"), True),
        ("Her sister Petra lives in Oslo.", (MIRA, "has_sister", "Petra"), True),
        ("Petra, her sister, lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Sister: Petra lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Mira's sister Petra lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Her brother's firm Nordlys employs 40 people.", (MIRA, "employs", "40 people"), False),
        ("Ihre Schwester Petra wohnt in Oslo.", (MIRA, "wohnt in", "Oslo"), False),
        ("Her flat in Oslo costs 900.", (MIRA, "pays_rent", "900"), True),
        ("She lives in Oslo.", (MIRA, "lives_in", "Oslo"), True),
        ("- city: Oslo", (MIRA, "lives_in", "Oslo"), True),
    ],
)
def test_a_title_is_the_subject_only_of_a_sentence_without_one(
    text: str, fact: tuple[str, str, str], is_learnt: bool
) -> None:
    assert learnt(text, triple(*fact, text.rstrip(".")), title=MIRA) == is_learnt


def test_what_somebody_says_is_learnt_as_a_supposition() -> None:
    text = "Mira says that Tom lives in Oslo."
    assert learnt(text, triple("Tom", "lives_in", "Oslo", text) | {"modality": "hypothesis"}, title=MIRA)


@pytest.mark.parametrize(
    ("text", "fact", "is_learnt"),
    [
        ("Last year her boss Anna Lind moved to Oslo.", (MIRA, "moved_to", "Oslo"), False),
        ("Last year her boss Anna Lind moved to Oslo.", ("Anna Lind", "moved_to", "Oslo"), True),
        ("In May her brother Tom bought a house in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Since 2019 her sister Petra Holm works at Nordlys.", (MIRA, "works_at", "Nordlys"), False),
        ("In the spring Mira's landlord Carl Voss sold the flat to Ana.", (MIRA, "sold_flat_to", "Ana"), False),
        ("After the wedding her cousin Jonas moved to Bergen.", (MIRA, "lives_in", "Bergen"), False),
        ("Two weeks ago her neighbour, Ida Brun, moved to Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Her former colleague from the harbour office Anna Lind moved to Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("According to the paper her old teacher Olav Dahl died in Oslo.", (MIRA, "died_in", "Oslo"), False),
        ("Her boss moved to Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Her sister works at Nordlys.", (MIRA, "works_at", "Nordlys"), False),
        ("Mira's boss moved to Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Last year Mira's boss moved to Oslo.", (MIRA, "lives_in", "Oslo"), False),
        (
            "Mira Okafor's daughter is called Lena and goes to school in Oslo.",
            (MIRA, "goes_to_school_in", "Oslo"),
            False,
        ),
        ("Mira says that Tom lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Mira says that Tom lives in Oslo.", ("Tom", "lives_in", "Oslo"), False),
        ("Mira says Tom lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Mira said that her brother moved to Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Mira thinks Anna Lind works at Nordlys.", (MIRA, "works_at", "Nordlys"), False),
        ("Mira thinks Anna Lind works at Nordlys.", ("Anna Lind", "works_at", "Nordlys"), False),
        ("Mira heard that Petra sold the boat to Jonas.", (MIRA, "sold_boat_to", "Jonas"), False),
        ("Tom claims that Mira works at Nordlys.", (MIRA, "works_at", "Nordlys"), False),
        ("Tom claims that Mira works at Nordlys.", ("Tom", "works_at", "Nordlys"), False),
        ("Tom told me that Mira moved to Oslo.", ("Tom", "moved_to", "Oslo"), False),
        ("I heard from Mira that Tom lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Mira says she lives in Oslo.", ("Tom", "lives_in", "Oslo"), False),
        ("Mira met Tom, who lives in Oslo.", (MIRA, "lives_in", "Oslo"), False),
        ("Mira rents from Carl Voss, who works at Nordlys.", (MIRA, "works_at", "Nordlys"), False),
        ("Mira wrote to Anna, whose firm is in Oslo.", (MIRA, "works_in", "Oslo"), False),
        ("Letztes Jahr zog ihre Chefin Anna Lind nach Oslo.", (MIRA, "wohnt in", "Oslo"), False),
        ("Mira sagt, dass Tom in Oslo wohnt.", (MIRA, "wohnt in", "Oslo"), False),
        ("Mira sagt, Tom wohnt in Oslo.", (MIRA, "wohnt in", "Oslo"), False),
        ("Miras Chefin Anna Lind wohnt in Oslo.", (MIRA, "wohnt in", "Oslo"), False),
        ("Seit Mai arbeitet ihr Bruder Tom bei Nordlys.", (MIRA, "arbeitet bei", "Nordlys"), False),
        ("L'an dernier sa sœur Petra a déménagé à Oslo.", (MIRA, "habite à", "Oslo"), False),
        ("Mira dit que Tom habite à Oslo.", (MIRA, "habite à", "Oslo"), False),
        ("Sa cheffe Anna Lind habite à Oslo.", (MIRA, "habite à", "Oslo"), False),
        ("El año pasado su jefa Anna Lind se mudó a Oslo.", (MIRA, "vive en", "Oslo"), False),
        ("Mira dice que Tom vive en Oslo.", (MIRA, "vive en", "Oslo"), False),
        ("Vorig jaar verhuisde haar bazin Anna Lind naar Oslo.", (MIRA, "woont in", "Oslo"), False),
        ("Mira zegt dat Tom in Oslo woont.", (MIRA, "woont in", "Oslo"), False),
        ("Mira dice che Tom abita a Oslo.", (MIRA, "abita a", "Oslo"), False),
        ("The boss of Mira moved to Oslo.", (MIRA, "moved_to", "Oslo"), False),
        ("The father of Mira died in 2019.", (MIRA, "died_in", "2019"), False),
        ("Mira traf Tom, der in Oslo wohnt.", (MIRA, "wohnt in", "Oslo"), False),
        ("Mira hat eine Schwester, die in Oslo wohnt.", (MIRA, "wohnt in", "Oslo"), False),
        ("Miras Bruder wohnt in Kiel.", (MIRA, "wohnt in", "Kiel"), False),
        ("Mira's dog Brisko weighs 12 kilos.", (MIRA, "weighs", "12 kilos"), False),
        ("Mira told me her mother moved to Lyon.", (MIRA, "moved_to", "Lyon"), False),
        ("Mira reminded me his landlord lives in Turin.", (MIRA, "lives_in", "Turin"), False),
        ("Mira wrote to us her uncle sold the boat to Jonas.", (MIRA, "sold_boat_to", "Jonas"), False),
        ("Mira erzählte mir, ihre Mutter zog nach Lyon.", (MIRA, "zog nach", "Lyon"), False),
        ("Seit 2019 arbeitet ihr Vermieter bei Nordlys.", (MIRA, "arbeitet bei", "Nordlys"), False),
        ("Sein Onkel verkaufte das Boot an Jonas.", (MIRA, "verkaufte Boot an", "Jonas"), False),
        ("Son frère habite à Lyon.", (MIRA, "habite à", "Lyon"), False),
        ("Sa tante travaille chez Nordlys.", (MIRA, "travaille chez", "Nordlys"), False),
        ("Depuis mai son cousin travaille chez Nordlys.", (MIRA, "travaille chez", "Nordlys"), False),
        ("Su hermano vive en Vigo.", (MIRA, "vive en", "Vigo"), False),
        ("Desde mayo su vecino trabaja en Nordlys.", (MIRA, "trabaja en", "Nordlys"), False),
        ("Suo fratello abita a Torino.", (MIRA, "abita a", "Torino"), False),
        ("La sua vicina lavora da Nordlys.", (MIRA, "lavora da", "Nordlys"), False),
        ("Sinds mei werkt zijn broer bij Nordlys.", (MIRA, "werkt bij", "Nordlys"), False),
        ("Seu irmão mora em Faro.", (MIRA, "mora em", "Faro"), False),
        ("Leider verlor ihr Neffe die Stelle bei Nordlys.", (MIRA, "verlor Stelle bei", "Nordlys"), False),
        ("Vorige week kocht haar oom een boot in Hoorn.", (MIRA, "kocht boot in", "Hoorn"), False),
        ("Sus padres compraron una casa en Lugo.", (MIRA, "compró casa en", "Lugo"), False),
        ("Os seus filhos estudam no Porto.", (MIRA, "estuda no", "Porto"), False),
        ("Ieri i suoi amici partirono per Bari.", (MIRA, "partì per", "Bari"), False),
        ("Mora com os seus pais em Braga.", (MIRA, "mora em", "Braga"), True),
        ("Abita con i suoi genitori a Bari.", (MIRA, "abita a", "Bari"), True),
        ("Verlor ihre Schlüssel in Kiel.", (MIRA, "verlor Schlüssel in", "Kiel"), True),
        ("Elle habite chez son frère à Lyon.", (MIRA, "habite à", "Lyon"), True),
        ("Son appartement coûte 900.", (MIRA, "paie pour appartement", "900"), True),
        ("Son numéro de téléphone est 555 1234.", (MIRA, "téléphone", "555 1234"), True),
        ("Sa cheffe est Anna Lind.", (MIRA, "a pour cheffe", "Anna Lind"), True),
        ("Mira vive con su hermano en Vigo.", (MIRA, "vive en", "Vigo"), True),
        ("Mira gave me her old bicycle in Oslo.", (MIRA, "gave_bicycle_in", "Oslo"), True),
        ("Mira has a dog called Brisko.", (MIRA, "has_dog", "Brisko"), True),
        ("Mira, my neighbour, works at Nordlys.", (MIRA, "works_at", "Nordlys"), True),
        ("Mira's flat costs 900.", (MIRA, "pays_for_flat", "900"), True),
        ("Tom and Mira live in Porto.", (MIRA, "lives_in", "Porto"), True),
        ("Ilse told me the ferry pass is 61.", ("ferry pass", "costs", "61"), True),
        ("Since 2019 Mira lives in Oslo.", (MIRA, "lives_in", "Oslo"), True),
        ("Last year Mira moved to Oslo.", (MIRA, "moved_to", "Oslo"), True),
        ("Last year she moved to Oslo.", (MIRA, "moved_to", "Oslo"), True),
        ("Mira lives with her sister Petra in Oslo.", (MIRA, "lives_in", "Oslo"), True),
        ("Her boss is Anna Lind.", (MIRA, "has_boss", "Anna Lind"), True),
        ("Last year her boss Anna Lind moved to Oslo.", (MIRA, "has_boss", "Anna Lind"), True),
        ("In 2019 the firm Nordlys hired her.", (MIRA, "hired_by", "Nordlys"), True),
        ("Her phone number is 555 1234.", (MIRA, "phone", "555 1234"), True),
        ("Her flat in Oslo costs 900.", (MIRA, "pays_rent", "900"), True),
        ("Her rent went up to 900.", (MIRA, "pays_rent", "900"), True),
        ("Seit 2019 wohnt Mira in Oslo.", (MIRA, "wohnt in", "Oslo"), True),
        ("Sie wohnt seit Mai in Oslo.", (MIRA, "wohnt in", "Oslo"), True),
        ("Mira wohnt mit ihrer Schwester Petra in Oslo.", (MIRA, "wohnt in", "Oslo"), True),
        ("Anna Lind hired Mira in Oslo.", ("Anna Lind", "hired", "Mira"), True),
        ("Mira met Tom, who lives in Oslo.", ("Tom", "lives_in", "Oslo"), True),
        ("Mira, who lives in Oslo, works at Nordlys.", (MIRA, "lives_in", "Oslo"), True),
        ("Mira, who lives in Oslo, works at Nordlys.", (MIRA, "works_at", "Nordlys"), True),
        ("She visited her sister Petra Holm in Oslo.", (MIRA, "was_in", "Oslo"), True),
        ("Lives with her sister Petra in Oslo.", (MIRA, "lives_in", "Oslo"), True),
        ("Her flat at the harbour costs 900.", (MIRA, "pays_rent", "900"), True),
        ("Her flat (900).", (MIRA, "pays_rent", "900"), True),
        ("The studio's rent is 940 euros a month.", ("studio", "costs_per_month", "940 euros"), True),
        ("Mira's talk at Nordlys: ten minutes.", (MIRA, "speaks_for", "ten minutes"), True),
        ("I heard from Ana that Mira lives in Oslo.", (MIRA, "lives_in", "Oslo"), True),
        ("It turned out that Mira lives in Oslo.", (MIRA, "lives_in", "Oslo"), True),
    ],
)
def test_what_somebody_says_and_what_is_another_persons_is_not_learnt(
    text: str, fact: tuple[str, str, str], is_learnt: bool
) -> None:
    """The subject of the nearest clause has the value: a person who is named by whose they are, the name before "who";
    what somebody says is not asserted."""
    assert learnt(text, triple(*fact, text.rstrip(".")), title=MIRA) == is_learnt


@pytest.mark.parametrize(
    ("text", "fact", "is_learnt"),
    [
        ("Your hours go to 30 a week.", ("Ada Brook", "works", "30 a week", "Your hours go to 30"), True),
        ("Ada Brook sings. Mira lives in Porto.", ("Ada Brook", "lives_in", "Porto", "Mira lives in Porto"), False),
        ("The hall is let for 25 now.", ("Ada Brook", "costs", "25", "The hall is let for 25 now"), False),
    ],
)
def test_the_owner_by_name_is_meant_as_the_owner(text: str, fact: tuple[str, str, str, str], is_learnt: bool) -> None:
    assert learnt(text, triple(*fact), ["Ada Brook"]) == is_learnt


@pytest.mark.parametrize(
    ("text", "fact", "is_learnt"),
    [
        ("- Talk on R Leonis. Talk for 11 people.", ("owner", "gave_talk", "11 people", "Talk on R Leonis"), True),
        ("- Talk on R Leonis. Tea for 11 people.", ("owner", "gave_talk", "11 people", "Talk on R Leonis"), False),
        ("- Talk on R Leonis.\n- Talk for 11 people.", ("owner", "gave_talk", "11 people", "Talk on R Leonis"), False),
    ],
)
def test_a_quote_counts_with_its_line(text: str, fact: tuple[str, str, str, str], is_learnt: bool) -> None:
    assert learnt(text, triple(*fact)) == is_learnt
