/*
 * The parts of a question to the archive: which objects of which kinds it is about, as far as the caller may list them today.
 * Objects that are gone count as well, so what is in memory does not matter: the rights alone decide, by namespace for a list,
 * and by name for single objects. A kind whose definition is gone is reviewed by its group and resource.
 */

import type { ArchiveGap, ArchivePart, KeptKind } from '../../../archive/archive-calls.ts'
import { apiVersionOf } from '../../../kubernetes/api-resource.ts'
import { objectKey, splitObjectKey } from '../../../kubernetes/object.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { type Scope, unrestricted } from '../../../query/condition/scope.ts'
import { ClientError, unlessRefused } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import type { ObjectIdentity } from '../../model/object-id.ts'
import { type ClusterKind, clustersNamed, isOverClusters } from '../../prepare/kind-view.ts'
import { notLoaded } from '../../prepare/preparation.ts'
import type { ClusterGap, ChangesFilterArguments } from '../../schema/gateway-types.ts'
import { namedKinds } from '../../served/named-kinds.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { graphAround } from '../graph/graph-read.ts'
import { identityIn, namespacesIn } from '../list-arguments.ts'
import { clusterGap, type PlaceRead, PlacesReport } from '../places.ts'
import type { ReadRun } from '../read-run.ts'
import { kindTest } from './change-filter.ts'

interface PastPlace extends PlaceRead {
  readonly part: ArchivePart
}

/** The parts of a question, and what it could not ask about. */
export interface PastParts {
  readonly parts: readonly ArchivePart[]
  readonly gaps: readonly ClusterGap[]
  readonly failures: readonly ClientError[]
  /** The clusters that the question is about. */
  readonly clusters: readonly string[]
  /** What may be asked about, as a text that changes with the rights of the caller; empty for named objects. */
  readonly scope: string
}

type PlaceArguments = Pick<
  ChangesFilterArguments,
  'cluster' | 'clusters' | 'clusterSelector' | 'namespace' | 'namespaces' | 'types' | 'where'
>

/** Preparing a part takes as long as so many tests. */
const testsPerPart = 50

/** The parts that arguments name. `undefined` while something is lacking. Throws `ClientError` and `ArgumentError`. */
export function pastParts(run: ReadRun, args: ChangesFilterArguments): PastParts | undefined {
  const { ids = null, around = null, depth = null } = args
  if (ids !== null && around !== null) {
    const hint = 'name the objects by `ids`, or one object by `around`'
    const details = { argument: 'around', value: around, hint }
    throw new ClientError('BAD_USER_INPUT', 'around: cannot be given together with `ids`', details)
  }
  const most = run.limits.maxPageSize
  if (ids !== null && ids.length > most) {
    const message = `ids: has ${ids.length} ids, and at most ${most} are read`
    throw new ClientError('BAD_USER_INPUT', message, { argument: 'ids', value: ids.length })
  }
  if (around !== null) {
    const object = pastIdentity(run, identityIn('around', around))
    return object && withinArguments(run, args, partsAround(run, object, around, depth))
  }
  if (ids === null) return partsOfKinds(run, args)
  const { clusters, whole = clusters } = run.served
  const objects = ids
    .map((id, at) => identityIn(`ids[${at}]`, id))
    .filter(({ cluster }) => clusters.has(cluster) || !whole.has(cluster))
    .map((identity) => pastIdentity(run, identity))
  if (objects.includes(undefined)) return undefined
  return withinArguments(run, args, partsOfObjects(run, objects as readonly PastIdentity[]))
}

/** Each kind in each cluster, as far as the caller may list it. */
function partsOfKinds(run: ReadRun, args: PlaceArguments): PastParts | undefined {
  const { served, budget } = run
  const kept = run.direct.archive('kinds', null)
  if (kept === undefined) return undefined
  const clusters = clustersNamed(served, args)
  const named = args.types && kindsOfTypes(run, kept, args.types)
  const namespaces = namespacesIn(args)
  const isMeant = kindTest(args)
  const report = new PlacesReport<PastPlace>(served, {
    isNamed: (kind) => named?.includes(kind) === true,
    fails: ({ kind }, { code }) => named?.includes(kind) === true || code !== 'FORBIDDEN',
    failsOnce: true,
  })
  for (const cluster of clusters) {
    const ofCluster = kept.filter((one) => one.cluster === cluster)
    for (const kind of named ?? ofCluster.map((one) => kindOfKept(served, one))) {
      if (!isMeant(kind.resource.kind)) continue
      if (namespaces !== undefined && !kind.resource.namespaced) continue
      budget.spend('tests', testsPerPart + (namespaces?.length ?? 0))
      const at = { cluster, kind, isOptional: isOverClusters(args) }
      report.put(at, () => {
        const scope = listable(run, at, namespaces)
        return { cluster, kind, scope, part: partIn(at, scope, namespaces) }
      })
    }
  }
  if (run.parts.isLacking) return undefined
  return {
    parts: report.parts.map(({ part }) => part).filter((part) => part.namespaces?.length !== 0),
    gaps: report.missing(),
    failures: report.failures,
    clusters,
    scope: JSON.stringify(report.parts.map(({ part }) => part)),
  }
}

/**
 * What the caller may list of a kind today, in these namespaces or in all, also of objects that are gone. An unknown permission
 * is noted, and asked before the next run. Throws `ClientError`.
 */
export function listable(
  { parts }: ReadRun,
  at: ClusterKind,
  within: readonly string[] | undefined,
): Scope {
  const list = { within, watch: false, isPast: true }
  const listed = parts.access?.list(at, list) ?? unrestricted
  if (listed instanceof ClientError) throw listed
  if (listed !== 'unknown' && listed !== 'unloaded') return listed
  parts.asksList({ ...at, list })
  throw notLoaded(at)
}

function partIn(
  { cluster, kind }: ClusterKind,
  scope: Scope,
  within: readonly string[] | undefined,
): ArchivePart {
  const { group, resource } = kind.resource
  const part = { cluster, group, resource }
  switch (scope.form) {
    case 'all':
      return within === undefined ? part : { ...part, namespaces: [...new Set(within)].toSorted() }
    case 'namespaces':
      return { ...part, namespaces: [...scope.namespaces].toSorted() }
    default:
      return { ...part, namespaces: [] }
  }
}

/** The kinds that names of types mean: of the schema, or of the archive alone if their definition is gone. */
function kindsOfTypes(
  { served, limits }: ReadRun,
  kept: readonly KeptKind[],
  types: readonly string[],
): readonly Kind[] {
  const kinds = [...new Set(types)].flatMap((name) => {
    const known = served.kinds.get(name)
    const gone =
      known === undefined && kept.filter((one) => one.kind === name && isGone(served, one))
    if (gone && gone.length > 0) return gone.map((one) => goneKind(one))
    return namedKinds(served, [name], limits)
  })
  return [...new Set(kinds)]
}

function isGone({ kindOf }: ServedSchema, { group, kind }: KeptKind): boolean {
  return kindOf(group, kind) === undefined
}

export function kindOfKept(served: ServedSchema, kept: KeptKind): Kind {
  return served.kindOf(kept.group, kept.kind) ?? goneKind(kept)
}

const goneKinds = new Map<string, Kind>()

/** A kind that the schema no longer has, as far as reviews and messages need it. */
function goneKind({ group, version, resource, kind, namespaced }: KeptKind): Kind {
  const of = { group, version, resource, kind, namespaced }
  const name = JSON.stringify(of)
  let gone = goneKinds.get(name)
  if (gone === undefined) {
    const bare = { indexes: [], relations: [], objectRefs: [], polymorphic: [], uses: [] }
    gone = {
      ...bare,
      usedBy: [],
      leftOutUsers: [],
      resource: of,
      apiVersion: apiVersionOf(of),
      typeName: kind,
      listField: '',
      lookupField: '',
      metadataOnly: false,
      uncached: true,
    }
    if (goneKinds.size >= maxGoneKinds) goneKinds.clear()
    goneKinds.set(name, gone)
  }
  return gone
}

const maxGoneKinds = 1_000

/** One object that an `id` names, also if it is gone. */
export interface PastIdentity {
  /** Absent: nothing serves or keeps the kind. */
  readonly at: ClusterKind | undefined
  readonly identity: ObjectIdentity
  /** Absent: neither the cache nor the archive knows the UID. */
  readonly key: string | undefined
  /** Absent: the object that has the name. */
  readonly uid: string | undefined
  /** Whether the caller may look it up today. */
  readonly isAllowed: boolean
}

/** Finds the kind and the key of an object, and the rights to it. `undefined` while something is lacking. */
export function pastIdentity(run: ReadRun, identity: ObjectIdentity): PastIdentity | undefined {
  const { served } = run
  const { cluster, group, kind: name, object } = identity
  const nothing = { at: undefined, identity, key: undefined, uid: undefined, isAllowed: false }
  run.budget.spend('rows', 1)
  const isServed = served.clusters.has(cluster)
  let kind = isServed ? served.kindOf(group, name) : undefined
  const kept = run.direct.archive('kinds', null)
  if (kept === undefined) return undefined
  if (kind === undefined && isServed) {
    const gone = kept.find(
      (one) => one.cluster === cluster && one.group === group && one.kind === name,
    )
    kind = gone && goneKind(gone)
  }
  if (kind === undefined) return nothing
  const at = { cluster, kind }
  const uid = 'uid' in object ? object.uid : undefined
  let key = 'uid' in object ? undefined : objectKey(object)
  if (uid !== undefined) {
    const view = served.clusters.get(cluster)?.synced(kind.resource)
    const id = view?.idOfUid(uid)
    if (view !== undefined && id !== undefined) key = view.keyOf(id)
    else {
      const part = { cluster, group, resource: kind.resource.resource, uids: [uid] }
      const last = run.direct.archive('changes', { parts: [part], limit: 1 })
      if (last === undefined) return undefined
      const [change] = last.changes
      key = change && objectKey(change)
    }
  }
  const isAllowed = key === undefined ? mayListAny(run, at) : mayLook(run, at, key)
  return isAllowed === undefined ? undefined : { at, identity, key, uid, isAllowed }
}

/** Whether the caller may look up the object with a key. `undefined`: noted, and asked before the next run. */
function mayLook({ parts }: ReadRun, at: ClusterKind, key: string): boolean | undefined {
  const known = parts.access === undefined || parts.access.looks(at, splitObjectKey(key))
  if (known === undefined) parts.asksList({ ...at, keys: [key] })
  return known
}

/** Whether the caller may know since when the archive keeps a kind. */
function mayListAny(run: ReadRun, at: ClusterKind): boolean | undefined {
  const scope = unlessRefused(() => listable(run, at, undefined))
  return scope === undefined && run.parts.isLacking ? undefined : scope?.form === 'all'
}

export function partOfObject({ at, key, uid }: PastIdentity): ArchivePart | undefined {
  if (at === undefined) return undefined
  const { group, resource } = at.kind.resource
  return {
    cluster: at.cluster,
    group,
    resource,
    ...(key !== undefined && { keys: [key] }),
    ...(uid !== undefined && { uids: [uid] }),
  }
}

/** The parts of single objects. One that the caller may not look up counts as absent, whether or not it exists. */
export function partsOfObjects(run: ReadRun, objects: readonly PastIdentity[]): PastParts {
  run.budget.spend('tests', testsPerPart * objects.length)
  const merged = new Map<
    string,
    { readonly part: ArchivePart; keys: Set<string>; uids: Set<string> }
  >()
  const gaps: ClusterGap[] = []
  for (const object of objects) {
    const { at, identity, isAllowed } = object
    if (at === undefined) gaps.push(notKept(identity))
    const part = isAllowed ? partOfObject(object) : undefined
    if (part === undefined) continue
    const { cluster, group, resource, keys = [], uids = [] } = part
    const name = JSON.stringify([cluster, group, resource, keys.length, uids.length])
    const known = merged.get(name) ?? { part, keys: new Set(), uids: new Set() }
    for (const key of keys) known.keys.add(key)
    for (const uid of uids) known.uids.add(uid)
    merged.set(name, known)
  }
  const parts = Array.from(merged.values(), ({ part, keys, uids }) => ({
    ...part,
    ...(keys.size > 0 && { keys: [...keys] }),
    ...(uids.size > 0 && { uids: [...uids] }),
  }))
  const clusters = [...new Set(objects.map(({ identity }) => identity.cluster))]
  return { parts, gaps, failures: [], clusters, scope: '' }
}

function notKept({ cluster, group, kind }: ObjectIdentity): ClusterGap {
  const message = `the archive keeps no ${kind} of ${group === '' ? 'the core group' : group}`
  return clusterGap({ cluster, code: 'NOT_ARCHIVED', message })
}

/** An object, its owners, what it owns and what it references, over some steps, as they are now. */
function partsAround(
  run: ReadRun,
  root: PastIdentity,
  id: string,
  depth: number | null,
): PastParts {
  const near = root.isAllowed ? graphAround(run, id, depth) : []
  const objects = near.map(({ part, id: of }): PastIdentity => {
    const { cluster, kind, view } = part
    const uid = view.uidOf(of)
    const { group, kind: name } = kind.resource
    const identity = { cluster, group, kind: name, object: { uid } }
    return { at: part, identity, key: view.keyOf(of), uid, isAllowed: true }
  })
  return partsOfObjects(run, [root, ...objects])
}

/** Objects that are named, as far as further arguments allow them. */
function withinArguments(run: ReadRun, args: PlaceArguments, found: PastParts): PastParts {
  const { served } = run
  const namespaces = namespacesIn(args)
  const isOfCluster = isOverClusters(args) || (args.cluster ?? null) !== null
  const clusters = isOfCluster ? clustersNamed(served, args) : undefined
  const kept = run.direct.archive('kinds', null) ?? []
  const kinds = args.types && kindsOfTypes(run, kept, args.types)
  const isMeant = kindTest(args)
  const parts = found.parts.filter(
    ({ cluster, group, resource }) =>
      clusters?.includes(cluster) !== false &&
      kept.every((one) => one.group !== group || one.resource !== resource || isMeant(one.kind)) &&
      (!kinds ||
        kinds.some((one) => one.resource.group === group && one.resource.resource === resource)),
  )
  return {
    ...found,
    parts: namespaces === undefined ? parts : parts.map((part) => ({ ...part, namespaces })),
  }
}

/** A time of which the archive does not know everything, as the schema has it. */
export function gapOf(served: ServedSchema, gap: ArchiveGap): ClusterGap {
  const { cluster, group, resource, code, fromMs, toMs } = gap
  const type = typeOf(served, group, resource)
  const message = gapMessage(gap, type ?? resource)
  return clusterGap({ cluster, type, code, message, from: timeOf(fromMs), to: timeOf(toMs) })
}

export function gapMessage({ code, fromMs, toMs }: ArchiveGap, type: string): string {
  switch (code) {
    case 'BEFORE_ARCHIVE':
      return toMs === undefined
        ? `the archive has nothing of ${type} yet`
        : `the archive of ${type} begins at ${timeOf(toMs)}`
    case 'ARCHIVE_GAP':
      return `the gateway did not see what changed of ${type} from ${timeOf(fromMs)} ${toMs === undefined ? 'on' : `to ${timeOf(toMs)}`}`
    case 'NOT_ARCHIVED':
      return `the archive does not keep ${type}`
  }
}

export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

const types = new WeakMap<ServedSchema['kinds'], Map<string, string>>()

/** The type of a resource in the schema; `null` if it is not served. */
function typeOf({ kinds }: ServedSchema, group: string, resource: string): string | null {
  const known = getOrInsert(
    types,
    kinds,
    () =>
      new Map(
        Array.from(kinds.values(), (kind) => [
          `${kind.resource.group}/${kind.resource.resource}`,
          kind.typeName,
        ]),
      ),
  )
  return known.get(`${group}/${resource}`) ?? null
}
