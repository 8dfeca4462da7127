import pytest

from ingest.traces.texts import answer_in, question_in

MESSAGES = [
    {"role": "system", "content": "Answer from the context."},
    {"role": "user", "content": "And before?"},
    {"role": "assistant", "content": "Before that, nothing."},
    {"role": "user", "content": "Where is my invoice?"},
]


@pytest.mark.parametrize(
    "logged",
    [
        "Where is my invoice?",
        {"question": "Where is my invoice?", "user": "u1", "session": "s1"},
        '{"input": "Where is my invoice?"}',
        MESSAGES,
        {"messages": MESSAGES},
        {"messages": [MESSAGES]},
        {"input": {"messages": MESSAGES}},
        [{"role": "user", "parts": [{"type": "text", "content": "Where is my invoice?"}]}],
        [{"role": "user", "content": [{"type": "text", "text": "Where is my invoice?"}, {"type": "image_url"}]}],
        [["human", "Where is my invoice?"]],
        {
            "messages": [
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "schema", "messages", "HumanMessage"],
                    "kwargs": {"content": "Where is my invoice?", "type": "human"},
                }
            ]
        },
        [{"type": "human", "data": {"content": "Where is my invoice?"}}],
        {"data": {"embedder": {"text": "Where is my invoice?"}, "builder": {"question": "Where is my invoice?"}}},
        {"args": ["Where is my invoice?"]},
        {"query_bundle": {"query_str": "Where is my invoice?", "embedding": None}},
        {"whatever": "Where is my invoice?", "user_id": "u1", "locale": "de"},
        {"m": ["content='Hi' additional_kwargs={}", "content='Where is my invoice?' additional_kwargs={}"]},
        {"m": ["content=[{'type': 'text', 'text': 'Where is my invoice?'}, {'type': 'image'}] additional_kwargs={}"]},
    ],
)
def test_the_last_user_message_is_found_in_every_shape(logged: object) -> None:
    assert question_in(logged) == "Where is my invoice?"


@pytest.mark.parametrize(
    "logged",
    [
        *("", "null", "__REDACTED__", '{"input": ""}', {"input": ""}, [], {}, None, 3, "{}"),
        *("<generator object>", "<async_generator object Chain.astream at 0x7f0e1c>", "<app.Reply object at 0x7f0e1c>"),
        *({"ev": "RetrievedEvent(nodes=[])"}, {"response": "<generator object>"}),
    ],
)
def test_blanks_and_hidden_content_ask_nothing(logged: object) -> None:
    assert question_in(logged) is None
    assert answer_in(logged) is None


def test_a_user_message_that_spells_an_empty_json_object_asks_nothing() -> None:
    assert question_in([{"role": "user", "parts": [{"type": "text", "content": '{"input": ""}'}]}]) is None


def test_a_question_in_braces_that_is_no_json_stays_as_it_is() -> None:
    assert question_in("{braces} what is that?") == "{braces} what is that?"


@pytest.mark.parametrize(
    "logged",
    [
        "Under Billing.",
        {"answer": "Under Billing.", "context": [{"page_content": "x"}]},
        {"output": {"answer": "Under Billing."}},
        {"messages": [*MESSAGES, {"role": "assistant", "content": "Under Billing."}]},
        {"choices": [{"message": {"role": "assistant", "content": "Under Billing."}, "finish_reason": "stop"}]},
        {"generations": [[{"text": "Under Billing.", "generation_info": None, "message": {"lc": 1}}]]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Under Billing."}]}}]},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Under Billing."}],
        },
        {
            "output": [
                {"type": "reasoning"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Under Billing."}],
                },
            ]
        },
        [{"role": "assistant", "parts": [{"type": "text", "content": "Under Billing."}], "finish_reason": "stop"}],
        {
            "retriever": {"documents": [{"content": "no"}]},
            "llm": {"replies": ["Under Billing."], "meta": [{"model": "m"}]},
        },
        {
            "llm": {
                "replies": [
                    "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='Under Billing.')]"
                ]
            }
        },
        {"response": "Under Billing.", "source_nodes": ["<NodeWithScore(node=TextNode(id_=1), score=0.5)>"]},
        "content='Under Billing.' additional_kwargs={} response_metadata={}",
        "StopEvent(result='Under Billing.')",
        "StopEvent(result={'answer': 'Under Billing.', 'sources': ['kb-1']})",
        ["Under ", "Billing."],
        {
            "raw": "Under Billing.",
            "pydantic": None,
            "json_dict": None,
            "tasks_output": [
                {"raw": "Under Billing.", "messages": [{"role": "assistant", "content": "Thought: look"}]}
            ],
        },
    ],
)
def test_the_last_assistant_text_is_found_in_every_shape(logged: object) -> None:
    assert answer_in(logged) == "Under Billing."


def test_a_response_without_a_text_says_nothing() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "search"}}]}
    assert answer_in({"id": "x", "object": "chat.completion", "model": "m", "choices": [{"message": call}]}) is None
    assert answer_in({"id": "x", "object": "response", "output": [{"type": "function_call", "name": "f"}]}) is None
    assert answer_in({"error": {"message": "The model timed out."}}) is None


def test_a_model_that_declines_says_so() -> None:
    declined = {"role": "assistant", "content": None, "refusal": "I cannot help."}
    assert answer_in({"choices": [{"message": declined}]}) == "I cannot help."


def test_a_tool_call_says_nothing() -> None:
    assert answer_in([{"role": "assistant", "content": None, "tool_calls": [{"name": "search"}]}]) is None
    assert (
        answer_in([{"role": "assistant", "parts": [{"type": "tool_call", "name": "search", "arguments": {}}]}]) is None
    )


def test_retrieved_documents_are_not_taken_for_an_answer() -> None:
    assert answer_in({"documents": [{"page_content": "To reset a password, open Settings."}]}) is None


def test_deeply_nested_values_end_without_an_error() -> None:
    value: object = "x"
    for _ in range(200):
        value = {"input": value}
    assert question_in(value) is None


def test_a_printed_result_that_was_shortened_beyond_reading_is_no_answer() -> None:
    assert answer_in("StopEvent(result={'answer': 'Under Bil...', ...})") is None
