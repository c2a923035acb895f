"""An Airflow DAG (Airflow 3) that collects the history of groups each hour, tests the store, and merges its files.

The workers need kgroups[pipeline]. Set the connection and the store in their environment:
KGROUPS_BOOTSTRAP_SERVER, KGROUPS_COMMAND_CONFIG (a file with TLS and SASL settings), KGROUPS_STORE.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    dag_id="kgroups_history",
    schedule="@hourly",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # collect reads everything since the last run, whatever the schedule
    max_active_runs=1,  # a store has one collector
    default_args={"retries": 2, "retry_delay": timedelta(minutes=2)},
):
    collect = BashOperator(
        task_id="collect",
        bash_command="kgroups history collect",
        append_env=True,
        execution_timeout=timedelta(minutes=30),
    )
    # Exit code 1: a check failed. 3: a result is unknown, for example because a broker did not respond: retry.
    test = BashOperator(task_id="test", bash_command="kgroups history test -o json", append_env=True)
    compact = BashOperator(task_id="compact", bash_command="kgroups history compact", append_env=True)
    expire = BashOperator(task_id="expire", bash_command="kgroups history expire --older-than 90d", append_env=True)

    collect >> test >> compact >> expire
