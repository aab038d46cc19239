/*
 * The reads of one operation from the API server: kinds without a cache, look-ups with `live: true`, printed tables, the
 * data of Secrets, the managers of fields, and the logs of pods; and its questions to the archive. If a run lacks a read, the
 * field is `null` and the need is noted. `fetch` makes
 * all noted reads, each once, within a deadline, and the operation runs again. The gateway reads with its own account,
 * which may see more than the viewer, so access is reviewed before each read. Secrets are read with the token of the
 * caller.
 */

import type { FieldNode } from 'graphql'
import { placeOf, questionOf } from '../../../access/access-question.ts'
import type { CallerToken } from '../../../access/authentication/authenticator.ts'
import { certificateEndsOf } from '../../../cache/certificate-ends.ts'
import { PrometheusError, type UsageQuestion } from '../../../cache/prometheus.ts'
import type { Series } from '../../../cache/usage-series.ts'
import type { DirectApi, DirectList, DirectListRequest } from '../../../cache/direct-api.ts'
import { createObjectCodec } from '../../../informer/codec/object-codec.ts'
import { IndexedStore } from '../../../informer/store/indexed-store.ts'
import type { ObjectId } from '../../../informer/store/store-view.ts'
import type { Fields } from '../../../kubernetes/fields.ts'
import { type KubernetesObject, objectKey, splitObjectKey } from '../../../kubernetes/object.ts'
import { resourceVersion } from '../../../kubernetes/resource-version.ts'
import { ApiStatusError } from '../../../kubernetes/status.ts'
import { boundedParallel } from '../../../lib/concurrency.ts'
import { withDeadline } from '../../../lib/deadline.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { unrestricted } from '../../../query/condition/scope.ts'
import type { WorkBudget } from '../../../query/condition/work-budget.ts'
import type { PastMoment } from '../../model/object-id.ts'
import { ClientError } from '../../errors/client-error.ts'
import { isTokenFor } from '../../prepare/caller-server.ts'
import type { ClusterKind, KindView, FoundObject } from '../../prepare/kind-view.ts'
import {
  type OperationLimits,
  type ServedSchema,
  servesSecretData,
} from '../../served/served-schema.ts'
import { failedRead, forbidden, forbiddenList, lateRead } from '../../prepare/read-failures.ts'
import type { ViewerAccess } from '../../prepare/viewer-access.ts'
import type { DirectFetch } from '../../prepare/preparation.ts'
import type { ExtensionField } from '../../schema/field-source.ts'
import type { KindLogsArguments, PodLogs, PrinterColumn } from '../../schema/gateway-types.ts'
import {
  type ArchiveAnswer,
  type ArchiveAsk,
  archiveOf,
  type ArchiveQuestions,
  askArchive,
} from './archive-reads.ts'
import {
  type DirectObject,
  type IdentifiedPlace,
  type ObjectPlace,
  printedRows,
  secretOutline,
  type SecretOutline,
} from './direct-tables.ts'

export interface StoredList {
  readonly part: KindView
  readonly list: DirectList
}

/** A Secret with its values. */
export interface SecretContents extends SecretOutline {
  /** Base64, by key. */
  readonly data: Readonly<Record<string, string>> | null
}

/** The request and the outcome of each form of read. `null`: the object is gone or hidden. */
interface Forms {
  readonly object: { readonly asked: ObjectPlace; readonly outcome: FoundObject | null }
  readonly list: { readonly asked: DirectListRequest; readonly outcome: StoredList }
  readonly columns: {
    readonly asked: IdentifiedPlace
    readonly outcome: readonly PrinterColumn[] | null
  }
  readonly secret: { readonly asked: IdentifiedPlace; readonly outcome: SecretContents | null }
  readonly secretOutline: {
    readonly asked: IdentifiedPlace
    readonly outcome: SecretOutline | null
  }
  /** `outcome`: whether they are read. */
  readonly certificateEnds: { readonly asked: { readonly state: number }; readonly outcome: true }
  /** What Prometheus knows. `null`: the viewer may not see the use of one of the objects. */
  readonly usage: { readonly asked: UsageQuestion; readonly outcome: Series | null }
  readonly managers: { readonly asked: ObjectPlace; readonly outcome: readonly Fields[] | null }
  /** A question to the archive, whose parts the caller may list. */
  readonly archive: { readonly asked: ArchiveAsk; readonly outcome: ArchiveAnswer }
}

/** Reads the logs of pods as the caller, within a time. Rejects with `ClientError`. */
export type ReadLogs = (args: KindLogsArguments, deadlineMs: number) => Promise<PodLogs>

/** The object of any type that an extension's field belongs to. Equal keys name the same object. */
export interface ExtensionParent {
  readonly key: string
  readonly cluster: string | undefined
  readonly source: unknown
}

export interface Answered {
  readonly value: unknown
}

export interface ExtensionCalls extends DirectFetch {
  ofRow(part: KindView, id: ObjectId): ExtensionParent
  /** `cluster`: the cluster of the object of a kind around the source, if there is one. */
  of(source: unknown, cluster: string | undefined): ExtensionParent
  /** The value of a field; `undefined` until its resolver has been called. Throws the error of the resolver. */
  value(
    field: ExtensionField,
    args: Readonly<Record<string, unknown>>,
    parent: ExtensionParent,
    nodes: readonly FieldNode[],
  ): Answered | undefined
  /** The object of a kind that a resolver has given; `undefined` for any other value. */
  placeOf(
    value: unknown,
    cluster: string | undefined,
  ): { readonly at: ClusterKind; readonly key: string } | undefined
}

type Need = {
  readonly [F in keyof Forms]: {
    readonly form: F
    readonly at: F extends 'archive' ? undefined : ClusterKind
    readonly asked: Forms[F]['asked']
  }
}[keyof Forms]

type Outcome = Forms[keyof Forms]['outcome'] | Error

/** The fields `podLogs` with different arguments in one operation. */
const maxLogs = 10
/** How long an operation waits for the dates of certificates. */
const maxCertificatesMs = 2_000
/** The objects whose managers one operation may read. */
const maxManaged = 50
const maxParallel = 8
/**
 * The objects, lists and Secrets that one operation may read, and the questions to the archive. Each is a request to the API
 * server or to the worker of the archive.
 */
const maxReads = 100
/** The rounds of reads that one operation may make: objects read directly may name further ones. */
const maxRounds = 32

export interface DirectReadsOptions {
  readonly served: ServedSchema
  readonly limits: Pick<OperationLimits, 'liveDeadlineMs'>
  /** The access of the viewer; `undefined` without authentication: the gateway then reads with its own account. */
  readonly access: ViewerAccess | undefined
  readonly token: CallerToken | undefined
  /** Receives each Secret that was read, as `cluster/namespace/name`. */
  readonly read: (secret: string) => void
  /** Absent if logs are not served. */
  readonly logs: ReadLogs | undefined
  /** Absent without extensions. */
  readonly extensions?: ExtensionCalls | undefined
}

export class DirectReads {
  readonly #options: DirectReadsOptions
  readonly #outcomes = new Map<string, Outcome>()
  readonly #noted = new Map<string, Need>()
  /** The objects that the viewer may not get, by the keys of their outcomes. */
  readonly #refused = new Set<string>()
  /** The objects whose managers are read. */
  readonly #managed = new Set<string>()
  readonly #logs = new Map<string, PodLogs | Error>()
  readonly #notedLogs = new Map<string, KindLogsArguments>()
  #reads = 0
  #rounds = 0

  constructor(options: DirectReadsOptions) {
    this.#options = options
  }

  get isLacking(): boolean {
    if (this.#noted.size > 0 || this.#notedLogs.size > 0) return true
    return this.#options.extensions?.isLacking === true
  }

  /** The calls of resolvers. Every schema with extension fields has them. */
  get extensions(): ExtensionCalls {
    const { extensions } = this.#options
    if (extensions === undefined) throw new TypeError('the operation has no extensions')
    return extensions
  }

  /** Finds an object by name; `undefined` if it is absent, hidden or not read yet. Throws `ClientError`. */
  object(at: ClusterKind, asked: ObjectPlace, budget: WorkBudget): FoundObject | undefined {
    const reads = budget.report?.reachedLive()
    if (this.#options.access?.looks(at, asked) === false) return undefined
    const found = this.#outcome('object', at, asked) ?? undefined
    if (reads !== undefined && found !== undefined) reads.returned += 1
    return found
  }

  /** Whether the viewer may not get an object, whether or not it exists. A refusal counts until the operation ends. */
  isRefused(at: ClusterKind, asked: ObjectPlace): boolean {
    const known = this.#options.access?.looks(at, asked)
    return known === undefined ? this.#refused.has(outcomeKey('object', at, asked)) : !known
  }

  /** A part of a list, without objects until it is read: the run is then repeated. Throws `ClientError`. */
  list(at: ClusterKind, asked: DirectListRequest, budget: WorkBudget): StoredList {
    budget.report?.reachedLive()
    return this.#outcome('list', at, asked) ?? { part: storedApart(at, [], ''), list: emptyList }
  }

  /**
   * The columns that the API server prints for an object; `null` if the object is gone, `undefined` until they are
   * read. Throws `ClientError`.
   */
  columns(object: DirectObject, wide: boolean): readonly PrinterColumn[] | null | undefined {
    const { cluster, kind, ...asked } = object
    const columns = this.#outcome('columns', { cluster, kind }, asked)
    return columns?.filter(({ priority }) => wide || priority === 0) ?? columns
  }

  /** A Secret with its values; `null` if it is gone, `undefined` until they are read. Throws `ClientError`. */
  secret(object: DirectObject, budget: WorkBudget): SecretContents | null | undefined {
    const { cluster, kind, ...asked } = object
    this.#noted.delete(outcomeKey('secretOutline', object, asked))
    return counted(budget, () => this.#outcome('secret', { cluster, kind }, asked))
  }

  /**
   * The type and keys of a Secret, as {@link secret}: by that read if the operation makes it, too, or if its managers do not name all
   * keys and the gateway serves values.
   */
  secretOutline(object: DirectObject, budget: WorkBudget): SecretOutline | null | undefined {
    const { cluster, kind, ...asked } = object
    const whole = outcomeKey('secret', object, asked)
    const read = (form: 'secret' | 'secretOutline'): SecretOutline | null | undefined =>
      this.#outcome(form, { cluster, kind }, asked)
    return counted(budget, () => {
      const known = this.#outcomes.get(whole)
      const isRefused = known instanceof Error
      if (!isRefused && (known !== undefined || this.#noted.has(whole))) return read('secret')
      const outline = read('secretOutline')
      const isShort = outline != null && outline.keys.length !== outline.keyCount
      const isServed = isShort && !isRefused && servesSecretData(this.#options.served)
      return isServed ? read('secret') : outline
    })
  }

  /** Reads when the certificates of a cluster's Secrets end; the run is then repeated. */
  certificateEnds(at: ClusterKind, state: number): void {
    this.#outcome('certificateEnds', at, { state })
  }

  /** The managers of an object; `null` if it is gone or hidden, `undefined` until they are read. Throws `ClientError`. */
  managers(
    at: ClusterKind,
    asked: ObjectPlace,
    budget: WorkBudget,
  ): readonly Fields[] | null | undefined {
    budget.report?.reachedLive()
    budget.spend('examined', 1)
    const key = outcomeKey('managers', at, asked)
    if (!this.#managed.has(key) && this.#managed.size >= maxManaged) {
      const message = `an operation reads the managers of at most ${maxManaged} objects`
      const hint = 'ask for fewer objects, or use several queries'
      throw new ClientError('QUERY_TOO_COSTLY', message, { value: maxManaged, hint })
    }
    this.#managed.add(key)
    return this.#outcome('managers', at, asked)
  }

  /**
   * What Prometheus knows of the use of objects; `null` if the viewer may not see that of one of them, `undefined` until it is
   * read. Throws `ClientError`.
   */
  usage(at: ClusterKind, asked: UsageQuestion, budget: WorkBudget): Series | null | undefined {
    budget.report?.reachedLive()
    return this.#outcome('usage', at, asked)
  }

  /** An answer of the archive; `undefined` until it is there. Throws `ClientError`. */
  archive<Q extends keyof ArchiveQuestions>(
    question: Q,
    asked: ArchiveQuestions[Q]['asked'],
  ): ArchiveQuestions[Q]['answer'] | undefined {
    archiveOf(this.#options.served)
    const ask = { question, asked } as ArchiveAsk
    return this.#outcome('archive', undefined, ask)
  }

  /** The logs of some pods; `undefined` until they are read. Throws `ClientError`. */
  logs(asked: KindLogsArguments, budget: WorkBudget): PodLogs | undefined {
    const reads = budget.report?.reachedLive()
    budget.spend('examined', 1)
    const key = JSON.stringify(asked)
    const outcome = this.#logs.get(key)
    if (outcome instanceof Error) throw outcome
    if (outcome === undefined) {
      if (this.#logs.size + this.#notedLogs.size >= maxLogs) {
        const message = `an operation reads podLogs with at most ${maxLogs} different sets of arguments`
        const hint = 'name more pods in one podLogs, or use several queries'
        throw new ClientError('QUERY_TOO_COSTLY', message, { value: maxLogs, hint })
      }
      this.#notedLogs.set(key, asked)
    } else if (reads !== undefined) reads.returned += outcome.lines.length
    return outcome
  }

  /** Reads all noted needs; `undefined` if there are none. Never rejects. */
  fetch(): Promise<unknown> | undefined {
    if (!this.isLacking) return undefined
    const { extensions } = this.#options
    return Promise.all([this.#fetchLogs(), this.#fetchObjects(), extensions?.fetch()])
  }

  /** The outcome of a read. `undefined`: the need is noted. Throws the error of the read. */
  #outcome<F extends keyof Forms>(
    form: F,
    at: ClusterKind | undefined,
    asked: Forms[F]['asked'],
  ): Forms[F]['outcome'] | undefined {
    const key = outcomeKey(form, at, asked)
    const outcome = this.#outcomes.get(key)
    if (outcome instanceof Error) throw outcome
    if (outcome === undefined && !this.#noted.has(key)) {
      if (this.#rounds >= maxRounds) {
        const { cluster } = at ?? {}
        const type = at?.kind.typeName ?? 'the past'
        const message = `reading ${type} would take more than ${maxRounds} live reads, one after the other`
        const hint = 'nest fewer relations to kinds that are read live, or use several queries'
        throw new ClientError('QUERY_TOO_COSTLY', message, { cluster, type, hint })
      }
      this.#noted.set(key, { form, at, asked } as Need)
    }
    return outcome
  }

  async #fetchLogs(): Promise<void> {
    const noted = [...this.#notedLogs]
    this.#notedLogs.clear()
    const { logs: read, limits } = this.#options
    const { liveDeadlineMs } = limits
    const endMs = performance.now() + liveDeadlineMs
    for (const [key, asked] of noted) {
      const leftMs = Math.floor(endMs - performance.now())
      let outcome: PodLogs | Error
      if (read === undefined) outcome = new ClientError('UNSUPPORTED', 'logs are not served here')
      else if (leftMs > 0) {
        outcome = await read(asked, leftMs).catch((error: unknown) =>
          error instanceof Error ? error : new Error(String(error)),
        )
      } else {
        const message = `podLogs was not read within ${liveDeadlineMs} ms`
        const hint = 'read fewer logs in one operation, or try again in a moment'
        outcome = new ClientError('DEADLINE_EXCEEDED', message, { value: liveDeadlineMs, hint })
      }
      this.#logs.set(key, outcome)
    }
  }

  async #fetchObjects(): Promise<void> {
    if (this.#noted.size === 0) return
    this.#rounds += 1
    const noted = [...this.#noted]
    this.#noted.clear()
    for (const [, need] of noted) this.#reads += readsOf(need)
    const refusals = await Promise.all(noted.map(([, need]) => this.#refusal(need)))
    const allowed = noted.filter(([key], at) => {
      const refusal = refusals[at]
      if (refusal !== undefined) this.#outcomes.set(key, refusal)
      if (refusal === null) this.#refused.add(key)
      return refusal === undefined
    })
    // Objects of one kind are printed together.
    const requests = Map.groupBy(allowed, ([key, { form, at }]) =>
      form === 'columns' && at !== undefined ? `${at.cluster}/${at.kind.typeName}` : key,
    )
    const { served, limits, token } = this.#options
    const signal = AbortSignal.timeout(limits.liveDeadlineMs)
    await using callers = new CallerConnections(served, token)
    await boundedParallel([...requests.values()], maxParallel, async (together) => {
      const outcomes = await this.#readTogether(together, callers, signal)
      for (const [at, [key]] of together.entries()) this.#outcomes.set(key, outcomes[at] ?? null)
    })
  }

  /**
   * Why the operation or its viewer may not read this; `undefined` if they may. `null`: a single object, which counts as
   * absent.
   */
  async #refusal(need: Need): Promise<Error | null | undefined> {
    const { access, served, token } = this.#options
    const isCounted = need.form !== 'columns' && need.form !== 'certificateEnds'
    if (isCounted && this.#reads > maxReads) {
      const value = this.#reads
      const message = `the operation needs ${value} live reads, and at most ${maxReads} are made`
      const hint = 'ask for fewer objects that are read live, or use several queries'
      return new ClientError('QUERY_TOO_COSTLY', message, { value, hint })
    }
    if (access === undefined || need.form === 'archive') return undefined
    const { form, at, asked } = need
    try {
      switch (form) {
        case 'object':
        case 'managers':
          return (await access.mayLook(at, asked)) ? undefined : null
        case 'usage': {
          for (const key of Object.keys(asked.objects)) {
            if (!(await access.mayLook(at, splitObjectKey(key)))) return null
          }
          return undefined
        }
        case 'list': {
          const { namespace = '' } = asked
          const question = questionOf('list', at.kind.resource, { namespace })
          return (await access.may(at.cluster, question)) ? undefined : forbiddenList(at, false)
        }
        case 'secret':
        case 'secretOutline': {
          // The API server checks the token. A proxy in front may add its own credentials, so access is reviewed, too.
          if (form === 'secret') tokenFor(at, served, token)
          const { resource } = at.kind
          const { namespace = '', name } = asked
          const question = questionOf('get', resource, placeOf(resource, { namespace, name }))
          return (await access.may(at.cluster, question)) ? undefined : forbidden(at, 'get')
        }
        case 'certificateEnds':
        case 'columns':
          return undefined
      }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** Makes one request: for one need, or for the columns of several objects of one kind. */
  async #readTogether(
    together: readonly (readonly [string, Need])[],
    callers: CallerConnections,
    signal: AbortSignal,
  ): Promise<readonly Outcome[]> {
    const needs = together.map(([, need]) => need)
    const [first] = needs
    if (first === undefined) return []
    const { access, limits, served } = this.#options
    if (first.form === 'archive') {
      const caller = {
        lane: access?.identity ?? '',
        deadlineMs: limits.liveDeadlineMs,
      }
      return [await askArchive(archiveOf(served), first.asked, caller)]
    }
    const { at } = first
    try {
      if (first.form !== 'columns') return [await this.#read(first, callers, signal)]
      const objects = needs.map(({ asked }) => asked as IdentifiedPlace)
      const rows = await printedRows(this.#api(at), at, objects, signal)
      return objects.map((object) => rows.get(objectKey(object)) ?? null)
    } catch (error) {
      return needs.map(() => {
        if (error instanceof ClientError) return error
        if (signal.aborted) return lateRead(at, limits.liveDeadlineMs)
        if (first.form === 'secret') return failedSecret(at, error)
        if (error instanceof PrometheusError) {
          const hint = "the gateway's own measurements stand in its place"
          const details = { cluster: at.cluster, hint, retryAfterMs: 5_000, cause: error }
          return new ClientError('METRICS_UNREACHABLE', error.message, details)
        }
        return failedRead(at, error, access !== undefined)
      })
    }
  }

  async #read(
    { form, at, asked }: Exclude<Need, { readonly form: 'columns' | 'archive' }>,
    callers: CallerConnections,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { cluster, kind } = at
    const { resource, metadataOnly } = kind
    const of = { resource, metadataOnly }
    switch (form) {
      case 'object': {
        const object = await this.#api(at).object(of, asked, signal)
        if (object === undefined) return null
        const part = storedApart(at, [object], '')
        const id = part.view.idOf(objectKey(object.metadata))
        return id === undefined ? null : { part, id }
      }
      case 'list': {
        const list = await this.#api(at).list(of, asked, signal)
        return { part: storedApart(at, list.objects, list.resourceVersion), list }
      }
      case 'certificateEnds': {
        const cache = this.#options.served.clusters.get(cluster)
        if (cache === undefined) return true
        const read = certificateEndsOf(cache).read(resource, asked.state)
        // The next answer has what comes later.
        await withDeadline('certificates', read, maxCertificatesMs, signal).catch(() => undefined)
        return true
      }
      case 'usage': {
        const { prometheus } = this.#options.served.clusters.get(cluster) ?? {}
        return (await prometheus?.usage(asked, this.#options.access?.identity ?? '')) ?? null
      }
      case 'managers':
        return (await this.#api(at).managers(of, asked, signal)) ?? null
      case 'secretOutline': {
        const outline = await secretOutline(this.#api(at), at, asked, signal)
        if (outline !== undefined) this.#options.read(secretName(at, asked))
        return outline ?? null
      }
      case 'secret': {
        const api = this.#options.access === undefined ? this.#api(at) : callers.to(at)
        const { namespace = '', name, uid } = asked
        const whole = { resource, metadataOnly: false }
        const found = await api.object(whole, { namespace, name }, signal)
        // The object is gone, or was replaced under its name.
        if (found === undefined || (uid !== '' && uid !== found.metadata.uid)) return null
        this.#options.read(secretName(at, asked))
        const { data = null, type = null } = found as Partial<SecretContents>
        const keys = Object.keys(data ?? {}).toSorted()
        return { data, type, keys, keyCount: keys.length }
      }
    }
  }

  #api({ cluster, kind }: ClusterKind): DirectApi {
    const cache = this.#options.served.clusters.get(cluster)
    if (cache === undefined) throw new TypeError(`there is no cluster ${cluster}`)
    return cache.direct(kind.resource)
  }
}

/** Counts a read of a Secret. */
function counted<T>(budget: WorkBudget, read: () => T): T {
  const reads = budget.report?.reachedLive()
  budget.spend('examined', 1)
  const found = read()
  if (reads !== undefined && found) reads.returned += 1
  return found
}

function secretName({ cluster }: ClusterKind, { namespace = '', name }: ObjectPlace): string {
  return `${cluster}/${namespace}/${name}`
}

function outcomeKey(form: keyof Forms, at: ClusterKind | undefined, asked: object): string {
  return JSON.stringify([form, at?.cluster, at?.kind.typeName, asked])
}

/** Objects in one request to the archive that count as one read. */
const questionsPerRead = 10

/** How much a need counts towards {@link maxReads}. One request prints many objects. */
function readsOf({ form, asked }: Need): number {
  if (form === 'columns' || form === 'certificateEnds') return 0
  const isOfEach = form === 'archive' && asked.question === 'changesOfEach'
  return isOfEach ? Math.ceil(asked.asked.length / questionsPerRead) : 1
}

const emptyList: DirectList = {
  objects: [],
  isCut: false,
  resourceVersion: '',
  continue: undefined,
  remainingItemCount: undefined,
}

/** A store of only these objects, so that plans read them as they read a cache. */
function storedApart(
  { cluster, kind }: ClusterKind,
  objects: readonly KubernetesObject[],
  position: string,
  metadataOnly = kind.metadataOnly,
): KindView {
  const { resource } = kind
  const codec = createObjectCodec({ resource, metadataOnly })
  const store = new IndexedStore({ resource, codec })
  for (const object of objects) {
    store.put({ key: objectKey(object.metadata), held: codec.hold(object), object })
  }
  if (position !== '') store.advance(resourceVersion(position))
  return { cluster, kind, view: store, scope: unrestricted, incarnation: '', isDirect: true }
}

/** A found object as a value: the value writer writes it from its store. */
export class StoredObject implements FoundObject {
  readonly part: KindView
  readonly id: ObjectId

  constructor({ part, id }: FoundObject) {
    this.part = part
    this.id = id
  }

  get object(): KubernetesObject {
    return this.part.view.object(this.id)
  }
}

/** An object as the API server answered a write, as plans read it. */
export function storedObject(at: ClusterKind, object: KubernetesObject): StoredObject {
  const part = storedApart(at, [object], '')
  const id = part.view.idOf(objectKey(object.metadata))
  if (id === undefined) throw new TypeError('a store has the object that it was given')
  return new StoredObject({ part, id })
}

/** An object in a past state. Of a Secret, it has the keys. */
export function pastObject(
  at: ClusterKind,
  object: KubernetesObject,
  past: PastMoment,
): StoredObject {
  const part: KindView = { ...storedApart(at, [object], '', false), past }
  const id = part.view.idOf(objectKey(object.metadata))
  if (id === undefined) throw new TypeError('a store has the object that it was given')
  return new StoredObject({ part, id })
}

export function directObject({ cluster, kind, view }: KindView, id: number): DirectObject {
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const place = namespace === '' ? { name } : { namespace, name }
  return { cluster, kind, ...place, uid: view.uidOf(id) }
}

/** Connections to the API servers, opened with the token of the caller. */
class CallerConnections implements AsyncDisposable {
  readonly #served: ServedSchema
  readonly #token: CallerToken | undefined
  readonly #open = new Map<string, DirectApi & AsyncDisposable>()

  constructor(served: ServedSchema, token: CallerToken | undefined) {
    this.#served = served
    this.#token = token
  }

  to({ cluster, kind }: ClusterKind): DirectApi {
    return getOrInsert(this.#open, cluster, () => {
      const token = tokenFor({ cluster, kind }, this.#served, this.#token)
      const cache = this.#served.clusters.get(cluster)
      if (cache === undefined) throw new TypeError(`there is no cluster ${cluster}`)
      return cache.directAs(kind.resource, token.reveal())
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(Array.from(this.#open.values(), (api) => api[Symbol.asyncDispose]()))
  }
}

/** The caller's token for a cluster. Throws `ClientError`: a token goes only to the API server that it is for. */
function tokenFor(
  at: ClusterKind,
  { members }: ServedSchema,
  token: CallerToken | undefined,
): CallerToken {
  if (token === undefined) {
    const hint = 'send a bearer token: the gateway does not impersonate callers'
    throw unreadable(at, 'you sent no bearer token to read it with', hint)
  }
  const [byDefault] = members.keys()
  const own = token.cluster ?? byDefault
  if (!isTokenFor({ members }, at.cluster, token)) {
    const hint = `read Secrets of cluster ${own}: the gateway sends your token nowhere else`
    throw unreadable(at, `your token is not for cluster ${at.cluster}`, hint)
  }
  return token
}

function unreadable({ cluster, kind }: ClusterKind, why: string, hint: string): ClientError {
  const { typeName } = kind
  const message = `the data of this ${typeName} cannot be read: ${why}`
  return new ClientError('UNSUPPORTED', message, { cluster, type: typeName, hint })
}

/** The error of a failed read of a Secret. Leaves out the cause: its text may quote the contents. */
function failedSecret(at: ClusterKind, cause: unknown): ClientError {
  const { cluster, kind } = at
  const details = { cluster, type: kind.typeName }
  if (!(cause instanceof ApiStatusError)) {
    const message = `${kind.typeName} cannot be read from the API server`
    return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
  }
  const { httpStatus, retryAfterMs } = cause
  if (httpStatus === 403) return forbidden(at, 'get')
  if (httpStatus === 401) {
    const hint = 'use a token whose audiences include the API server, not the gateway alone'
    return unreadable(at, `the API server of cluster ${cluster} does not accept your token`, hint)
  }
  const message = `${kind.typeName} cannot be read from the API server: HTTP ${httpStatus}`
  return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs })
}
