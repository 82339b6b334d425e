"""The audience of each column outside of `rules/model/fields`: who may see its value at all.

`public` is everybody (a route may still ask for a token, and opt-outs hide more), `staff` who runs the
tournament, `organizer` the account that owns the row, `person` whom the row is about, and `secret` nobody
outside of the program. A column that is not named here is secret, and fails a test.
"""

from collections.abc import Mapping

from sqlalchemy import MetaData

# Table -> audience -> names of its columns.
AUDIENCES: Mapping[str, Mapping[str, str]] = {
    # Accounts and signing in.
    "user": {
        "public": "user_id name first_name last_name role ifpa_id flag location pronouns initials avatar"
        " banner tournament_avatar club_id business_profile_id placeholder ratings_opt_out stats_opt_out"
        " video_opt_out profile_opt_out history_opt_out history_only_completed created_at",
        "person": "email suspended_at",
        "secret": "password_hash",
    },
    "token": {
        "person": "token_id user_id name abilities created_at last_used_at expires_at",
        "secret": "hash",
    },
    "session": {
        "person": "user_id created_at expires_at seen_at proved_at network browser",
        "secret": "hash csrf",
    },
    "idempotency": {"secret": "user_id key fingerprint status body headers at"},
    "audit_entry": {
        "person": "event user_id source detail at last_at count",
        "secret": "audit_entry_id bucket",
    },
    "confirmed_number": {"person": "ifpa_id user_id at"},
    "club": {"public": "club_id user_id name logo description location"},
    "shortcut": {"public": "shortcut_id slug user_id tournament_id series_id occasion_id"},
    "known_browser": {"secret": "hash user_id created_at"},
    "two_step": {"person": "confirmed_at", "secret": "user_id secret created_at last_step"},
    "recovery_code": {"secret": "hash user_id"},
    "half_sign_in": {"secret": "hash user_id expires_at"},
    "account_link": {"secret": "hash user_id role created_by created_at expires_at"},
    "blocked_network": {"secret": "network created_at"},
    "site_value": {"secret": "name value"},
    # The organizer's book.
    "player": {
        "public": "player_id organizer_id name ifpa_id claimed_by status labels label_color",
        "person": "name_digest",
    },
    "claim": {"organizer": "player_id user_id at"},
    "arena": {"public": "arena_id organizer_id name status opdb_id category_id labels label_color"},
    "bank": {"public": "bank_id organizer_id name status"},
    "bank_arena": {"public": "bank_id place arena_id"},
    "location": {
        "public": "location_id organizer_id name address lat lng status pinballmap_id scorbit_venue_id"
        " scorbit_venue_uuid"
    },
    "series": {
        "public": "series_id organizer_id name status test removed_results playoffs_cutoffs scoring"
        " scoring_custom estimated_tgp rsvp_configuration placeholder"
    },
    "occasion": {
        "public": "occasion_id organizer_id location_id name status contact_email start_utc start_local"
        " end_utc end_local registration_utc registration_local timezone description description_html"
        " description_preview_html description_collapse banner layout layout_order"
    },
    "occasion_link": {"public": "link_id occasion_id user_id place label url is_registration embed"},
    "occasion_tournament": {
        "public": "event_tournament_id occasion_id user_id tournament_id place labels label_color"
        " player_limit tgp external"
    },
    "remote_id": {"secret": "source kind remote_id local_id"},
    # What a node or a process notes for itself.
    "allowance_lease": {"secret": "name allowance leased portion ends_at"},
    "sign_in_failure": {"secret": "name failures last_at"},
    "node_connection": {"secret": "node address connections counted_at"},
    "world": {"secret": "slot revision stamp"},
    "source_turn": {"secret": "name next_at requests"},
    # Devices and directors.
    "device": {
        "organizer": "device_id tournament_id kind name created_at last_used_at revoked_at",
        "secret": "hash secret",
    },
    "device_action": {"staff": "tournament_id action_id device_id player_id"},
    "director_link": {"secret": "hash tournament_id created_by expires_at"},
    # Files of others.
    "federation_player": {
        "public": "ifpa_id name rank womens_rank rating rating_rank total_events initials city state"
        " country_code country_name updated_at",
        "secret": "name_plain",
    },
    "machine": {
        "public": "opdb_id opdb_group entry_type name common_name short_name entry people images synthetic"
        " homebrew"
    },
    "machine_change": {"public": "changelog_id action opdb_id_deleted opdb_id_replacement created_at"},
    "machine_video": {"public": "video_id opdb_id title url provider author duration_seconds"},
    "tip": {"public": "tip_id opdb_id category vote_total text created_at updated_at"},
    # Play, beside the parts of a tournament.
    "game_player": {"public": "game_id slot tournament_id player_id user_id result_position points score"},
    "suggestion": {
        "public": "suggestion_id game_id tournament_id player_id user_id results scores arena_id"
        " scorbit_data partial"
    },
    "game_note": {
        "staff": "note_id tournament_id game_id action_id player_id kind text author_id written_at"
    },
    "lineup_arena": {
        "public": "tournament_id arena_id place status preferred amazing_race_seed best_game_blocked"
        " best_game_queue_closed scorbit_venuemachine_id scorbit_venuemachine_uuid scorbitron_installed"
        " labels label_color"
    },
    "lineup_bank": {"public": "tournament_id bank_id place"},
    "scorekeeper": {"public": "tournament_id user_id place is_director"},
    "tournament_link": {"public": "tournament_id place linked_tournament_id link_type link_index shown"},
    "entry": {"staff": "entry_id tournament_id player_id type quantity amount currency status created_at"},
    "sign_up": {
        "staff": "tournament_id player_id waiting_place signed_up_at is_late checked_in_at paid_cents"
        " paid_how paid_to paid_at"
    },
    "standing": {"public": "tournament_id player_id position points row"},
    "arena_summary": {"public": "tournament_id arena_id games single_player_games opdb_id"},
    "player_arena_summary": {
        "public": "tournament_id arena_id player_id games single_player_games wins losses opdb_id"
    },
    "match_summary": {"public": "tournament_id arena_id player_id opponent_id games wins losses opdb_id"},
    "journal": {
        "staff": "journal_id tournament_id action_id change actor_id at draw_version digests hash",
        "organizer": "data dice_seed source source_salt source_hash sealed_labels",
    },
    "draw_preview": {"secret": "tournament_id draw times"},
    "forecast": {"public": "tournament_id revision computed_at forecast", "secret": "claimed_until"},
    "announcement": {"public": "tournament_id epoch seq name data at digest journal_head"},
    "mirror": {"public": "tournament_id host remote_id lost_at lag_median lag_p99 standings_differ"},
    # Histories of others, ratings, submissions.
    "history_pull": {
        "person": "history_pull_id user_id address wanted is_dry_run status reason is_listed remote_user"
        " requests foreign_requests seconds failures due_at created_at updated_at",
        "secret": "secret busy_until",
    },
    "history_pull_item": {"person": "history_pull_id remote_id place name updated_at report"},
    "rating": {
        "public": "rating_id user_id ifpa_id name merged_into rating rd delta lower_bound rank first_period"
        " last_period game_count win_count loss_count result_count",
        "person": "organizer_id name_key name_folded",
    },
    "rating_period": {
        "public": "rating_period_id period_date status is_current is_imported tournament_count"
        " challenge_count ext_event_count result_count player_count fingerprint algorithm_version"
        " parameters percentiles processed_at",
        "secret": "staged_run",
    },
    # The meetings name opponents, who are other people.
    "rating_revision": {
        "public": "rating_revision_id rating_id period_date rating rd delta game_count win_count loss_count"
        " result_count",
        "secret": "meetings",
    },
    "staged_rating": {
        "secret": "run rating_id rating rd delta lower_bound rank first_period last_period game_count"
        " win_count loss_count result_count"
    },
    "rating_run": {"secret": "slot run"},
    "rating_submission": {
        "person": "rating_submission_id submitter_id url source_domain status name format event_date"
        " rating_period player_count game_count result_count errors moderator_note hash tries tried_at"
        " created_at updated_at"
    },
    "submission_player": {"person": "rating_submission_id place name ifpa_id user_id settled candidates"},
    "submission_document": {"person": "rating_submission_id body"},
    "simulated_night": {
        "secret": "night nights rounds meaningful_games meaningful_games_of_first computed_at"
    },
    # Webhooks.
    "webhook": {
        "organizer": "webhook_id tournament_id name url form events is_active stopped_reason epoch seq told"
        " failures failing_since rest_until is_slow busy_until tried_at created_at updated_at",
        "secret": "secret",
    },
    "webhook_delivery": {
        "organizer": "webhook_delivery_id webhook_id message_id event epoch seq about said status tries"
        " due_at tried_at response_status reason created_at"
    },
}


def mark_columns(metadata: MetaData) -> None:
    """Note the audience of each column in its `info`."""
    for table in metadata.tables.values():
        for audience, names in AUDIENCES.get(table.name, {}).items():
            for column in table.c:
                if column.name in names.split():
                    column.info["audience"] = audience
