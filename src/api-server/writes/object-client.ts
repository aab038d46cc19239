import { apiVersionOf, type ApiResource, resourcePath } from '../../kubernetes/api-resource.ts'
import {
  type KubernetesObject,
  lastAppliedAnnotation,
  objectKey,
  type ObjectMeta,
} from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { aString, checkedOptions, InvalidOptionError, present } from '../../lib/options.ts'
import type { JsonRequestOptions } from '../transport/json-request.ts'
import type { TransportRequest } from '../transport/transport.ts'
import {
  type AppliedObject,
  type NewObject,
  type ObjectPatch,
  patchBody,
  required,
} from './object-patch.ts'
import {
  applyChecks,
  type ApplyOptions,
  type ChangeOptions,
  deleteChecks,
  type DeleteOptions,
  type ObjectName,
  readChecks,
  type ReadOptions,
  requireFieldManager,
  type WriteOptions,
  writeQuery,
} from './write-options.ts'

/** An `update` was given an object from a cache, and would delete what the cache left out. Nothing was written. */
export class CutObjectError extends CodedError {
  constructor({ resource }: ApiResource, { metadata }: KubernetesObject) {
    super(
      'CUT_OBJECT',
      `update of ${resource} ${objectKey(metadata)}: the object comes from a cache, which leaves out managedFields and ` +
        'the last-applied annotation: an update would delete them',
      {
        value: metadata,
        hint: 'patch or apply the fields to change (finalizers: ensureFinalizer and dropFinalizer), or update an object that get returned',
      },
    )
  }
}

const hasManagers = (metadata: ObjectMeta & { readonly managedFields?: unknown }): boolean =>
  metadata.managedFields !== undefined

/** The part of a connection that an object client uses. */
export interface ObjectRequests {
  request(
    method: TransportRequest['method'],
    path: string,
    options: Partial<JsonRequestOptions>,
  ): Promise<unknown>
}

/** Options of an {@link ObjectClient}. */
export interface ObjectClientOptions {
  /** The `fieldManager` of all its writes; required to apply. */
  readonly fieldManager?: string
}

/** Reads and writes the subresource `status`. */
export type StatusClient<T extends KubernetesObject = KubernetesObject> = Pick<
  ObjectClient<T>,
  'apply' | 'get' | 'patch' | 'update'
>

/**
 * Reads and writes single objects of one resource. All methods reject with `ApiStatusError` if the server refuses
 * (`isNotFound`, `isConflict` and `isAlreadyExists` tell why), with `ConnectionError` if it cannot be reached, and with
 * `InvalidOptionError` if a namespace or a name is missing. After a 429 with `Retry-After`, a request is repeated in
 * time if its deadline allows. Integers with more digits than a double holds are kept.
 */
export class ObjectClient<T extends KubernetesObject = KubernetesObject> {
  readonly resource: ApiResource
  readonly #server: ObjectRequests
  readonly #options: ObjectClientOptions
  readonly #subresource: string

  constructor(
    resource: ApiResource,
    server: ObjectRequests,
    options: ObjectClientOptions = {},
    subresource = '',
  ) {
    this.resource = resource
    this.#server = server
    this.#options = checkedOptions('a client', options, { fieldManager: aString })
    this.#subresource = subresource
  }

  /** A client of the subresource `status`; only it can write the status. */
  get status(): StatusClient<T> {
    return new ObjectClient<T>(this.resource, this.#server, this.#options, '/status')
  }

  /** The object as the server has it now. */
  async get(at: ObjectName, options: ReadOptions = {}): Promise<T> {
    return await this.#send('GET', this.#pathOf(at), checkedOptions('a read', options, readChecks))
  }

  /** Creates an object and returns the server's version. Rejects with `isAlreadyExists` if there is one. */
  async create(object: NewObject<T>, options: WriteOptions = {}): Promise<T> {
    const { namespace } = object.metadata
    return await this.#write('POST', this.#collection(namespace), options, this.#typed(object))
  }

  /**
   * Replaces an object as a whole. With `metadata.resourceVersion`, as in an object that was read, the server refuses
   * the write as a conflict if the object has changed since; without it, the write overwrites any state. Rejects with
   * {@link CutObjectError} if the object comes from a cache.
   */
  async update(object: T, options: ChangeOptions = {}): Promise<T> {
    await this.#requireWhole(object, options)
    const body = required(this.#typed(object), options.preconditions)
    return await this.#write('PUT', this.#pathOf(object.metadata), options, body)
  }

  /** Changes parts of an object: `{ merge: {…} }`, `{ strategic: {…} }` or `{ json: […] }`. */
  async patch(at: ObjectName, patch: ObjectPatch, options?: ChangeOptions): Promise<T>
  async patch(at: ObjectName, patch: ObjectPatch<T>, options?: ChangeOptions): Promise<T>
  async patch(at: ObjectName, patch: ObjectPatch, options: ChangeOptions = {}): Promise<T> {
    const { body, contentType } = patchBody(patch, options.preconditions)
    return await this.#write('PATCH', this.#pathOf(at), options, body, contentType)
  }

  /**
   * Server-side apply: creates the object, or sets the given fields and gives up those that the field manager had set
   * before. Fields of other managers are a conflict unless `force`.
   */
  async apply(object: AppliedObject, options?: ApplyOptions): Promise<T>
  async apply(object: AppliedObject<T> | T, options?: ApplyOptions): Promise<T>
  async apply(object: AppliedObject, options: ApplyOptions = {}): Promise<T> {
    const fieldManager = requireFieldManager(options.fieldManager ?? this.#options.fieldManager)
    const body = required(this.#typed(object), options.preconditions)
    const path = this.#pathOf(object.metadata)
    const given = { ...options, fieldManager }
    // JSON is YAML.
    return await this.#write('PATCH', path, given, body, 'application/apply-patch+yaml')
  }

  /** Requests the deletion of an object, which may stay until its finalizers and grace period have ended. */
  async delete(at: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const { dryRun, gracePeriodSeconds, preconditions, propagationPolicy, ...read } =
      checkedOptions('a deletion', options, deleteChecks)
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...present({ preconditions, propagationPolicy, gracePeriodSeconds }),
      ...(dryRun === true ? { dryRun: ['All'] } : {}),
    }
    await this.#send('DELETE', this.#pathOf(at), { ...read, body })
  }

  /**
   * Throws {@link CutObjectError} if the server's object has what caches leave out, and this one does not. Asks the
   * server only about objects without `managedFields`, which are few.
   */
  async #requireWhole(object: T, options: ReadOptions): Promise<void> {
    const { metadata: given } = object
    const wasRead = (given.resourceVersion ?? '') !== '' || (given.uid ?? '') !== ''
    if (!wasRead || hasManagers(given)) return
    const { metadata: current } = await this.#send('GET', this.#pathOf(given), options)
    const lacksAnnotation = given.annotations?.[lastAppliedAnnotation] === undefined
    if (
      hasManagers(current) ||
      (lacksAnnotation && current.annotations?.[lastAppliedAnnotation] !== undefined)
    ) {
      throw new CutObjectError(this.resource, object)
    }
  }

  async #write(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    given: ApplyOptions,
    body: unknown,
    contentType?: string,
  ): Promise<T> {
    const options = checkedOptions('a write', given, applyChecks)
    const query = writeQuery({ ...this.#options, ...options })
    const target = query.size === 0 ? path : `${path}?${query}`
    return await this.#send(method, target, { ...options, body, ...present({ contentType }) })
  }

  async #send(
    method: TransportRequest['method'],
    path: string,
    options: ReadOptions & { readonly body?: unknown; readonly contentType?: string },
  ): Promise<T> {
    const { body, contentType, deadlineMs, signal } = options
    return (await this.#server.request(method, path, {
      exact: true,
      waitsAsTold: true,
      ...present({ body, contentType, deadlineMs, signal }),
    })) as T
  }

  #typed(object: object): object {
    return { ...object, apiVersion: apiVersionOf(this.resource), kind: this.resource.kind }
  }

  #collection(namespace: string | undefined): string {
    const { namespaced, resource } = this.resource
    if (namespaced && (namespace === undefined || namespace === '')) {
      throw new InvalidOptionError('namespace', namespace, `one: ${resource} are namespaced`)
    }
    return resourcePath(this.resource, present({ namespace }))
  }

  #pathOf({ namespace, name }: ObjectName): string {
    if (typeof name !== 'string' || name === '') {
      throw new InvalidOptionError('name', name, 'the name of the object')
    }
    return `${this.#collection(namespace)}/${encodeURIComponent(name)}${this.#subresource}`
  }
}
