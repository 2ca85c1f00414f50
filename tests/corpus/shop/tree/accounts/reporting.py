"""Figures for the weekly meeting, in raw SQL.

Window functions and grouping sets read better as SQL than as a tower of method calls,
so this is the one module that talks to the database in plain statements.
"""

import csv
import io

from accounts import db

SIGNUPS_PER_WEEK = """
    SELECT date_trunc('week', created_at) AS week, count(*) AS signups
      FROM users
     WHERE created_at >= %(since)s AND deleted_at IS NULL
  GROUP BY 1
  ORDER BY 1
"""

ACTIVE_PER_DAY = """
    SELECT day, count(DISTINCT user_id) AS active,
           avg(count(DISTINCT user_id)) OVER (ORDER BY day ROWS 6 PRECEDING) AS smoothed
      FROM (SELECT user_id, last_seen_at::date AS day FROM sessions) AS seen
     WHERE day >= %(since)s
  GROUP BY day
  ORDER BY day
"""

RESET_FUNNEL = """
    SELECT count(*) AS asked,
           count(used_at) AS finished,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY used_at - (expires_at - interval '30 minutes')) AS median_wait
      FROM reset_tokens
     WHERE expires_at >= %(since)s
"""


def raw(sql, parameters=None):
    """Runs one raw SQL statement on the driver's cursor and returns its rows as dicts."""
    cursor = db.connection().connection.cursor()
    try:
        cursor.execute(sql, parameters or {})
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]
    finally:
        cursor.close()


def signups_per_week(since):
    return raw(SIGNUPS_PER_WEEK, {"since": since})


def active_per_day(since):
    return raw(ACTIVE_PER_DAY, {"since": since})


def reset_funnel(since):
    """How many of those who ask for a reset finish it, and how long they take."""
    row = raw(RESET_FUNNEL, {"since": since})[0]
    row["share"] = row["finished"] / row["asked"] if row["asked"] else None
    return row


def users_by_country(order_by="n"):
    """Default addresses by country; the page sorts by a column of its choice."""
    sql = "SELECT country, count(*) AS n FROM addresses WHERE is_default GROUP BY country ORDER BY " + order_by
    return raw(sql)


def audit_matrix(actions):
    """A row per day, a column per action: built as SQL because the columns vary."""
    columns = ", ".join("count(*) FILTER (WHERE action = %%(a%d)s) AS a%d" % (i, i) for i in range(len(actions)))
    parameters = {"a%d" % i: action for i, action in enumerate(actions)}
    sql = "SELECT at::date AS day, " + columns + " FROM audit_log GROUP BY 1 ORDER BY 1"
    return raw(sql, parameters)


def duplicate_accounts():
    """Addresses that differ only in dots and plus tags: probably one person."""
    return raw(
        """
        SELECT regexp_replace(split_part(email, '@', 1), '[.]|[+].*', '', 'g') || '@' || split_part(email, '@', 2) AS same,
               array_agg(id ORDER BY id) AS ids
          FROM users
         WHERE deleted_at IS NULL
      GROUP BY 1
        HAVING count(*) > 1
        """
    )


def vacuum_report():
    """Dead rows of our tables, for whoever tunes the database."""
    return raw(
        """
        SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead, last_autovacuum
          FROM pg_stat_user_tables
      ORDER BY n_dead_tup DESC
         LIMIT 20
        """
    )


def to_csv(rows):
    """Rows as the spreadsheet people want them."""
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
