"""If AGW_TEST_POSTGRES is set, the gateways of tests store their records in PostgreSQL: a database per data directory,
all on one server per test process."""

import atexit
import contextlib
import functools
import hashlib
import os

from postgres import postgres

# Tests to skip, with the reason. A module name without a test means all its tests.
READS, WRITES, CHANGES = "it reads gateway.db", "it writes into gateway.db", "it damages, locks or replaces gateway.db"
REQUIRE_SQLITE = {
    "test_approvals_hostile.py::test_a_kill_ends_requests_as_denied": READS,
    "test_approvals_hostile.py::test_a_stop_of_the_gateway_ends_requests": READS,
    "test_channel_matrix.py::test_reply_to_a_late_number_is_sent_although_storing_it_fails_at_first": WRITES,
    "test_channel_steps.py": READS,
    "test_channel_storage.py": WRITES,
    "test_checkpoints.py::test_backup_has_checkpoints_only_if_requested": "`agw backup` refuses a database on a server",
    "test_cli_backup.py": "`agw backup` refuses a database on a server",
    "test_cli_restore.py": "`agw backup` refuses a database on a server",
    "test_cli_doctor.py::test_damaged_database_is_a_failure_and_left_unchanged": CHANGES,
    "test_cli_doctor.py::test_newer_database_is_a_failure_whose_remedy_is_the_newer_program": CHANGES,
    "test_cli_doctor.py::test_dangling_symlink_is_a_failure[database-gateway.db]": CHANGES,
    "test_cli_doctor.py::test_database_that_is_not_a_file_is_a_failure": CHANGES,
    "test_cli_doctor.py::test_empty_database_is_accepted": CHANGES,
    "test_cli_doctor.py::test_unwritable_database_is_a_failure": CHANGES,
    "test_command_network.py::test_old_records_of_hosts_are_deleted": WRITES,
    "test_crash.py::test_kill_9_loop_loses_no_acknowledged_write": READS,
    "test_database_file.py": CHANGES,
    "test_docs.py::test_commands_of_a_page_work[back-up]": "`agw backup` refuses a database on a server",
    "test_experiments.py": WRITES,
    "test_extension_kills.py::test_clean_stop_leaves_no_work_for_the_next_start": READS,
    "test_hooks.py::test_gateway_start_event_waits_for_a_readable_database": CHANGES,
    "test_hooks.py::test_gateway_with_unreadable_due_times_stops_immediately": CHANGES,
    "test_knowledge_compile.py::test_restored_pages_are_recognized_without_the_database": CHANGES,
    "test_loop_trace.py::test_listing_ten_thousand_extensions_does_not_hold_the_loop": WRITES,
    "test_process.py::test_shutdown_leaves_one_database_file": READS,
    "test_process.py::test_signal_before_the_ready_line_ends_the_process_with_0": CHANGES,
    "test_program_secrets.py::test_secrets_are_in_no_record_event_or_log": READS,
    "test_proposal_files.py::test_job_created_by_a_decision_at_start_is_triggered_once_by_each": WRITES,
    "test_proposal_files.py::test_job_is_triggered_by_a_decision_completed_at_start": WRITES,
    "test_runs.py::test_run_active_at_a_kill_is_interrupted_and_keeps_its_text": READS,
    "test_steering_ends.py::test_kill_at_any_moment_around_a_boundary_keeps_each_message_once": READS,
    "test_upgrade.py": "it opens files that earlier releases left behind",
}


def why_excluded(node_id):
    """Returns the reason why a test cannot run with PostgreSQL, or None."""
    module, *test = node_id.split("::", 1)  # parameters of the test may contain slashes
    name = "::".join([module.rsplit("/", 1)[-1], *test])
    keys = (name, name.split("[")[0], name.split("::")[0])
    return next((REQUIRE_SQLITE[key] for key in keys if key in REQUIRE_SQLITE), None)


@functools.cache
def server():
    running = contextlib.ExitStack()
    atexit.register(running.close)
    return running.enter_context(postgres())


@functools.cache
def address_for(data):
    """Returns the URL of the data directory's database, which the first call creates."""
    name = "gateway_" + hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    server().create(name)
    return server().url(name)
