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

/** A part of a list from the API server, in a store of its own. */
export interface StoredList {
  readonly part: KindView
  readonly list: DirectList
}

type ObjectNeed = { readonly at: ClusterKind } & (
  | { readonly object: ObjectPlace }
  | { readonly list: DirectListRequest }
)

/** Concurrent reads of one operation. */
const maxParallel = 8
/** The objects and lists that one operation may read. Each is a request to the API server. */
const maxReads = 100
/** The rounds of reads that one operation may make: objects read directly may name further ones. */
const maxRounds = 32

export interface DirectReadsOptions {
  readonly served: ServedSchema
  readonly limits: Pick<OperationLimits, 'liveDeadlineMs'>
  /** The access of the viewer; `undefined`: everything. */
  readonly access: ViewerAccess | undefined
  /** Absent in frames, which do not answer the data of Secrets. */
  readonly secrets?: SecretReader | undefined
}

/**
 * The reads of one operation from the API server: kinds without a cache, look-ups with `live: true`, printed tables,
 * and the data of Secrets. When a run needs a read that is missing, the field is `null` and the need is noted. {@link
 * fetch} reads all noted needs, with a deadline, and the operation runs again. Each need is read once.
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

  /** Whether {@link fetch} has needs to read. */
  get isLacking(): boolean {
    return this.#found.isLacking || this.#columns.isLacking || this.#secrets.isLacking
  }

  /** Finds an object by name; `undefined` where it is absent, hidden or not read yet. Throws `ClientError`. */
  object(at: ClusterKind, place: ObjectPlace, budget: WorkBudget): FoundObject | undefined {
    const reads = budget.report?.reachedLive()
    if (this.#options.access?.looks(at, objectKey(place)) === false) return undefined
    const found = this.#read(at, { at, object: place }) as FoundObject | null | undefined
    if (found === undefined || found === null) return undefined
    if (reads !== undefined) reads.returned += 1
    return found
  }

  /** A part of a list; `undefined` until it is read. Throws `ClientError`. */
  list(at: ClusterKind, list: DirectListRequest, budget: WorkBudget): StoredList | undefined {
    budget.report?.reachedLive()
    return this.#read(at, { at, list }) as StoredList | undefined
  }

  /**
   * The columns that the API server prints for an object; `null` if the object is gone, `undefined` until they are
   * read. Throws `ClientError`.
   */
  columns(object: DirectObject, wide: boolean): readonly PrinterColumn[] | null | undefined {
    const columns = this.#columns.read(nameOfObject(object), () => this.#checkRounds(object))
    return columns?.filter(({ priority }) => wide || priority === 0) ?? columns
  }

  /** The contents of a Secret; `null` if the Secret is gone, `undefined` until they are read. Throws `ClientError`. */
  secret(object: DirectObject, budget: WorkBudget): SecretContents | null | undefined {
    if (this.#options.secrets === undefined) throw noSecretInFrames(object)
    const reads = budget.report?.reachedLive()
    budget.spend('examined', 1)
    const contents = this.#secrets.read(nameOfObject(object), () => this.#checkRounds(object))
    if (reads !== undefined && contents) reads.returned += 1
    return contents
  }

  /** Reads all noted needs; `undefined` if there are none. Never rejects. */
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

  /**
   * Why the viewer may not read this; `null` for a single object, which then counts as absent. The gateway reads with
   * its own account, which may see more.
   */
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

/** Stores these objects alone, so that plans and resolvers read them as they read a cache. */
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

/** The object in a row of a store. */
export function directObject({ cluster, kind, view }: KindView, id: number): DirectObject {
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const place = namespace === '' ? { name } : { namespace, name }
  return { cluster, kind, ...place, uid: view.uidOf(id) }
}

/** The outcomes of one sort of reads: fields note needs, and `fetch` reads them together. */
class Outcomes<Need, Outcome> {
  readonly #outcomes = new Map<string, Outcome | Error>()
  readonly #noted = new Map<string, Need>()

  get isLacking(): boolean {
    return this.#noted.size > 0
  }

  /**
   * Returns the outcome, or notes the need and returns `undefined`. `need` receives the count of reads including this
   * one. Throws the error of the read.
   */
  read(name: string, need: (count: number) => Need): Outcome | undefined {
    const outcome = this.#outcomes.get(name)
    if (outcome instanceof Error) throw outcome
    if (outcome === undefined && !this.#noted.has(name)) {
      this.#noted.set(name, need(this.#outcomes.size + this.#noted.size + 1))
    }
    return outcome
  }

  /** Reads the noted needs. `readAll` receives their count, earlier reads included. */
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
