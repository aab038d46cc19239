/*
 * The tables of the archive, as a list of versions. A new version is a new entry: an entry that was released never changes.
 * `migrate` brings a database to the newest version, in one transaction, and refuses one that is newer than the program.
 *
 *     holders       which process writes a cluster, and until when nobody else may; its epoch grows with each holder. `mark`:
 *                   until when all that it saw is written, as JSON
 *     kinds         a kind of a cluster, its form, its position (the resource version that `objects` shows), and how much there
 *                   is of it. `begins`: since when all changes are known; `since_position`: since which position there is a
 *                   row of each, with the last change until then. `namespaces`: where each namespace is watched by itself,
 *                   the resource version of each whose objects are whole, as JSON
 *     dictionaries  a text of a kind, against which bodies are compressed
 *     objects       the newest state of each object
 *     changes       what changed, newest last: what a reader sees of it, and what makes the state before. `position` is
 *                   that of the kind after it, and null until a list has ended. `whole`: the detail has the state before by itself
 *     gaps          times in which changes of a kind were not seen
 *     apis          what the holder of a cluster publishes of it; `written` grows with each row that is written
 *     api_documents the texts that it refers to, by the hash of what they say; `parts`: those that a text refers to in turn
 *     members       the gateways that share clusters, and until when each counts as living; `leaving`: it wants no clusters
 *     serving       which gateway serves a cluster, among those that share clusters
 */

/** `{id}`: the type of a key that the database numbers itself; `{bytes}`: of bytes. */
export const versions: readonly (readonly string[])[] = [
  [
    `CREATE TABLE holders (
       cluster TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, epoch BIGINT NOT NULL, until BIGINT NOT NULL)`,
    `CREATE TABLE kinds (
       id {id},
       cluster TEXT NOT NULL, api_group TEXT NOT NULL, resource TEXT NOT NULL,
       version TEXT NOT NULL, kind TEXT NOT NULL, namespaced INTEGER NOT NULL, form TEXT NOT NULL,
       incarnation TEXT NOT NULL, position TEXT, written BIGINT NOT NULL,
       begins BIGINT, since_position TEXT, since_change BIGINT NOT NULL,
       objects BIGINT NOT NULL, object_bytes BIGINT NOT NULL,
       changes BIGINT NOT NULL, change_bytes BIGINT NOT NULL,
       UNIQUE (cluster, api_group, resource))`,
    `CREATE TABLE dictionaries (id {id}, kind_id BIGINT NOT NULL, body {bytes} NOT NULL)`,
    `CREATE INDEX dictionaries_of_kind ON dictionaries (kind_id)`,
    `CREATE TABLE objects (
       kind_id BIGINT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
       uid TEXT NOT NULL, version TEXT NOT NULL, created BIGINT, changed BIGINT NOT NULL,
       health TEXT, labels TEXT NOT NULL, dictionary BIGINT, body {bytes} NOT NULL,
       PRIMARY KEY (kind_id, namespace, name))`,
    `CREATE TABLE changes (
       id {id},
       kind_id BIGINT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL,
       time BIGINT NOT NULL, after BIGINT, type INTEGER NOT NULL, version TEXT NOT NULL, position TEXT,
       manager TEXT, paths TEXT NOT NULL, field_count INTEGER NOT NULL, whole INTEGER NOT NULL,
       dictionary BIGINT, detail {bytes} NOT NULL)`,
    `CREATE INDEX changes_of_object ON changes (kind_id, namespace, name, id, time)`,
    `CREATE INDEX changes_of_kind ON changes (kind_id, id)`,
    `CREATE INDEX changes_of_list ON changes (kind_id) WHERE position IS NULL`,
    `CREATE INDEX changes_by_time ON changes (time, id)`,
    `CREATE TABLE gaps (
       id {id}, kind_id BIGINT NOT NULL, begins BIGINT NOT NULL, ends BIGINT NOT NULL)`,
    `CREATE INDEX gaps_of_kind ON gaps (kind_id, begins)`,
  ],
  [
    `CREATE TABLE apis (
       cluster TEXT NOT NULL PRIMARY KEY, written BIGINT NOT NULL, api TEXT, state TEXT NOT NULL)`,
    `CREATE TABLE api_documents (
       hash TEXT NOT NULL PRIMARY KEY, written BIGINT NOT NULL, parts TEXT NOT NULL, body {bytes} NOT NULL)`,
    `CREATE TABLE members (
       address TEXT NOT NULL PRIMARY KEY, instance TEXT NOT NULL, until BIGINT NOT NULL, leaving INTEGER NOT NULL)`,
    `CREATE TABLE serving (cluster TEXT NOT NULL PRIMARY KEY, address TEXT NOT NULL)`,
  ],
  [`ALTER TABLE kinds ADD COLUMN namespaces TEXT`],
  [`ALTER TABLE holders ADD COLUMN mark TEXT`],
  [`CREATE INDEX changes_seen_late ON changes (time, kind_id, after) WHERE after IS NOT NULL`],
]
