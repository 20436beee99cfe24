"""With AGW_TEST_POSTGRES set, the gateways of tests have their records in PostgreSQL: each data directory in a database
of its own, all on one server of the process."""

import atexit
import contextlib
import functools
import hashlib
import os

from postgres import postgres

# Excluded, with the reason. A name without a test stands for all tests of its module.
READS, WRITES, CHANGES = "it reads gateway.db", "it writes into gateway.db", "it damages, locks or replaces gateway.db"
NEED_THE_FILE = {
    "test_approvals_hostile.py::test_a_kill_ends_requests_as_denied": READS,
    "test_approvals_hostile.py::test_a_stop_of_the_gateway_ends_requests": READS,
    "test_channel_matrix.py::test_late_number_is_told_so_although_that_cannot_be_stored_at_first": WRITES,
    "test_channel_steps.py": READS,
    "test_checkpoints.py::test_backup_has_checkpoints_only_if_asked_to": "`agw backup` refuses a database on a server",
    "test_cli_backup.py": "`agw backup` refuses a database on a server",
    "test_cli_doctor.py::test_damaged_database_is_a_failure_and_left_unchanged": CHANGES,
    "test_cli_doctor.py::test_newer_database_is_a_failure_that_the_newer_program_ends": CHANGES,
    "test_cli_doctor.py::test_dangling_symlink_is_a_failure[database-gateway.db]": CHANGES,
    "test_cli_doctor.py::test_database_that_is_not_a_file_is_a_failure": CHANGES,
    "test_cli_doctor.py::test_empty_database_is_accepted": CHANGES,
    "test_cli_doctor.py::test_unwritable_database_is_a_failure": CHANGES,
    "test_command_network.py::test_hosts_are_forgotten_with_age": WRITES,
    "test_crash.py::test_kill_9_loop_loses_no_acknowledged_write": READS,
    "test_database_file.py": CHANGES,
    "test_docs.py::test_commands_of_a_page_work[back-up]": "`agw backup` refuses a database on a server",
    "test_experiments.py": WRITES,
    "test_extension_kills.py::test_clean_stop_leaves_no_work_for_the_next_start": READS,
    "test_hooks.py::test_gateway_start_event_waits_for_a_readable_database": CHANGES,
    "test_hooks.py::test_gateway_with_unreadable_due_times_stops_at_once": CHANGES,
    "test_knowledge_compile.py::test_restored_pages_are_recognized_without_the_database": CHANGES,
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
    """Returns why a test cannot run with PostgreSQL, or None."""
    module, *test = node_id.split("::", 1)  # whose parameters may have slashes
    name = "::".join([module.rsplit("/", 1)[-1], *test])
    keys = (name, name.split("[")[0], name.split("::")[0])
    return next((NEED_THE_FILE[key] for key in keys if key in NEED_THE_FILE), None)


@functools.cache
def server():
    running = contextlib.ExitStack()
    atexit.register(running.close)
    return running.enter_context(postgres())


@functools.cache
def address_for(data):
    """Makes the database of the data directory when it is first asked for."""
    name = "gateway_" + hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    server().create(name)
    return server().url(name)
