/*
 * One write, with the credentials of the caller (`CallerWriter.write`): it reviews the permission, reads the present
 * object, sends the write with preconditions, finds the changed fields, and waits until the cache has the write. If the
 * caller may write an object but not get it, the write is made and the answer has no changes. Values of Secrets are shown
 * only if the operation may read them, and then noted as read.
 */

import { questionOf, placeOf } from '../../access/access-question.ts'
import type { ApiServer } from '../../api-server/api-server.ts'
import { ObjectClient } from '../../api-server/writes/object-client.ts'
import type { AppliedObject } from '../../api-server/writes/object-patch.ts'
import type { ApplyOptions } from '../../api-server/writes/write-options.ts'
import type { CallerServer } from '../../cache/cluster-cache.ts'
import { createObjectCodec } from '../../informer/codec/object-codec.ts'
import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { textOf } from '../../kubernetes/fields.ts'
import {
  type KubernetesObject,
  objectKey,
  splitObjectKey,
  type Unstructured,
} from '../../kubernetes/object.ts'
import { type ResourceVersion, resourceVersion } from '../../kubernetes/resource-version.ts'
import { present } from '../../lib/options.ts'
import { quoted } from '../../lib/text.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import type { OperationObserver, WriteReport } from '../answer/operation-observer.ts'
import { type QueryOrigin, runQuery } from '../answer/planned-queries.ts'
import { ClientError, clientErrorOf } from '../errors/client-error.ts'
import { decodeObjectId } from '../model/object-id.ts'
import { type Caller, callerServer } from '../prepare/caller-server.ts'
import { inTurns, queryLane, turns } from '../prepare/user-shares.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import { storedObject } from '../reads/direct/direct-reads.ts'
import { identified, kindOfIdentity } from '../reads/object-read.ts'
import { ReadRun } from '../reads/read-run.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import {
  contentsIn,
  contentsOfOthers,
  type FieldChange,
  fieldChanges,
  isContent,
} from '../../kubernetes/field-changes.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import {
  conflictWith,
  failedWrite,
  forbiddenWrite,
  notAsLookedAt,
  type WritePlace,
  type WriteVerb,
} from './write-errors.ts'
import type { OperationBytes, WriteLimits } from './write-limits.ts'
import { previewOf, type WritePayload } from './write-payload.ts'

export interface WriteWishes {
  readonly dryRun?: boolean | null | undefined
  readonly fieldManager?: string | null | undefined
  /** The version that the caller has seen. */
  readonly resourceVersion?: string | null | undefined
}

export const defaultFieldManager = 'informerql'

export interface CallerWriterOptions {
  readonly served: ServedSchema
  readonly caller: Caller
  /** Absent without authentication. */
  readonly access: ViewerAccess | undefined
  readonly limits: WriteLimits
  /** The deadline of the operation's answer, by `performance.now()`. */
  readonly endsAtMs: number
  /**
   * Receives each Secret whose values the changes show, as `cluster/namespace/name`. Absent: values of Secrets are
   * withheld.
   */
  readonly secrets?: Set<string> | undefined
  /** Counts the memory of the payloads. Absent: nothing keeps them. */
  readonly held?: OperationBytes | undefined
}

/** A client of the caller for one resource, and the warnings of the API server so far. */
interface Session {
  readonly client: ObjectClient<Unstructured>
  readonly server: Pick<ApiServer, 'request'>
  readonly warnings: readonly string[]
}

interface SendOptions {
  readonly dryRun: boolean
  readonly deadlineMs: number
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string }
}

const unseenBefore = 'the changes are not known, as you may not get this object'
const withheldWarning = 'the API server warns, and its text is withheld, as it may quote values'
const unseenAfter = 'this was written, but its present state could not be read'

/** The time reserved for the answer after the API server has answered. */
const reserveMs = 500

/** Writes with the credentials of the caller. All methods reject with `ClientError`. */
export class CallerWriter implements AsyncDisposable {
  readonly #options: CallerWriterOptions
  readonly #servers = new Map<string, CallerServer>()

  constructor(options: CallerWriterOptions) {
    this.#options = options
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(
      Array.from(this.#servers.values(), (one) => one[Symbol.asyncDispose]()),
    )
  }

  /** The present object in the API server, with `managedFields`. Rejects if it is not the object that the caller means. */
  async read(
    place: WritePlace,
    resource: ApiResource = place.kind.resource,
  ): Promise<Unstructured> {
    const { client } = this.#session(place, resource, {})
    let object: Unstructured
    try {
      object = await client.get(nameOf(place), { deadlineMs: this.#deadlineMs(place) })
    } catch (error) {
      throw failedWrite(place, { verb: 'get' }, error)
    }
    if (place.uid !== undefined && place.uid !== '' && object.metadata.uid !== place.uid) {
      const { kind, namespace, name } = place
      const message = `${kind.typeName} ${objectKey({ namespace, name })} has been replaced by another object`
      throw notAsLookedAt(place, 'uid', message)
    }
    return object
  }

  /** A list as the caller may read it, page by page: small ones, such as the revisions of a workload. */
  async list(
    place: WritePlace,
    resource: ApiResource,
    selector: { readonly labelSelector: string } | { readonly fieldSelector: string },
  ): Promise<readonly Unstructured[]> {
    const { client } = this.#session(place, resource, {})
    const { namespace } = place
    const deadlineMs = this.#deadlineMs(place)
    try {
      const all: Unstructured[] = []
      const list = client.list({ namespace, deadlineMs, limit: 1_000, ...selector })
      for await (const object of list) all.push(object)
      return all
    } catch (error) {
      const kind = { ...place.kind, resource, typeName: resource.kind }
      throw failedWrite({ ...place, kind, name: '' }, { verb: 'list' }, error)
    }
  }

  /**
   * Writes to one object. `before`: the object as it was read; `null`: there is none yet; absent: it is read first.
   * `send` sends the write and returns the object as the server answered; `undefined`: the object is read again.
   */
  async write(
    place: WritePlace,
    { verb, subresource }: WriteVerb,
    { dryRun, fieldManager, resourceVersion: looked }: WriteWishes,
    parts: {
      readonly resource?: ApiResource
      readonly before?: Unstructured | null
      /** The fields that are written, or the steps of a JSON patch. */
      readonly sent?: object
      readonly send: (
        session: Session,
        options: SendOptions,
        before: Unstructured | undefined,
      ) => Promise<Unstructured | undefined>
      /** The object of a dry run whose answer has none. */
      readonly drawn?: (before: Unstructured) => Unstructured
      /** Whether the write removes the object: at once, or after its finalizers or its grace period. */
      readonly removes?: boolean
    },
  ): Promise<WritePayload> {
    const { resource = place.kind.resource, send, sent, drawn, removes = false } = parts
    const isDryRun = dryRun === true
    await this.review(place, { verb, subresource })
    const session = this.#session(place, resource, { fieldManager: fieldManager || undefined })
    const before = parts.before === undefined ? await this.#before(place, resource) : parts.before
    this.#options.held?.expect(before)
    const isImmutable = this.#withholds(place) && before?.['immutable'] === true
    if (isImmutable && contentsIn(sent).length > 0) {
      const { cluster, kind, namespace, name } = place
      const message = `${kind.typeName} ${namespace}/${name} is immutable: its contents cannot be written`
      const hint = 'delete it and create it again, or leave its contents out'
      throw new ClientError('INVALID', message, { cluster, type: kind.typeName, hint })
    }
    const known = before ?? undefined
    const uid = place.uid || (removes ? known?.metadata.uid : undefined)
    // API servers answer 500 for other texts.
    if (!/^\d*$/.test(looked ?? '')) {
      const argument = 'resourceVersion'
      const hint = 'give the metadata.resourceVersion that you read; nothing was written'
      const message = `${argument}: ${quoted(looked ?? '')} is not a resourceVersion`
      throw new ClientError('BAD_USER_INPUT', message, { argument, value: looked, hint })
    }
    const preconditions = present({ uid: uid || undefined, resourceVersion: looked || undefined })
    let answered: Unstructured | undefined
    try {
      const deadlineMs = this.#deadlineMs(place)
      answered = await send(session, { dryRun: isDryRun, deadlineMs, preconditions }, known)
    } catch (error) {
      throw failedWrite(place, { verb, subresource }, error)
    }
    const dry = removes ? 'gone' : known && drawn?.(known)
    const left = answered ?? (isDryRun ? dry : await this.#after({ ...place, uid }, resource))
    const isGone = removes && left === 'gone'
    const after = left === 'gone' ? undefined : left
    const isSeen = isGone || after !== undefined
    const warnings = [...session.warnings]
    if (before === undefined && !removes) warnings.push(unseenBefore)
    else if (!isSeen) warnings.push(unseenAfter)
    const isKnown = before !== undefined && isSeen
    let changes: readonly FieldChange[] = []
    if (isKnown) {
      const found = fieldChanges(known, after, { masked: this.#withholds(place), sent })
      changes = await inTurns(found, this.#options.caller.viewer)
      if (changes.some((one) => one.before !== null && isContent(one.path))) this.shows(place)
    }
    const version = after?.metadata.resourceVersion
    const written: Written | 'unknown' = isGone
      ? { gone: true, uid: uid ?? '' }
      : version === undefined
        ? 'unknown'
        : { gone: false, resourceVersion: resourceVersion(version) }
    // The API server generates the name of a new object without one.
    const name = place.name || after?.metadata.name || ''
    const at = { ...place, name }
    const { behind, waitedMs } = await this.#caughtUp(at, isDryRun ? undefined : written)
    const object = await this.#rowOf(at, resource, after, isDryRun)
    const isStored = object !== undefined && !isDryRun
    const payload: WritePayload = {
      object: isStored ? storedObject(place, object) : null,
      preview: object !== undefined && isDryRun ? previewOf(place.cluster, object) : null,
      errors: [],
      changes,
      resourceVersion: version ?? null,
      warnings,
      dryRun: isDryRun,
      behind,
      waitedMs,
      name,
    }
    this.#options.held?.keep([object, changes])
    return payload
  }

  /** Server-side apply: creates the object or sets the given fields. */
  async apply(
    place: WritePlace,
    wishes: WriteWishes,
    {
      resource,
      object,
      ...options
    }: Pick<ApplyOptions, 'force' | 'fieldValidation'> & {
      readonly resource: ApiResource
      readonly object: AppliedObject
    },
  ): Promise<WritePayload> {
    await this.review(place, { verb: 'patch' })
    const before = await this.#before(place, resource).catch((error: unknown) => {
      if (codeOf(error) === 'NOT_FOUND') return null
      throw error
    })
    if (options.force !== true && before !== null && this.#withholds(place)) {
      if (before === undefined) throw forbiddenWrite(place, { verb: 'get' })
      const manager = wishes.fieldManager || defaultFieldManager
      const conflicts = contentsOfOthers(before, object, manager)
      if (conflicts.length > 0) {
        const { cluster, kind, namespace, name } = place
        const message = `${kind.typeName} ${namespace}/${name}: other managers own contents that this apply names, whose values are withheld`
        throw conflictWith(message, conflicts, { cluster, type: kind.typeName })
      }
    }
    return await this.write(place, { verb: 'patch' }, wishes, {
      resource,
      ...(before === undefined ? {} : { before }),
      sent: object,
      send: ({ client }, given) => client.apply(object, { ...given, ...options }),
    })
  }

  /** Deletes or evicts an object. `send` sends the request. */
  async remove(
    place: WritePlace,
    asked: WriteVerb,
    { dryRun, resourceVersion: looked }: WriteWishes,
    send: (session: Session, options: SendOptions) => Promise<void>,
  ): Promise<WritePayload> {
    const wishes = { dryRun, resourceVersion: looked }
    return await this.write(place, asked, wishes, {
      removes: true,
      async send(session, options) {
        await send(session, options)
        return undefined
      },
    })
  }

  /** The API server of a cluster, as the caller. Throws `ClientError` if the caller has no token for it. */
  reach(cluster: string): CallerServer {
    const { served, caller } = this.#options
    return getOrInsert(this.#servers, cluster, () => callerServer(served, cluster, caller))
  }

  /** A client that collects the warnings of the API server. */
  #session(
    { cluster, kind }: WritePlace,
    resource: ApiResource,
    { fieldManager = defaultFieldManager }: { readonly fieldManager?: string | undefined },
  ): Session {
    const { server } = this.reach(cluster)
    const warnings: string[] = []
    const warned = (texts: readonly string[]): void => {
      const shown = kind.metadataOnly ? [withheldWarning] : texts
      for (const text of shown) if (!warnings.includes(text)) warnings.push(text)
    }
    const warning: Pick<ApiServer, 'request'> = {
      request: (method, path, options) => server.request(method, path, { ...options, warned }),
    }
    const client = new ObjectClient<Unstructured>(resource, warning, { fieldManager })
    return { client, server: warning, warnings }
  }

  /** Reviews the permission before the write: a proxy before the API server might add its own credentials. */
  async review(place: WritePlace, asked: WriteVerb): Promise<void> {
    const { access } = this.#options
    if (access === undefined) return
    const { cluster, kind, namespace, name } = place
    const { namespace: where, name: called } = placeOf(kind.resource, { namespace, name })
    const { verb, subresource = '' } = asked
    const of = verb === 'create' && subresource === '' ? '' : called
    const question = questionOf(verb, kind.resource, { namespace: where, name: of, subresource })
    if (!(await access.may(cluster, question))) throw forbiddenWrite(place, asked)
  }

  /** The object before the write; `undefined` if the caller may write it but not get it. */
  async #before(place: WritePlace, resource: ApiResource): Promise<Unstructured | undefined> {
    try {
      return await this.read(place, resource)
    } catch (error) {
      if (codeOf(error) === 'FORBIDDEN') return undefined
      throw error
    }
  }

  /** The object after the write; `undefined` if that cannot be read. */
  async #after(
    place: WritePlace,
    resource: ApiResource,
  ): Promise<Unstructured | 'gone' | undefined> {
    try {
      return await this.read(place, resource)
    } catch (error) {
      const code = codeOf(error)
      return code === 'NOT_FOUND' || code === 'PRECONDITION_FAILED' ? 'gone' : undefined
    }
  }

  /** Whether answers must hide the contents of the object, and whether they equal what the caller sends. */
  #withholds({ kind }: WritePlace): boolean {
    return kind.metadataOnly && this.#options.secrets === undefined
  }

  /** Whether the payload shows the contents of the object. Notes a Secret as read. */
  shows({ cluster, kind, namespace, name }: WritePlace): boolean {
    if (!kind.metadataOnly) return true
    return this.#options.secrets?.add(`${cluster}/${namespace}/${name}`) !== undefined
  }

  /** Waits until the cache shows a write. */
  async #caughtUp(
    { cluster, kind, namespace, name }: WritePlace,
    written: Written | 'unknown' | undefined,
  ): Promise<Pick<WritePayload, 'behind' | 'waitedMs'>> {
    const { served, limits, endsAtMs } = this.#options
    const cache = served.clusters.get(cluster)
    if (cache === undefined || written === undefined) return { behind: false, waitedMs: 0 }
    if (written === 'unknown') return { behind: true, waitedMs: 0 }
    const beganMs = performance.now()
    const deadlineMs = Math.max(0, Math.min(limits.cacheDeadlineMs, endsAtMs - beganMs - reserveMs))
    const key = objectKey({ namespace, name })
    const isThere = await cache.caughtUp(kind.resource, { key, ...written }, deadlineMs)
    return { behind: !isThere, waitedMs: performance.now() - beganMs }
  }

  /** The object as caches hold it, in the served version; of a dry run, in the version that it was written in. */
  async #rowOf(
    place: WritePlace,
    resource: ApiResource,
    object: Unstructured | undefined,
    isDryRun: boolean,
  ): Promise<KubernetesObject | undefined> {
    if (object === undefined) return undefined
    const { kind } = place
    let shown = object
    if (resource.version !== kind.resource.version && !isDryRun) {
      const at = { ...place, uid: textOf(object.metadata.uid) }
      const served = await this.#after(at, kind.resource)
      if (served === undefined || served === 'gone') return undefined
      shown = served
    }
    const held = isDryRun ? resource : kind.resource
    const codec = createObjectCodec({ resource: held, metadataOnly: kind.metadataOnly })
    const lane = queryLane(this.#options.caller.viewer)
    await turns.enter(lane)
    return turns.run(() => codec.encode(Buffer.from(JSON.stringify(shown))).object, lane)
  }

  #deadlineMs({ cluster, kind }: WritePlace): number {
    const leftMs = this.requireTime({ cluster, type: kind.typeName })
    return Math.ceil(Math.min(this.#options.limits.requestDeadlineMs, leftMs))
  }

  /** The remaining time for writes. Throws `ClientError` if there is none. */
  requireTime(details: { readonly cluster?: string; readonly type?: string } = {}): number {
    const leftMs = this.#options.endsAtMs - performance.now() - reserveMs
    if (leftMs > 0) return leftMs
    const message = 'the deadline passed; this was not written'
    const hint = 'write less in one operation'
    throw new ClientError('DEADLINE_EXCEEDED', message, { ...details, hint })
  }
}

type Written =
  | { readonly gone: false; readonly resourceVersion: ResourceVersion }
  | { readonly gone: true; readonly uid: string }

function codeOf(error: unknown): string | undefined {
  return error instanceof ClientError ? error.code : undefined
}

/** The facts of a write's report, and its receiver. */
export interface WriteReporting extends Pick<WriteReport, 'mutation' | 'operationName' | 'dryRun'> {
  readonly observer: OperationObserver | undefined
  readonly origin: QueryOrigin
  readonly place: WritePlace | undefined
}

/**
 * Makes a write and reports it, made or failed, to logs, metrics and the audit log. `told`: the facts for the report of a
 * made write; `undefined` if nothing was written, so that there is no report.
 */
export async function reported<T>(
  { observer, origin: { viewer, trace }, place, ...write }: WriteReporting,
  make: () => Promise<T>,
  told: (made: T) => Partial<Pick<WritePayload, 'name' | 'waitedMs'>> | undefined,
): Promise<T> {
  const startedMs = performance.now()
  const { cluster = '', kind, namespace = '', name = '' } = place ?? {}
  const report = (code: string, made: ReturnType<typeof told> = {}): void =>
    observer?.wrote?.({
      ...write,
      viewer,
      requestId: trace?.requestId,
      cluster,
      type: kind?.typeName ?? '',
      namespace,
      name: name || made.name || '',
      code,
      durationMs: performance.now() - startedMs,
      waitedMs: made.waitedMs ?? 0,
    })
  let made: T
  try {
    made = await make()
  } catch (error) {
    report(String(clientErrorOf(error).extensions['code']))
    throw error
  }
  const of = told(made)
  if (of !== undefined) report('', of)
  return made
}

export function nameOf({ namespace, name }: Pick<WritePlace, 'namespace' | 'name'>): {
  readonly namespace?: string
  readonly name: string
} {
  return namespace === '' ? { name } : { namespace, name }
}

/**
 * The place of the object with an `id`, if the caller may see it. Rejects with `ClientError`: NOT_FOUND, or for a text
 * that is no `id`.
 */
export async function placeOfId(
  id: string,
  served: ServedSchema,
  limits: OperationLimits,
  origin: QueryOrigin,
): Promise<WritePlace> {
  const identity = decodeObjectId(id)
  const at = kindOfIdentity(served, identity)
  if (at === undefined) throw gone(identity.cluster, identity.kind)
  const { object } = identity
  if (!('uid' in object)) return { ...at, ...object }
  const query = { served, limits, kinds: [at], origin, secrets: new Set<string>() }
  const found = await runQuery(query, (parts, direct) => {
    const budget = new WorkBudget(limits.work)
    const run = new ReadRun({ served, limits, budget, parts, direct })
    const row = identified(run, at, identity)
    return row && splitObjectKey(row.part.view.keyOf(row.id))
  })
  if (found === undefined) throw gone(at.cluster, at.kind.typeName)
  return { ...at, ...found, uid: object.uid }
}

function gone(cluster: string, type: string): ClientError {
  const message = `there is no ${type} with this id, or you may not get it`
  const hint = 'read it again: an object that was created again has another id'
  return new ClientError('NOT_FOUND', message, { argument: 'id', cluster, type, hint })
}
