"""API tokens: authentication, creation, use and revocation. Source: conventions, Tokens."""

import hashlib
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

import build
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.security import tokens
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as users_writes
from silverball.store import tables
from silverball.store.database.engine import Store

NOW = build.NOW


def a_token(store: Store, user_id: int, seed: int = 7, **values: object) -> users_writes.IssuedToken:
    with store.write() as transaction:
        db = transaction.connection
        return users_writes.create_token(db, user_id, "Score board", now=NOW, dice=Random(seed), **values)  # type: ignore[arg-type]  # a builder passes on what it is given


def find(store: Store, text: str, later: timedelta = timedelta()) -> AuthenticatedCaller | None:
    with store.read() as db:
        return users_reads.find_caller(db, b"Bearer " + text.encode(), NOW + later)


def test_a_new_token_authenticates_its_user(store: Store) -> None:
    user_id = build.a_user(store)
    found = find(store, a_token(store, user_id).text)
    assert found is not None
    assert (found.user_id, found.role, found.ability, found.has_opt_outs) == (
        user_id,
        "player",
        "read",
        False,
    )


@pytest.mark.both_databases
def test_the_part_after_the_bar_is_enough(store: Store) -> None:
    user_id = build.a_user(store)
    found = find(store, a_token(store, user_id).text.partition("|")[2])
    assert found is not None
    assert found.user_id == user_id


def test_only_the_sha_256_of_the_secret_is_stored(store: Store) -> None:
    made = a_token(store, build.a_user(store))
    secret = made.text.partition("|")[2]
    with store.read() as db:
        stored = db.execute(select(tables.token)).mappings().one()
    assert stored["hash"] == hashlib.sha256(secret.encode()).hexdigest()
    assert secret[4:] not in str(dict(stored))


@pytest.mark.parametrize("scheme", [b"Bearer ", b"bearer ", b"BEARER ", b"Bearer   "])
def test_the_scheme_is_read_in_any_case(store: Store, scheme: bytes) -> None:
    made = a_token(store, build.a_user(store))
    with store.read() as db:
        assert users_reads.find_caller(db, scheme + made.text.encode(), NOW) is not None


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Bearer",
        b"Bearer ",
        b"Basic dXNlcjpwYXNz",
        b"Bearer slv_",
        b"Bearer 1|",
        b"Bearer \xff\xfe",
        b"Bearer " + b"9" * 400,
        b"Bearer 99999999999999999999|slv_" + b"a" * 48,
    ],
)
def test_a_malformed_header_authenticates_no_user(store: Store, header: bytes) -> None:
    with store.read() as db:
        assert users_reads.find_caller(db, header, NOW) is None


def test_a_well_formed_unknown_token_authenticates_no_user(store: Store) -> None:
    made = a_token(store, build.a_user(store))
    stranger = tokens.new_secret(Random(8))
    assert find(store, tokens.full_token(made.token_id, stranger)) is None
    assert find(store, tokens.full_token(made.token_id + 1, made.text.partition("|")[2])) is None
    assert find(store, stranger) is None


def test_an_expired_token_is_invalid_from_the_second_it_expires(store: Store) -> None:
    made = a_token(store, build.a_user(store), expires_days=2)
    assert find(store, made.text, timedelta(days=2, seconds=-1)) is not None
    assert find(store, made.text, timedelta(days=2)) is None


def test_a_revoked_token_authenticates_no_user(store: Store) -> None:
    made = a_token(store, build.a_user(store))
    with store.write() as transaction:
        users_writes.revoke_token(transaction, made.token_id, now=NOW)
    assert find(store, made.text) is None


def test_a_user_cannot_revoke_the_token_of_another(store: Store) -> None:
    made = a_token(store, build.a_user(store))
    other = build.a_user(store, name="Cy Bumper")
    with pytest.raises(NotFound), store.write() as transaction:
        users_writes.revoke_token(transaction, made.token_id, now=NOW, user_id=other)
    assert find(store, made.text) is not None


@pytest.mark.parametrize(
    ("role", "abilities", "ability"),
    [
        ("player", ["read"], "read"),
        ("player", ["read", "score"], "score"),
        ("organizer", ["manage"], "manage"),
        ("organizer", ["score", "read"], "score"),
        ("admin", ["admin"], "admin"),
        ("admin", ["read"], "read"),
    ],
)
def test_a_caller_has_the_highest_ability_of_the_token(
    store: Store, role: str, abilities: list[str], ability: str
) -> None:
    found = find(store, a_token(store, build.a_user(store, role=role), abilities=abilities).text)
    assert found is not None
    assert found.ability == ability


@pytest.mark.both_databases
def test_a_token_loses_what_its_user_may_no_longer_do(store: Store) -> None:
    user_id = build.a_user(store, role="admin")
    made = a_token(store, user_id, abilities=["admin"])
    for role, ability in (("organizer", "manage"), ("player", "score")):
        with store.write() as transaction:
            transaction.connection.execute(tables.user.update().values(role=role))
        found = find(store, made.text)
        assert found is not None
        assert (found.ability, found.is_admin) == (ability, False)


@pytest.mark.parametrize("opt_out", tables.OPT_OUTS)
def test_any_opt_out_makes_the_caller_a_viewer_of_its_own(store: Store, opt_out: str) -> None:
    found = find(store, a_token(store, build.a_user(store, **{opt_out: True})).text)
    assert found is not None
    assert found.has_opt_outs


def test_the_last_use_is_due_once_a_minute(store: Store) -> None:
    user_id = build.a_user(store)
    made = a_token(store, user_id)
    for seconds, is_due in ((0, True), (59, False), (60, True), (61, False)):
        now = NOW + timedelta(seconds=seconds)
        found = find(store, made.text, timedelta(seconds=seconds))
        assert found is not None
        assert (found.token_to_note == made.token_id) is is_due
        with store.write() as transaction:
            users_writes.record_use(transaction.connection, made.token_id, now)
    with store.read() as db:
        assert users_reads.owned_by(db, user_id)[0].last_used_at == NOW + timedelta(seconds=60)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"abilities": ["manage"]}, "ability"),
        ({"abilities": ["everything"]}, "ability"),
        ({"abilities": []}, "ability"),
        ({"expires_days": 0}, "expires"),
        ({"expires_days": 3651}, "expires"),
    ],
)
def test_a_token_with_a_fault_is_refused_by_field(
    store: Store, values: dict[str, object], field: str
) -> None:
    user_id = build.a_user(store)
    given = {"name": "Board", **values}
    with pytest.raises(Invalid) as refused, store.write() as transaction:
        users_writes.create_token(transaction.connection, user_id, now=NOW, dice=Random(1), **given)  # type: ignore[arg-type]  # the cases differ in type
    assert list(refused.value.errors) == [field]


def test_a_token_needs_an_account_that_can_sign_in(store: Store) -> None:
    with pytest.raises(NotFound):
        a_token(store, 404)
    with pytest.raises(Conflict, match="only a name from an import"):
        a_token(store, build.a_user(store, placeholder=True))


def test_an_account_has_a_hundred_tokens_at_most(store: Store) -> None:
    user_id = build.a_user(store)
    with store.write() as transaction:
        for seed in range(users_writes.TOKENS_MAX):
            users_writes.create_token(transaction.connection, user_id, "Board", now=NOW, dice=Random(seed))
    with pytest.raises(Conflict, match="Revoke one"):
        a_token(store, user_id, seed=1000)


def test_a_user_sees_only_their_own_tokens(store: Store) -> None:
    owner, other = build.a_user(store), build.a_user(store, name="Cy Bumper")
    first, second = a_token(store, owner), a_token(store, owner, seed=8)
    third = a_token(store, other, seed=9)
    with store.read() as db:
        assert [token.token_id for token in users_reads.owned_by(db, owner)] == [
            second.token_id,
            first.token_id,
        ]
        assert users_reads.newest_tokens(db)[0].token_id == third.token_id


def test_the_checksum_is_the_crc_32_of_the_forty_letters() -> None:
    """Computed with gzip, whose trailer is the same checksum."""
    assert tokens.parse_token("7|slv_" + "a" * 40 + "c95b8a25") is not None
    assert tokens.parse_token("7|slv_" + "a" * 40 + "C95B8A25") is None
    assert tokens.parse_token("7|slv_" + "a" * 40 + "c95b8a26") is None


@given(st.integers(1, 2**63 - 1), st.randoms(use_true_random=False))
def test_a_shown_token_is_parsed_back(token_id: int, dice: Random) -> None:
    secret = tokens.new_secret(dice)
    assert tokens.parse_token(tokens.full_token(token_id, secret)) == tokens.ParsedToken(
        token_id, tokens.digest(secret)
    )
    assert tokens.parse_token(secret) == tokens.ParsedToken(None, tokens.digest(secret))


@given(st.randoms(use_true_random=False), st.integers(4, 51), st.sampled_from("abcXYZ019_|- é\n"))
def test_one_wrong_character_is_noticed_without_a_database(dice: Random, at: int, wrong: str) -> None:
    secret = tokens.new_secret(dice)
    spoiled = secret[:at] + wrong + secret[at + 1 :]
    assert spoiled == secret or tokens.parse_token(spoiled) is None


@given(st.text(max_size=120))
def test_any_other_text_is_no_token(text: str) -> None:
    assert tokens.parse_token(text) is None
