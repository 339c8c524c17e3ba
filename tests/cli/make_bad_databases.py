"""make_bad_databases.py GOOD.db FOLDER: databases that are wrong in one way each, or hold little."""
import pathlib
import shutil
import sqlite3
import sys

good = pathlib.Path(sys.argv[1])
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)

GRAPH_TABLES = ("nodes steps tensors node_tensors edges barriers pools state_fields pass_decisions "
                "node_stats").split()


def changed(name, *statements):
    """A copy of the good database after `statements`."""
    path = folder / name
    shutil.copyfile(good, path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def only_first_nodes(count):
    """Statements that leave the first nodes of each graph and what refers to them."""
    limits = [f"DELETE FROM {table} WHERE idx >= {count}" for table in ("nodes", "node_stats")]
    limits.append(f"DELETE FROM steps WHERE node_idx >= {count}")
    limits.append(f"DELETE FROM node_tensors WHERE node_idx >= {count}")
    limits.append(f"DELETE FROM edges WHERE dst >= {count} OR src >= {count}")
    limits.append("DELETE FROM barriers")
    limits.append("DELETE FROM step_timings")
    limits.append(f"UPDATE graphs SET node_count = {count}, step_count = {count}, edge_count = 0, "
                  "barrier_count = 0")
    return limits


(folder / "text.db").write_text("This is no database.\n" * 500)
(folder / "empty.db").write_bytes(b"")
(folder / "truncated.db").write_bytes(good.read_bytes()[: good.stat().st_size * 2 // 3])
changed("newer.db", "PRAGMA user_version = 99")
changed("no_graphs.db", *(f"DELETE FROM {table}" for table in
                          [*GRAPH_TABLES, "step_timings", "replays", "recording_pools",
                           "recordings", "sessions", "graphs"]))
changed("no_timings.db", "DELETE FROM step_timings", "DELETE FROM node_stats",
        "UPDATE replays SET device_ns = NULL, timing_mode = 0")
changed("no_replays.db", "DELETE FROM step_timings", "DELETE FROM node_stats", "DELETE FROM replays")
changed("no_nodes.db", *only_first_nodes(0))
changed("one_node.db", *only_first_nodes(1))
changed("hostile_names.db",
        "UPDATE nodes SET op = '%s%n##op' || char(27) || '[31m', label = '###x', "
        "scope = 'layer.' || idx || '/' || char(8238) || 'evil/../../' || char(10) WHERE idx % 2",
        "UPDATE nodes SET op = CAST(x'ff00fe' AS TEXT), scope = replace(hex(zeroblob(500000)), '00', 'ab'), "
        "attributes_json = '{\"a\":' WHERE idx % 2 = 0 AND idx < 8",
        "UPDATE nodes SET src_file = '/dev/zero', src_line = 4000000000 WHERE idx = 10",
        "UPDATE graphs SET name = '<b>' || char(0) || '%d'",
        "UPDATE devices SET name = replace(hex(zeroblob(2000)), '00', 'device ')",
        "UPDATE tensors SET name = '%s##', shape_json = '[1,'",
        "UPDATE state_fields SET name = '##%n'")
ESCAPES = "'x' || char(27, 99) || 'y' || char(7, 155) || 'z' || char(8238)"
changed("escapes.db", f"UPDATE nodes SET op = {ESCAPES}, scope = {ESCAPES}",
        f"UPDATE graphs SET name = {ESCAPES}", f"UPDATE tensors SET name = {ESCAPES}",
        f"UPDATE devices SET name = {ESCAPES}", f"UPDATE runs SET app = {ESCAPES}")
changed("dangling.db",
        "UPDATE edges SET tensor_idx = 4000000000 WHERE dst % 3 = 0",
        "UPDATE OR IGNORE edges SET src = dst + 1 WHERE dst % 3 = 1",
        "UPDATE node_tensors SET tensor_idx = -5 WHERE node_idx % 4 = 0",
        "UPDATE steps SET kernel_id = 999, grid_x = -7 WHERE idx % 5 = 0",
        "UPDATE steps SET node_idx = 10000 WHERE idx % 5 = 1",
        "UPDATE barriers SET cause_src = 1000000000000, before_step = -1 WHERE ordinal % 2 = 0",
        "UPDATE tensors SET pool_idx = 77, nbytes = -9223372036854775808 WHERE idx % 2 = 0",
        "UPDATE replays SET device_ns = -9223372036854775808, timing_mode = 200 WHERE id % 7 = 0",
        "UPDATE replays SET device_ns = 9223372036854775807 WHERE id % 7 = 1",
        "UPDATE step_timings SET data = zeroblob(3) WHERE replay_id % 3 = 0",
        "UPDATE step_timings SET unit_ns = 9223372036854775807 WHERE replay_id % 3 = 1",
        "UPDATE node_stats SET n = -1, sum_ns = 9223372036854775807, hist = x'ffffffffffffffffffff' "
        "WHERE idx % 2 = 0")
