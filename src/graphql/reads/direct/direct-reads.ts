import { questionOf } from '../../../access/access-question.ts'
import type { DirectApi, DirectList, DirectListRequest } from '../../../cache/direct-api.ts'
import { createObjectCodec } from '../../../informer/codec/object-codec.ts'
import { IndexedStore } from '../../../informer/store/indexed-store.ts'
import { type KubernetesObject, objectKey, splitObjectKey } from '../../../kubernetes/object.ts'
import { resourceVersion } from '../../../kubernetes/resource-version.ts'
import { boundedParallel } from '../../../lib/concurrency.ts'
import { unrestricted } from '../../../query/condition/scope.ts'
import type { WorkBudget } from '../../../query/condition/work-budget.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind, KindView, FoundObject } from '../../prepare/kind-view.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import { forbiddenList, type ViewerAccess } from '../../prepare/viewer-access.ts'
import type { PrinterColumn, SecretContents } from '../../schema/read-context.ts'
import { noSecretInFrames, readSecrets, type SecretReader } from './direct-secrets.ts'
import { type DirectObject, type ObjectPlace, readTables } from './direct-tables.ts'
import { failedRead, lateRead } from '../../prepare/read-failures.ts'

/** A part of a list as the API server has sent it, in a store of its own. */
export interface StoredList {
  readonly part: KindView
  readonly list: DirectList
}

type ObjectNeed = { readonly at: ClusterKind } & (
  | { readonly object: ObjectPlace }
  | { readonly list: DirectListRequest }
)

/** Reads that are under way at once for one operation. */
const maxParallel = 8
/** Objects and lists that one operation reads: each is a request to the API server. */
const maxReads = 100
/** How often an operation may find further direct reads, such as those that directly read objects name. */
const maxRounds = 32

export interface DirectReadsOptions {
  readonly served: ServedSchema
  readonly limits: Pick<OperationLimits, 'liveDeadlineMs'>
  /** What the viewer may see; `undefined`: everything. */
  readonly access: ViewerAccess | undefined
  /** Absent where the data of Secrets is not answered: in frames. */
  readonly secrets?: SecretReader | undefined
}

/**
 * What one operation reads from the API server rather than from a cache: kinds without a cache, look-ups with `live: true`, printed
 * tables, and the data of Secrets. A run asks for it. What is not there yet is noted, and the field is `null`; {@link fetch} then
 * reads all that was noted, with a deadline, and the operation runs again. What was read once is not read again.
 */
export class DirectReads {
  readonly #options: DirectReadsOptions
  readonly #found = new Outcomes<ObjectNeed, FoundObject | StoredList | null>()
  readonly #columns = new Outcomes<DirectObject, readonly PrinterColumn[] | null>()
  readonly #secrets = new Outcomes<DirectObject, SecretContents | null>()
  #rounds = 0

  constructor(options: DirectReadsOptions) {
    this.#options = options
  }

  /** Whether something is noted that {@link fetch} would read. */
  get isLacking(): boolean {
    return this.#found.isLacking || this.#columns.isLacking || this.#secrets.isLacking
  }

  /** An object by its name; `undefined` where it is not there, may not be seen, or is not read yet. Throws `ClientError`. */
  object(at: ClusterKind, place: ObjectPlace, budget: WorkBudget): FoundObject | undefined {
    const reads = budget.report?.reachedLive()
    if (this.#options.access?.looks(at, objectKey(place)) === false) return undefined
    const found = this.#read(at, { at, object: place }) as FoundObject | null | undefined
    if (found === undefined || found === null) return undefined
    if (reads !== undefined) reads.returned += 1
    return found
  }

  /** A part of a list; `undefined` where it is not read yet. Throws `ClientError`. */
  list(at: ClusterKind, list: DirectListRequest, budget: WorkBudget): StoredList | undefined {
    budget.report?.reachedLive()
    return this.#read(at, { at, list }) as StoredList | undefined
  }

  /** What the API server prints of an object; `null` where it is gone, `undefined` where it is not read yet. Throws `ClientError`. */
  columns(object: DirectObject, wide: boolean): readonly PrinterColumn[] | null | undefined {
    const columns = this.#columns.read(nameOfObject(object), () => this.#checkRounds(object))
    return columns?.filter(({ priority }) => wide || priority === 0) ?? columns
  }

  /** What a Secret holds; `null` where it is gone, `undefined` where it is not read yet. Throws `ClientError`. */
  secret(object: DirectObject, budget: WorkBudget): SecretContents | null | undefined {
    if (this.#options.secrets === undefined) throw noSecretInFrames(object)
    const reads = budget.report?.reachedLive()
    budget.spend('examined', 1)
    const contents = this.#secrets.read(nameOfObject(object), () => this.#checkRounds(object))
    if (reads !== undefined && contents) reads.returned += 1
    return contents
  }

  /** Reads what was noted; `undefined` where that is nothing. Never rejects. */
  fetch(): Promise<unknown> | undefined {
    if (!this.isLacking) return undefined
    this.#rounds += 1
    const { served, limits, access, secrets } = this.#options
    const means = { served, deadlineMs: limits.liveDeadlineMs, isViewer: access !== undefined }
    return Promise.all([
      this.#found.fetch((needs) => this.#readAll(needs)),
      this.#columns.fetch((objects) => readTables(objects, means)),
      this.#secrets.fetch((objects, count) =>
        secrets === undefined ? new Map() : readSecrets(objects, count, { ...means, ...secrets }),
      ),
    ])
  }

  #read(at: ClusterKind, need: ObjectNeed): FoundObject | StoredList | null | undefined {
    return this.#found.read(nameOf(need), (count) => {
      if (count > maxReads) throw tooManyReads(count)
      return this.#checkRounds(need, at)
    })
  }

  #checkRounds<T extends object>(
    need: T,
    { cluster, kind: { typeName } } = need as ClusterKind,
  ): T {
    if (this.#rounds < maxRounds) return need
    const message = `${typeName} would be read from the API server for what was read there ${maxRounds} times over`
    const hint = 'ask in several queries'
    throw new ClientError('QUERY_TOO_COSTLY', message, { cluster, kind: typeName, hint })
  }

  async #readAll(
    needs: readonly ObjectNeed[],
  ): Promise<ReadonlyMap<ObjectNeed, FoundObject | StoredList | Error | null>> {
    const outcomes = new Map<ObjectNeed, FoundObject | StoredList | Error | null>()
    const admitted = await Promise.all(needs.map((need) => this.#refusal(need)))
    for (const [at, need] of needs.entries()) {
      const refusal = admitted[at]
      if (refusal !== undefined) outcomes.set(need, refusal)
    }
    const { limits, access } = this.#options
    const signal = AbortSignal.timeout(limits.liveDeadlineMs)
    const allowed = needs.filter((need) => !outcomes.has(need))
    await boundedParallel(allowed, maxParallel, async (need) => {
      try {
        outcomes.set(need, await this.#readOne(need, signal))
      } catch (error) {
        const failure = signal.aborted
          ? lateRead(need.at, limits.liveDeadlineMs)
          : failedRead(need.at, error, access !== undefined)
        outcomes.set(need, failure)
      }
    })
    return outcomes
  }

  /** Why the viewer gets nothing: the gateway reads with its own account, which may see more. `null`: there is no such object. */
  async #refusal(need: ObjectNeed): Promise<Error | null | undefined> {
    const { access } = this.#options
    if (access === undefined) return undefined
    const { at } = need
    try {
      if ('object' in need) {
        return (await access.mayLook(at, objectKey(need.object))) ? undefined : null
      }
      const { namespace = '' } = need.list
      const may = await access.may(at.cluster, questionOf('list', at.kind.resource, { namespace }))
      return may ? undefined : forbiddenList(at, false)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async #readOne(need: ObjectNeed, signal: AbortSignal): Promise<FoundObject | StoredList | null> {
    const { at } = need
    const { resource, metadataOnly } = at.kind
    const api: DirectApi | undefined = this.#options.served.clusters
      .get(at.cluster)
      ?.direct(resource)
    if (api === undefined) throw new TypeError(`there is no cluster ${at.cluster}`)
    const of = { resource, metadataOnly }
    if ('list' in need) {
      const list = await api.list(of, need.list, signal)
      return { part: storedApart(at, list.objects, list.resourceVersion), list }
    }
    const object = await api.object(of, need.object, signal)
    if (object === undefined) return null
    const part = storedApart(at, [object], '')
    const id = part.view.idOf(objectKey(object.metadata))
    return id === undefined ? null : { part, id }
  }
}

/** A store of these objects alone: they are read by plans and resolvers as those of a cache are. */
function storedApart(
  { cluster, kind }: ClusterKind,
  objects: readonly KubernetesObject[],
  position: string,
): KindView {
  const { resource, metadataOnly } = kind
  const codec = createObjectCodec({ resource, metadataOnly })
  const store = new IndexedStore({ resource, codec })
  for (const object of objects) {
    store.put({ key: objectKey(object.metadata), held: codec.hold(object), object })
  }
  if (position !== '') store.advance(resourceVersion(position))
  return { cluster, kind, view: store, scope: unrestricted, incarnation: '', isDirect: true }
}

/** Which object a row of a store is. */
export function directObject({ cluster, kind, view }: KindView, id: number): DirectObject {
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const place = namespace === '' ? { name } : { namespace, name }
  return { cluster, kind, ...place, uid: view.uidOf(id) }
}

/** The outcomes of reads of one sort: noted when they are asked for, read together. */
class Outcomes<Need, Outcome> {
  readonly #outcomes = new Map<string, Outcome | Error>()
  readonly #noted = new Map<string, Need>()

  get isLacking(): boolean {
    return this.#noted.size > 0
  }

  /** `undefined` where it is noted. `need` is told how many there are with it. Throws the error of the read. */
  read(name: string, need: (count: number) => Need): Outcome | undefined {
    const outcome = this.#outcomes.get(name)
    if (outcome instanceof Error) throw outcome
    if (outcome === undefined && !this.#noted.has(name)) {
      this.#noted.set(name, need(this.#outcomes.size + this.#noted.size + 1))
    }
    return outcome
  }

  /** Reads what is noted; `count` is how many there are with those that were read before. */
  async fetch(
    readAll: (
      needs: readonly Need[],
      count: number,
    ) => ReadonlyMap<Need, Outcome | Error> | Promise<ReadonlyMap<Need, Outcome | Error>>,
  ): Promise<void> {
    const noted = [...this.#noted]
    if (noted.length === 0) return
    this.#noted.clear()
    const count = this.#outcomes.size + noted.length
    const outcomes = await readAll(
      noted.map(([, need]) => need),
      count,
    )
    for (const [name, need] of noted) {
      const outcome = outcomes.get(need)
      this.#outcomes.set(
        name,
        outcome === undefined ? new TypeError(`${name} is not read`) : outcome,
      )
    }
  }
}

function nameOf(need: ObjectNeed): string {
  const { cluster, kind } = need.at
  return JSON.stringify([cluster, kind.typeName, 'object' in need ? need.object : need.list])
}

function nameOfObject({ cluster, kind, namespace, name, uid }: DirectObject): string {
  return JSON.stringify([cluster, kind.typeName, namespace, name, uid])
}

function tooManyReads(value: number): ClientError {
  const message = `the operation makes more than ${maxReads} live reads`
  const hint = 'read from the caches, or in several queries'
  return new ClientError('QUERY_TOO_COSTLY', message, { value, hint })
}
