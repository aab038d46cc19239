// Imports internals: what the archive is told and answers is of the gateway's own parts.
import type {
  ArchiveBatch,
  ArchiveCalls,
  ArchivedKind,
} from '../../../src/archive/archive-calls.ts'

export interface TestRecord {
  readonly type?: 'ADDED' | 'MODIFIED' | 'REMOVED'
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly version: number
  /** What the object has besides its metadata. */
  readonly rest?: Readonly<Record<string, unknown>>
}

export const configMaps: ArchivedKind = {
  cluster: 'a',
  group: '',
  resource: 'configmaps',
  version: 'v1',
  kind: 'ConfigMap',
  namespaced: true,
  form: '1',
  keysOnly: false,
  masked: [],
}

export const pods: ArchivedKind = { ...configMaps, resource: 'pods', kind: 'Pod' }

const places = { ADDED: 0, MODIFIED: 1, REMOVED: 2 }

/** A batch of objects. Its position is the version of the last one, if there is no other. */
export function batchOf(
  kind: number,
  records: readonly TestRecord[],
  more: Partial<ArchiveBatch> = {},
): ArchiveBatch {
  const encoder = new TextEncoder()
  const texts = records.map(({ name, namespace = 'default', uid, version, rest = {} }) =>
    encoder.encode(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace, uid: uid ?? `uid-${name}`, resourceVersion: `${version}` },
        ...rest,
      }),
    ),
  )
  let end = 0
  return {
    kind,
    incarnation: 'one',
    timeMs: Date.now(),
    position: `${records.at(-1)?.version ?? 1}`,
    ...(more.list === undefined && more.position === undefined
      ? { positions: records.map(({ version }) => `${version}`) }
      : {}),
    keys: records.map(({ name, namespace = 'default' }) => `${namespace}/${name}`),
    uids: records.map(({ name, uid }) => uid ?? `uid-${name}`),
    types: Uint8Array.from(records, ({ type = 'MODIFIED' }) => places[type]),
    ends: Uint32Array.from(texts, (text) => (end += text.length)),
    bytes: new Uint8Array(Buffer.concat(texts)),
    ...more,
  }
}

/** A whole list in one part. */
export function listOf(
  kind: number,
  records: readonly TestRecord[],
  more: Partial<ArchiveBatch> = {},
): ArchiveBatch {
  return batchOf(kind, records, { list: { number: listNumber++, isLast: true }, ...more })
}
let listNumber = 1

export interface ArchivedObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: Readonly<Record<string, string>>
}

/** The objects that an archive has of a kind. */
export async function objectsOf(
  archive: Pick<ArchiveCalls, 'objects'>,
  kind: number,
): Promise<readonly ArchivedObject[]> {
  const objects: ArchivedObject[] = []
  for await (const { bytes, ends } of archive.objects(kind)) {
    let from = 0
    for (const end of ends) {
      const text = new TextDecoder().decode(bytes.subarray(from, end))
      objects.push(JSON.parse(text) as ArchivedObject)
      from = end
    }
  }
  return objects
}
