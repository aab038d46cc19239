/* The rows of kinds: how one is made, and what the writer takes from it. */

import { objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import type { ArchiveBatch, ArchivedKind, ClusterMark, KindState } from '../archive-calls.ts'
import { type SqlRow, type Statements, tuples } from './engine.ts'

/** A kind that is written. */
export interface WrittenKind {
  readonly id: number
  archived: ArchivedKind
  position: string | undefined
  namespaces: KindState['namespaces']
  incarnation: string
  writtenMs: number
  /** Since when all changes are known; `undefined`: there was no whole list yet. */
  beginsMs: number | undefined
  /** How many objects there were when its row was read. */
  objects: number
  /** The keys that the parts of a list have named until now. */
  list: { readonly number: number; readonly named: Set<string> } | undefined
}

export interface BatchOfKind {
  readonly kind: WrittenKind
  readonly batch: ArchiveBatch
}

export const unwritten = {
  position: undefined,
  namespaces: undefined,
  incarnation: '',
  writtenMs: 0,
  beginsMs: undefined,
  objects: 0,
  list: undefined,
}

const kindColumns =
  'cluster api_group resource version kind namespaced form incarnation written since_change objects object_bytes changes change_bytes'.split(
    ' ',
  )

/** The row of a kind, which is made if there is none. Only who may write gives it another form. */
export async function registered(
  statements: Statements,
  archived: ArchivedKind,
  mayWrite: boolean,
  id?: number,
): Promise<SqlRow> {
  const { cluster, group, resource, version, kind, namespaced, form } = archived
  const told = [version, kind, namespaced ? 1 : 0, form]
  const row = [cluster, group, resource, ...told, '', 0, 0, 0, 0, 0, 0]
  await statements.upsert(
    'kinds',
    id === undefined ? kindColumns : ['id', ...kindColumns],
    [id === undefined ? row : [id, ...row]],
    ['cluster', 'api_group', 'resource'],
    mayWrite ? ['version', 'kind', 'namespaced'] : [],
  )
  if (mayWrite) {
    await statements.rows(
      `UPDATE kinds SET position = NULL, form = $4
       WHERE cluster = $1 AND api_group = $2 AND resource = $3 AND form <> $4`,
      [cluster, group, resource, form],
    )
  }
  const rows = await kindRows(statements, [archived])
  return rows.get(kindPlace(archived)) ?? {}
}

/** Whether a kind has the row that it should have: most have, when a gateway takes clusters over. */
export function isRowOf(archived: ArchivedKind, row: SqlRow): boolean {
  const { version, kind, namespaced, form } = archived
  return (
    row['version'] === version &&
    row['kind'] === kind &&
    Number(row['namespaced']) === (namespaced ? 1 : 0) &&
    row['form'] === form
  )
}

/** The rows of kinds that have one, with the marks of their holders, by {@link kindPlace}. */
export async function kindRows(
  statements: Pick<Statements, 'rows'>,
  kinds: readonly ArchivedKind[],
): Promise<ReadonlyMap<string, SqlRow>> {
  const rows = await statements.rows(
    `SELECT kinds.*, holders.mark FROM kinds LEFT JOIN holders ON holders.cluster = kinds.cluster
     WHERE (kinds.cluster, api_group, resource) IN (${tuples(kinds.length, 3)})`,
    kinds.flatMap(({ cluster, group, resource }) => [cluster, group, resource]),
  )
  const placed = rows.map((row) => {
    const [cluster, group] = [String(row['cluster']), String(row['api_group'])]
    return [kindPlace({ cluster, group, resource: String(row['resource']) }), row] as const
  })
  return new Map(placed)
}

export function kindPlace({
  cluster,
  group,
  resource,
}: Pick<ArchivedKind, 'cluster' | 'group' | 'resource'>): string {
  return `${cluster} ${group} ${resource}`
}

/** Until when all that was seen of a kind is written, by its row with the mark of its holder; 0: nothing is. */
export function writtenIn(row: SqlRow): number {
  const writtenMs = Number(row['written'])
  const mark = textOf(row['mark'])
  if (mark === undefined || writtenMs === 0) return writtenMs
  const { atMs, but } = JSON.parse(mark) as Pick<ClusterMark, 'atMs' | 'but'>
  return but[String(row['id'])] ?? Math.max(writtenMs, atMs)
}

export function adopt(kind: WrittenKind, row: SqlRow): void {
  kind.position = textOf(row['position'])
  kind.namespaces = namespacesOf(row)
  kind.incarnation = String(row['incarnation'])
  kind.writtenMs = Number(row['written'])
  kind.beginsMs = numberIn(row['begins'])
  kind.objects = Number(row['objects'])
}

export function textOf(value: SqlRow[string] | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}

export function namespacesOf(row: SqlRow | undefined): KindState['namespaces'] {
  const text = textOf(row?.['namespaces'])
  return text === undefined ? undefined : (JSON.parse(text) as KindState['namespaces'])
}

/** The resource versions of the namespaces after a batch. */
export function namespacesAfter(
  before: KindState['namespaces'],
  { list, namespaces }: ArchiveBatch,
): KindState['namespaces'] {
  const known = list === undefined ? before : undefined
  if (namespaces === undefined) return known
  const after = Object.entries({ ...known, ...namespaces })
  return Object.fromEntries(after.filter((one): one is [string, string] => one[1] !== null))
}

/** What is known of a kind once a batch is written. */
export function remember(kind: WrittenKind, batch: ArchiveBatch): void {
  kind.position = batch.list === undefined ? (batch.position ?? kind.position) : batch.position
  kind.namespaces = namespacesAfter(kind.namespaces, batch)
  kind.incarnation = batch.incarnation
  kind.writtenMs = writtenAfter(kind, batch)
  if (batch.list?.isLast !== true) return
  kind.beginsMs ??= batch.timeMs
  kind.list = undefined
}

/** Before the last part of a list nothing newer is known of the whole kind. */
export function writtenAfter(kind: WrittenKind, batch: ArchiveBatch): number {
  return batch.list?.isLast === false ? kind.writtenMs : batch.timeMs
}

export function numberIn(value: SqlRow[string] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

/** The key of the object that a row is about. */
export function keyOf(row: SqlRow): string {
  return objectKey({ namespace: String(row['namespace']), name: String(row['name']) })
}

/** The columns of a key. */
export function namespaceAndName(key: string): readonly [namespace: string, name: string] {
  const { namespace, name } = splitObjectKey(key)
  return [namespace, name]
}
