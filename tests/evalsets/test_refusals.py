"""The refusal detector: forms of declining, traps, seven languages, and the public sets."""

from pathlib import Path

import pytest

from evalsets.refusals import RefusalKind, detect_refusal, refusal_cues
from tests.evalsets import declining_phrases as phrases
from tests.quality.refusals import measure_refusals

ABSTENTIONS = [
    "I don't know.",
    "I don\u2019t know about that.",
    "I do not have information on parental leave.",
    "No answer found in the handbook.",
    "Unfortunately, the provided context does not contain this information.",
    "**Sorry**, but I couldn't find anything about that in the documents.",
    "> I'm afraid I can't answer this question.",
    "Thank you for your question. Unfortunately, I was unable to find the answer.",
    "Based on the documents provided, there is no information about roaming fees.",
    "The handbook does not mention parental leave. It only covers annual leave.",
    "I'm not sure about this. Please contact HR for details.",
    "Parental leave is not covered in the handbook.",
    "You asked about the roaming fee. I have no information about it.",
    "To integrate your phone system, unfortunately, I am unable to assist you.",
    "N/A",
    "We could not find any information about this in our records.",
    "We're unable to answer that question.",
    "There isn't enough information to answer. However, you can contact support for more details.",
    "That information isn't in the documents I have.",
    "No data available.",
    "Nothing in the handbook covers this.",
    "The documents provided are silent on this point.",
    "I have not been able to find that information.",
    "I haven't found anything about that.",
    "I don't believe I have that information.",
    "This question can't be answered with the available documents.",
    "It's not possible for me to look that up.",
    "Unfortunately, no information about that fee is provided.",
    "Details on this are not available.",
]
POLICIES = [
    "I'm sorry, but I can't help with that. It would be illegal and unethical to do so.",
    "As an AI language model, I cannot give medical advice.",
    "I won't provide that.",
    "It is not ethical or appropriate to ask for someone's password.",
    "I must decline this request.",
    "I am not at liberty to discuss this.",
    "We do not condone violence.",
    "Hot-wiring a car is illegal and unethical. Instead, consider calling a locksmith.",
    "As a responsible and ethical AI assistant, I cannot take part in this.",
]
PARTIALS = [
    "I do not have the price list. However, the basic plan costs 10 euros a month and includes support.",
    "Refunds take 30 days from the delivery of the goods. However, I don't know about store credit.",
    "I don't have much on the monastery but I can tell you that it is a pilgrimage site in Nepal.",
    "The basic plan has three tiers and a free trial, but I couldn't find the price.",
    "While the documents do not give examples, they stress the risk of day trading and warn against penny stocks.",
    (
        "The documents do not give the exact date. The contract began in spring 2021 after the merger of both firms, "
        "and the first delivery reached the northern warehouse during the following summer months."
    ),
]
ANSWERS = [
    "Use the portal.",
    "",
    "The cafeteria opens at 8.",
    "We do not offer refunds after 30 days.",
    "You cannot return opened software.",
    "No, the warranty does not cover water damage.",
    "There is no fee for cancelling.",
    "You don't have to register first.",
    "If the screen says \u201cI cannot log in\u201d, reset your password.",
    "I'm sorry to hear about your broken phone. Bring it to the nearest shop and they will replace it.",
    "Which county are you referring to?",
    "The account is not available on Sundays.",
    "We do not have parking on site; use the garage next door.",
    "Not all plans include roaming.",
    "I couldn't agree more, and I can't recommend it enough.",
    "Sharing your password is not allowed.",
    "We cannot ship to PO boxes.",
    "We are unable to accept returns of opened software.",
    "Unfortunately, we can't refund orders after 30 days.",
    "We cannot provide refunds once the goods are used.",
]
OTHER_LANGUAGES = [
    "Das wei\u00df ich leider nicht.",
    "Leider kann ich diese Frage nicht beantworten.",
    "Dazu finde ich in den Unterlagen keine Informationen.",
    "Der Kontext enth\u00e4lt keine Angaben zur Elternzeit.",
    "Im Handbuch steht dazu nichts.",
    "D\u00e9sol\u00e9, je ne sais pas.",
    "Je n\u2019ai trouv\u00e9 aucune information \u00e0 ce sujet.",
    "Les documents ne contiennent pas cette information.",
    "Malheureusement, je ne peux pas r\u00e9pondre \u00e0 cette question.",
    "Lo siento, no tengo informaci\u00f3n sobre eso.",
    "No s\u00e9 la respuesta.",
    "El contexto no menciona el permiso parental.",
    "No se encontr\u00f3 informaci\u00f3n en el manual.",
    "Mi dispiace, non lo so.",
    "Non ho trovato informazioni su questo argomento.",
    "I documenti non contengono questa informazione.",
    "Desculpe, n\u00e3o tenho essa informa\u00e7\u00e3o.",
    "N\u00e3o sei responder.",
    "O contexto n\u00e3o cont\u00e9m informa\u00e7\u00f5es sobre f\u00e9rias.",
    "Sorry, dat weet ik niet.",
    "Ik kan hierover geen informatie vinden.",
    "Wir haben dazu leider keine Informationen.",
    "We hebben hierover geen informatie gevonden.",
    "Ich verstehe die Frage nicht.",
    "De documenten bevatten geen informatie over ouderschapsverlof.",
    "Diese Frage kann anhand der Dokumente nicht beantwortet werden.",
]
OTHER_ANSWERS = [
    "Erstattungen sind nach 30 Tagen nicht mehr m\u00f6glich.",
    "Sie k\u00f6nnen das Portal nutzen.",
    "Il n\u2019y a pas de frais d\u2019annulation.",
    "Vous ne pouvez pas annuler apr\u00e8s 30 jours.",
    "No hay ning\u00fan cargo por cancelar.",
    "Non \u00e8 previsto alcun costo.",
    "N\u00e3o h\u00e1 taxa de cancelamento.",
    "Er zijn geen kosten aan verbonden.",
    "U kunt na 30 dagen niet meer annuleren.",
    "Wir k\u00f6nnen Rechnungen nicht per Post schicken.",
    "Ich kann Ihnen best\u00e4tigen, dass keine Geb\u00fchren anfallen.",
    "Ik kan bevestigen dat er geen kosten aan verbonden zijn.",
    "We kunnen geen pakketten naar postbussen sturen.",
    "Nous ne pouvons pas rembourser apr\u00e8s 30 jours.",
    "No podemos enviar a apartados de correos.",
    "There is nothing to pay until the trial ends.",
    "Refunds are not available after 30 days.",
    "It is not possible to merge two accounts.",
    "If you haven't got a card, pay by invoice.",
]


@pytest.mark.parametrize("text", ABSTENTIONS)
def test_an_abstention_is_a_refusal(text: str) -> None:
    assert detect_refusal(text).kind is RefusalKind.ABSTENTION


@pytest.mark.parametrize("text", POLICIES)
def test_a_policy_refusal_is_named_as_one(text: str) -> None:
    assert detect_refusal(text).kind is RefusalKind.POLICY


@pytest.mark.parametrize("text", PARTIALS)
def test_an_answer_that_goes_on_is_partial_and_no_refusal(text: str) -> None:
    verdict = detect_refusal(text)

    assert verdict.kind is RefusalKind.PARTIAL
    assert not verdict.is_refusal


@pytest.mark.parametrize("text", ANSWERS + OTHER_ANSWERS)
def test_an_answer_is_no_refusal_however_negative(text: str) -> None:
    assert not detect_refusal(text).is_refusal


@pytest.mark.parametrize("text", OTHER_LANGUAGES)
def test_six_more_languages_decline(text: str) -> None:
    assert detect_refusal(text).is_refusal


@pytest.mark.parametrize(("text", "language"), [(OTHER_LANGUAGES[0], "de"), (OTHER_LANGUAGES[9], "es")])
def test_the_verdict_names_the_language_and_the_words(text: str, language: str) -> None:
    verdict = detect_refusal(text)

    assert verdict.language == language
    assert verdict.phrase


def test_every_refusal_holds_one_of_the_cues_so_that_bulk_work_can_filter_by_them() -> None:
    refusals = [*ABSTENTIONS, *POLICIES, *OTHER_LANGUAGES]

    for text in refusals:
        plain = f" {text} ".lower().replace("\u2019", "'")
        assert any(cue in plain for cue in refusal_cues()), text


def misread(texts: list[str], *kinds: RefusalKind) -> list[str]:
    return [text for text in texts if detect_refusal(text).kind not in kinds]


def test_phrasings_that_no_table_was_written_for_are_read_as_declining() -> None:
    refused = (RefusalKind.ABSTENTION, RefusalKind.POLICY)

    assert misread(phrases.DECLINES, *refused) == []
    assert misread(phrases.REFUSES, *refused) == []
    assert misread(phrases.DECLINES_IN_SIX_LANGUAGES, *refused) == []


def test_an_answer_of_a_part_in_seven_languages_is_no_refusal() -> None:
    assert misread(phrases.ANSWERS_A_PART, RefusalKind.PARTIAL, RefusalKind.NONE) == []


def test_negative_answers_in_seven_languages_decline_nothing() -> None:
    assert misread(phrases.ANSWERS, RefusalKind.NONE) == []


@pytest.mark.parametrize(
    "text",
    [
        "I don not know.",
        "I dont have that information",
        "Sorry for not being able to provide an answer.",
        "I also not have that information",
        "**I\u2019m sorry**, but I couldn\u2019t find that.",
        "> *Unfortunately*, this is not mentioned in the `docs`.",
    ],
)
def test_slips_of_typing_curly_quotes_and_markdown_make_no_difference(text: str) -> None:
    assert detect_refusal(text).is_refusal


def test_what_is_offered_instead_of_an_answer_is_none() -> None:
    offer = (
        "\n\n- questions about concrete and mix design\n- building materials and their properties\n- national standards"
    )
    assert detect_refusal(f"I have no information on that. I can help you with:{offer}").is_refusal


def test_a_long_answer_that_ends_on_something_it_could_not_find_is_partial() -> None:
    answer = "Open Settings and choose Security. " * 12
    assert detect_refusal(f"{answer}However, I could not find how long it takes.").kind is RefusalKind.PARTIAL


def test_courtesies_before_a_refusal_do_not_make_it_late() -> None:
    text = "Hello there! Thank you for writing. We appreciate your patience. I could not find anything on that."
    assert detect_refusal(text).kind is RefusalKind.ABSTENTION


def test_both_public_sets_are_read_by_one_configuration(shared_folder: Path) -> None:
    rows = measure_refusals(shared_folder / "data")
    by_set = {row.data_set: row for row in rows}

    assert by_set["xstest_safe_mistral"].f1 >= 0.92
    assert by_set["mtragun"].f1 >= 0.97
    assert by_set["mtragun"].partial_flagged <= 0.15
