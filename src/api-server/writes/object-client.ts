import { apiVersionOf, type ApiResource, resourcePath } from '../../kubernetes/api-resource.ts'
import {
  type KubernetesObject,
  lastAppliedAnnotation,
  objectKey,
  type ObjectMeta,
} from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { aString, checkedOptions, InvalidOptionError } from '../../lib/options.ts'
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

/** An `update` with an object from a cache: it would delete what the cache left out. Nothing was written. */
export class CutObjectError extends CodedError {
  constructor({ resource }: ApiResource, { metadata }: KubernetesObject) {
    super(
      'CUT_OBJECT',
      `update of ${resource} ${objectKey(metadata)}: the object comes from a cache, which leaves out managedFields and ` +
        'the last-applied annotation: an update would delete what is left out',
      {
        value: metadata,
        hint: 'patch or apply what you mean to change, finalizers by ensureFinalizer and dropFinalizer; or update what get answers',
      },
    )
  }
}

const hasManagers = (metadata: ObjectMeta & { readonly managedFields?: unknown }): boolean =>
  metadata.managedFields !== undefined

/** What an object client asks of its connection. */
export interface ObjectRequests {
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options: {
      readonly body?: unknown
      readonly contentType?: string
      readonly signal?: AbortSignal
      readonly deadlineMs?: number
      readonly exact: true
      readonly waitsAsTold: true
    },
  ): Promise<unknown>
}

/** How an object client writes. */
export interface ObjectClientOptions {
  /** The `fieldManager` of all its writes; an apply needs one. */
  readonly fieldManager?: string
}

/** What there is of `status`, as of a whole object. */
export type StatusClient<T extends KubernetesObject = KubernetesObject> = Pick<
  ObjectClient<T>,
  'apply' | 'get' | 'patch' | 'update'
>

/**
 * Reads and writes single objects of one resource. All methods reject with `ApiStatusError` where the server refuses
 * (`isNotFound`, `isConflict`, `isAlreadyExists` tell why), with `ConnectionError` where it cannot be reached, and with
 * `InvalidOptionError` where a namespace or a name is missing. A request that the server puts off (429 with `Retry-After`)
 * is sent again after that time, if its deadline allows. Integers of more digits than a double holds are kept.
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

  /** The same of the subresource `status`: it alone writes what stands there. */
  get status(): StatusClient<T> {
    return new ObjectClient<T>(this.resource, this.#server, this.#options, '/status')
  }

  /** The object as the server has it now, unlike a cache's. */
  async get(at: ObjectName, options: ReadOptions = {}): Promise<T> {
    return await this.#send('GET', this.#pathOf(at), checkedOptions('a read', options, readChecks))
  }

  /** Creates it; answers with what the server made of it. Rejects with `isAlreadyExists` where there is one. */
  async create(object: NewObject<T>, options: WriteOptions = {}): Promise<T> {
    const { namespace } = object.metadata
    return await this.#write('POST', this.#collection(namespace), options, this.#typed(object))
  }

  /**
   * Replaces it as a whole. Where `metadata.resourceVersion` is given, as in an object that was read, the write is refused
   * as a conflict when the object has changed since; without it, whatever is there is overwritten. Rejects with
   * {@link CutObjectError} where the object comes from a cache.
   */
  async update(object: T, options: ChangeOptions = {}): Promise<T> {
    await this.#requireWhole(object, options)
    const body = required(this.#typed(object), options.preconditions)
    return await this.#write('PUT', this.#pathOf(object.metadata), options, body)
  }

  /** Changes parts of it: `{ merge: {…} }`, `{ strategic: {…} }` or `{ json: […] }`. */
  async patch(at: ObjectName, patch: ObjectPatch, options?: ChangeOptions): Promise<T>
  async patch(at: ObjectName, patch: ObjectPatch<T>, options?: ChangeOptions): Promise<T>
  async patch(at: ObjectName, patch: ObjectPatch, options: ChangeOptions = {}): Promise<T> {
    const { body, contentType } = patchBody(patch, options.preconditions)
    return await this.#write('PATCH', this.#pathOf(at), options, body, contentType)
  }

  /**
   * Server-side apply: creates the object, or sets the fields given and gives up those that the field manager had set
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

  /** Asks for its deletion; it may stay until its finalizers and its grace period have ended. */
  async delete(at: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const { dryRun, gracePeriodSeconds, preconditions, propagationPolicy, ...read } =
      checkedOptions('a deletion', options, deleteChecks)
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(preconditions === undefined ? {} : { preconditions }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(dryRun === true ? { dryRun: ['All'] } : {}),
    }
    await this.#send('DELETE', this.#pathOf(at), { ...read, body })
  }

  /**
   * Throws {@link CutObjectError} where the server's object has what caches cut off, and this one has not. The server is
   * asked only where there is no `managedFields`, which few objects lack.
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
    const { fieldManager = this.#options.fieldManager } = options
    const query = writeQuery({
      ...options,
      ...(fieldManager === undefined ? {} : { fieldManager }),
    })
    const target = query.size === 0 ? path : `${path}?${query}`
    const type = contentType === undefined ? {} : { contentType }
    return await this.#send(method, target, { ...options, body, ...type })
  }

  async #send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options: ReadOptions & { readonly body?: unknown; readonly contentType?: string },
  ): Promise<T> {
    const { body, contentType, deadlineMs, signal } = options
    return (await this.#server.request(method, path, {
      exact: true,
      waitsAsTold: true,
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(signal === undefined ? {} : { signal }),
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
    return resourcePath(this.resource, namespace === undefined ? {} : { namespace })
  }

  #pathOf({ namespace, name }: ObjectName): string {
    if (typeof name !== 'string' || name === '') {
      throw new InvalidOptionError('name', name, 'the name of the object')
    }
    return `${this.#collection(namespace)}/${encodeURIComponent(name)}${this.#subresource}`
  }
}
