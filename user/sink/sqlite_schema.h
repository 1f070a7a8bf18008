/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of a .db. The vendor's are word for word what its viewer expects; ours begin with
 * ACLTAP_ and hold what those have no column for. Times are ns of the Unix epoch; message,
 * domainId and the like are STRING_IDS ids.
 *
 *   MSTX_EVENTS        complete spans and marks, in order of their end (the vendor's)
 *   ACLTAP_SPANS       every span. eventRow = rowid of its row in MSTX_EVENTS, NULL when it has
 *                      none; parent = id of the enclosing push/pop span; status = id in
 *                      ACLTAP_STATUS; eventType as in MSTX_EVENTS; category NULL for mstx and
 *                      marker_ex; payload as unsigned number (above 2^63-1 as text) and its bytes
 *                      as they lay in memory; unreadable, cut: of the message, 0 or 1; program =
 *                      id in ACLTAP_PROGRAMS; categoryName: what its category was called then
 *   ACLTAP_EVENTS      a view: ACLTAP_SPANS with all ids replaced by names, and durationNs
 *   ACLTAP_COUNTS      what is no event: kind is call, orphan, failed, unreadable, loss, ...;
 *                      pid NULL = all; ret of failed calls; fromNs and toNs of losses
 *   ACLTAP_LOSSES, ACLTAP_ORPHANS   views of it
 *   ACLTAP_PROCESSES   pid as acltap sees it, nspid as the process itself does; NULL = unknown.
 *                      rank, localRank (among those of its host). In a merged trace source is a
 *                      number in ACLTAP_SOURCES, and pid, the key of all tables, may stand in for
 *                      the hostPid that another host has as well
 *   ACLTAP_PROGRAMS    what ran in a process while spans were made: one row each when it executed
 *                      another program, or when its PID was used again
 *   ACLTAP_THREADS, ACLTAP_CATEGORIES   names, where there are any: the last ones
 *   ACLTAP_SOURCES     the captures of a merged trace: their clocks as they read them, and what was
 *                      added to monotonic times; ended is NULL, truncated or damaged; hostUid as
 *                      in HOST_INFO
 *   ACLTAP_CAPTURE     facts: host, version, complete, the first and last clock triple; of a
 *                      merged trace aligned: by "clock", or the name whose ends were made to agree
 *
 *   SELECT name, count(*), sum(durationNs) FROM ACLTAP_EVENTS WHERE status = 'complete' GROUP BY 1
 *   SELECT m.*, s.depth FROM MSTX_EVENTS m JOIN ACLTAP_SPANS s ON s.eventRow = m.rowid
 */
#ifndef ACLTAP_SINK_SQLITE_SCHEMA_H
#define ACLTAP_SINK_SQLITE_SCHEMA_H

#define SCHEMA_VENDOR                                                                              \
	"CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"                            \
	"CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);"                 \
	"CREATE TABLE NPU_INFO (id INTEGER, name TEXT);"                                           \
	"CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);"                         \
	"CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);"                                    \
	"CREATE TABLE META_DATA (name TEXT, value TEXT);"                                          \
	"CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);"                   \
	"CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, "            \
	"rangeId INTEGER, category INTEGER, message INTEGER, globalTid INTEGER, "                  \
	"endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);"                           \
	"INSERT INTO STRING_IDS VALUES(0,'release'),(1,'allocate'),(2,'AIC'),(3,'AIV');"           \
	"INSERT INTO NPU_INFO VALUES(-1,'UNKNOWN');"                                               \
	"INSERT INTO RANK_DEVICE_MAP VALUES(-1,-1);"                                               \
	"INSERT INTO META_DATA VALUES('SCHEMA_VERSION_MICRO','0'),('SCHEMA_VERSION_MINOR','2'),"   \
	"('SCHEMA_VERSION_MAJOR','1'),('SCHEMA_VERSION','1.2.0');"                                 \
	"INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES(0,'marker'),(1,'push/pop'),(2,'start/end'),"      \
	"(3,'marker_ex');"

#define SCHEMA_OURS                                                                                \
	"CREATE TABLE ACLTAP_SPANS (id INTEGER PRIMARY KEY, eventRow INTEGER, startNs INTEGER, "   \
	"endNs INTEGER, eventType INTEGER, status INTEGER, depth INTEGER, parent INTEGER, "        \
	"pid INTEGER, startTid INTEGER, endTid INTEGER, message INTEGER, domainId INTEGER, "       \
	"category INTEGER, payloadType INTEGER, payload, payloadBytes BLOB, ret INTEGER, "         \
	"unreadable INTEGER, cut INTEGER, program INTEGER, categoryName INTEGER);"                 \
	"CREATE TABLE ACLTAP_STATUS (id INTEGER PRIMARY KEY, name TEXT);"                          \
	"CREATE TABLE ACLTAP_COUNTS (kind TEXT, function TEXT, pid INTEGER, ret INTEGER, "         \
	"count INTEGER, fromNs INTEGER, toNs INTEGER, source INTEGER);"                            \
	"CREATE TABLE ACLTAP_PROCESSES (pid INTEGER PRIMARY KEY, nspid INTEGER, ppid INTEGER, "    \
	"rank INTEGER, name TEXT, cmdline TEXT, exe TEXT, localRank INTEGER, host TEXT, "          \
	"hostPid INTEGER, source INTEGER);"                                                        \
	"CREATE TABLE ACLTAP_PROGRAMS (id INTEGER PRIMARY KEY, pid INTEGER, name TEXT, "           \
	"rank INTEGER, host TEXT, hostPid INTEGER);"                                               \
	"CREATE TABLE ACLTAP_SOURCES (number INTEGER PRIMARY KEY, name TEXT, hostUid TEXT, "       \
	"host TEXT, bootId TEXT, version TEXT, shiftNs INTEGER, firstMonotonicNs INTEGER, "        \
	"firstRealNs INTEGER, lastMonotonicNs INTEGER, lastRealNs INTEGER, ended TEXT);"           \
	"CREATE TABLE ACLTAP_THREADS (pid INTEGER, tid INTEGER, name TEXT, "                       \
	"PRIMARY KEY (pid, tid));"                                                                 \
	"CREATE TABLE ACLTAP_CATEGORIES (pid INTEGER, category INTEGER, name TEXT, "               \
	"PRIMARY KEY (pid, category));"                                                            \
	"CREATE TABLE ACLTAP_CAPTURE (name TEXT PRIMARY KEY, value);"                              \
	"CREATE VIEW ACLTAP_LOSSES AS SELECT kind, function, pid, count, fromNs, toNs "            \
	"FROM ACLTAP_COUNTS WHERE kind IN ('loss', 'lost_return', 'lost_process');"                \
	"CREATE VIEW ACLTAP_ORPHANS AS SELECT function, pid, count "                               \
	"FROM ACLTAP_COUNTS WHERE kind = 'orphan';"                                                \
	"CREATE VIEW ACLTAP_EVENTS AS SELECT s.id, k.name AS kind, n.value AS name, s.startNs, "   \
	"s.endNs, CASE WHEN s.eventType IN (0, 3) OR st.name IN ('complete', 'superseded') "       \
	"THEN s.endNs - s.startNs END AS durationNs, s.pid, p.name AS process, s.startTid, "       \
	"t.name AS thread, s.endTid, s.depth, s.parent, st.name AS status, d.value AS domain, "    \
	"s.category, c.value AS categoryName, s.payload, s.ret, p.rank, p.host, p.hostPid "        \
	"FROM ACLTAP_SPANS s JOIN ENUM_MSTX_EVENT_TYPE k ON k.id = s.eventType "                   \
	"JOIN ACLTAP_STATUS st ON st.id = s.status JOIN STRING_IDS n ON n.id = s.message "         \
	"LEFT JOIN STRING_IDS d ON d.id = s.domainId "                                             \
	"LEFT JOIN ACLTAP_PROGRAMS p ON p.id = s.program "                                         \
	"LEFT JOIN ACLTAP_THREADS t ON t.pid = s.pid AND t.tid = s.startTid "                      \
	"LEFT JOIN STRING_IDS c ON c.id = s.categoryName;"

#endif
