/*
 * Reads and writes single objects of one resource, like client-go's typed clients. Writes go through `#write`, which puts
 * their options into the query. All methods end in `#send`, one request to the connection. The client of a subresource is
 * the same class with another path and type.
 */

import {
  type ApiResource,
  apiVersionOf,
  type Resource,
  resourcePath,
} from '../../kubernetes/api-resource.ts'
import {
  type KubernetesObject,
  lastAppliedAnnotation,
  objectKey,
  type ObjectMeta,
} from '../../kubernetes/object.ts'
import {
  type Binding,
  type Eviction,
  type Scale,
  subresourceTypes,
  type TokenRequest,
} from '../../kubernetes/subresources.ts'
import type { Status } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { aString, checkedOptions, InvalidOptionError, present } from '../../lib/options.ts'
import type { JsonRequestOptions } from '../transport/json-request.ts'
import type { TransportRequest } from '../transport/transport.ts'
import { listChecks, type ListObjectsOptions, type ObjectList, objectList } from './object-list.ts'
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
  type WriteOptions,
} from './write-options.ts'

/** An `update` got an object from a cache. It would delete the fields that the cache left out. Nothing was written. */
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
  /** The `fieldManager` of all writes; required to apply. */
  readonly fieldManager?: string
}

/** The clients of subresources, by name. Each has the methods that API servers support for it. */
export interface SubresourceClients<T extends KubernetesObject = KubernetesObject> {
  /** The status, which no other client can write. */
  readonly status: Pick<ObjectClient<T>, 'apply' | 'get' | 'patch' | 'resource' | 'update'>
  readonly scale: Pick<ObjectClient<Scale>, 'apply' | 'get' | 'patch' | 'update'>
  /** For pods: adds containers to a running pod. */
  readonly ephemeralcontainers: Pick<
    ObjectClient<T>,
    'apply' | 'get' | 'patch' | 'resource' | 'update'
  >
  /** For pods: changes the resources of a running pod. */
  readonly resize: Pick<ObjectClient<T>, 'apply' | 'get' | 'patch' | 'resource' | 'update'>
  /** For pods, by the pod's name. Rejects with a 429 if a PodDisruptionBudget refuses. */
  readonly eviction: SubresourceCreation<Eviction, Status>
  /** For pods, by the pod's name: assigns the pod to a node. */
  readonly binding: SubresourceCreation<Binding, Status>
  /** For service accounts, by the account's name: issues a token of the account. */
  readonly token: SubresourceCreation<TokenRequest>
  /** For certificate signing requests: writes the conditions that approve or deny them. */
  readonly approval: Pick<ObjectClient<T>, 'get' | 'patch' | 'resource' | 'update'>
  /** For namespaces: writes the finalizers of the `spec`. */
  readonly finalize: Pick<ObjectClient<T>, 'update'>
}

/** A subresource that only answers requests. `metadata` names the object that it belongs to. */
export interface SubresourceCreation<Request extends KubernetesObject, Answer = Request> {
  create(request: NewObject<Request>, options?: WriteOptions): Promise<Answer>
}

/** The subresources that objects of a type may have. An object of an unknown kind may have any. */
export type SubresourceName<T extends KubernetesObject = KubernetesObject> =
  | 'status'
  | 'scale'
  | OfKind<T, 'Pod', 'ephemeralcontainers' | 'resize' | 'eviction' | 'binding'>
  | OfKind<T, 'ServiceAccount', 'token'>
  | OfKind<T, 'CertificateSigningRequest', 'approval'>
  | OfKind<T, 'Namespace', 'finalize'>

type OfKind<T extends KubernetesObject, Kind extends string, Name> = Kind extends T['kind']
  ? Name
  : never

/** Reads and writes the subresource `status`. */
export type StatusClient<T extends KubernetesObject = KubernetesObject> =
  SubresourceClients<T>['status']

/** A client of objects that extend `Known`. */
type ClientWith<Method extends string, Known extends KubernetesObject> = {
  readonly [method in Method]: unknown
} & { readonly resource?: Resource<Known> }

/** Allows only the fields that every object has. */
type MetadataOnly<O> = {
  readonly [Field in Exclude<keyof O, keyof KubernetesObject>]: never
}

/** The subresource of a client. */
interface Subresource {
  readonly name: string
  /** The type that it reads and writes; `undefined`: the object itself. */
  readonly type: Pick<KubernetesObject, 'apiVersion' | 'kind'> | undefined
}

/**
 * Reads and writes objects of one resource at the API server, without a cache. All methods reject with
 * `ApiStatusError` if the server refuses (`isNotFound`, `isConflict` and `isAlreadyExists` tell the reason), with
 * `ConnectionError` if it is unreachable, and with `InvalidOptionError` if a namespace or a name is missing. After a
 * 429 with `Retry-After`, the client repeats the request if its deadline allows. It keeps integers with more digits than
 * a double holds.
 */
export class ObjectClient<T extends KubernetesObject = KubernetesObject> {
  readonly resource: Resource<T>
  readonly #server: ObjectRequests
  readonly #options: ObjectClientOptions
  readonly #subresource: Subresource | undefined

  constructor(
    resource: Resource<T>,
    server: ObjectRequests,
    options: ObjectClientOptions = {},
    subresource?: Subresource,
  ) {
    this.resource = resource
    this.#server = server
    this.#options = checkedOptions('a client', options, { fieldManager: aString })
    this.#subresource = subresource
  }

  /**
   * The client of a subresource, with the methods of the subresource: `client.subresource('scale').patch(…)`. For the
   * subresource of an aggregated server, give the type that it reads and writes; that server decides about its methods.
   */
  subresource<Name extends SubresourceName<T>>(name: Name): SubresourceClients<T>[Name]
  subresource<B extends KubernetesObject>(
    name: string,
    type: Resource<B>,
  ): Omit<ObjectClient<B>, 'delete' | 'list' | 'status' | 'subresource'>
  subresource(name: string, type?: Pick<ApiResource, 'group' | 'version' | 'kind'>): unknown {
    if (typeof name !== 'string' || !/^[a-z][-a-z0-9]*$/.test(name)) {
      throw new InvalidOptionError('subresource', name, 'a name such as status or scale')
    }
    const known = Object.hasOwn(subresourceTypes, name) ? subresourceTypes[name] : undefined
    const given = type && { apiVersion: apiVersionOf(type), kind: type.kind }
    const subresource = { name, type: given ?? known }
    return new ObjectClient(this.resource, this.#server, this.#options, subresource)
  }

  /** {@link subresource} `status`. */
  get status(): StatusClient<T> {
    return this.subresource('status')
  }

  /**
   * Lists objects as the server has them now, page by page, for objects that no informer follows. Iterate over the objects,
   * or over `pages()`. Iterating rejects with `ListExpiredError` if the list is read too slowly.
   */
  list(options: ListObjectsOptions = {}): ObjectList<T> {
    const { deadlineMs, signal, ...query } = checkedOptions('a list', options, listChecks)
    const { namespace } = query
    const path = resourcePath(this.resource, present({ namespace }))
    const request = (parameters: URLSearchParams): Promise<unknown> =>
      this.#send(
        'GET',
        parameters.size === 0 ? path : `${path}?${parameters}`,
        present({ deadlineMs, signal }),
      )
    return objectList<T>(this.resource, query, request)
  }

  /** The object as the server has it now. */
  async get(at: ObjectName, options: ReadOptions = {}): Promise<T> {
    return await this.#send('GET', this.#pathOf(at), checkedOptions('a read', options, readChecks))
  }

  /** Creates an object. Resolves with the server's version. Rejects with `isAlreadyExists` if the name is taken. */
  async create(object: NewObject<T>, options: WriteOptions = {}): Promise<T> {
    const { namespace, name = '' } = object.metadata
    const path =
      this.#subresource === undefined
        ? this.#collection(namespace)
        : this.#pathOf({ name, ...present({ namespace }) })
    return await this.#write('POST', path, options, this.#typed(object))
  }

  /**
   * Replaces the whole object. With the `metadata.resourceVersion` of an object that was read, the server refuses the write
   * as a conflict if the object has changed since. Without it, the write overwrites any state. Rejects with
   * {@link CutObjectError} if the object comes from a cache.
   */
  async update(object: T, options: ChangeOptions = {}): Promise<T> {
    const { metadata: given } = object
    const wasRead = (given.resourceVersion ?? '') !== '' || (given.uid ?? '') !== ''
    // Asks the server only about objects without `managedFields`, which are few. Caches do not contain a subresource's own
    // type.
    if (this.#subresource?.type === undefined && wasRead && !hasManagers(given)) {
      const { metadata: current } = await this.#send('GET', this.#objectPath(given), options)
      const lacksAnnotation = given.annotations?.[lastAppliedAnnotation] === undefined
      const isAnnotated = current.annotations?.[lastAppliedAnnotation] !== undefined
      if (hasManagers(current) || (lacksAnnotation && isAnnotated)) {
        throw new CutObjectError(this.resource, object)
      }
    }
    const body = required(this.#typed(object), options.preconditions)
    return await this.#write('PUT', this.#pathOf(object.metadata), options, body)
  }

  /**
   * Changes parts of an object: `{ merge: {…} }`, `{ strategic: {…} }` or `{ json: […] }`. If `T` is a type parameter,
   * name a type with known fields that it extends: `client.patch<WithConditions>(…)`. The metadata is always known.
   */
  async patch(at: ObjectName, patch: ObjectPatch, options?: ChangeOptions): Promise<T>
  async patch<Known extends KubernetesObject = T>(
    this: ClientWith<'patch', Known>,
    at: ObjectName,
    patch: ObjectPatch<NoInfer<Known>>,
    options?: ChangeOptions,
  ): Promise<T>
  async patch(at: ObjectName, patch: ObjectPatch, options: ChangeOptions = {}): Promise<T> {
    const { body, contentType } = patchBody(patch, options.preconditions)
    return await this.#write('PATCH', this.#pathOf(at), options, body, contentType)
  }

  /**
   * Server-side apply: creates the object, or sets the given fields and gives up the other fields that the field manager
   * had set before. Fields of other managers are a conflict unless `force`. If `T` is a type parameter, give a whole object,
   * or name a type with known fields that it extends: `client.apply<WithConditions>(…)`.
   */
  async apply<O extends AppliedObject>(
    object: O & MetadataOnly<O>,
    options?: ApplyOptions,
  ): Promise<T>
  async apply<Known extends KubernetesObject = T>(
    this: ClientWith<'apply', Known>,
    object: AppliedObject<NoInfer<Known>> | T,
    options?: ApplyOptions,
  ): Promise<T>
  async apply(object: AppliedObject, options: ApplyOptions = {}): Promise<T> {
    const fieldManager = options.fieldManager ?? this.#options.fieldManager
    if (fieldManager === undefined || fieldManager === '') {
      const expected = 'a name for the owner of the fields, to the client or to the call'
      throw new InvalidOptionError('fieldManager', fieldManager, expected)
    }
    const body = required(this.#typed(object), options.preconditions)
    const path = this.#pathOf(object.metadata)
    const given = { ...options, fieldManager }
    // JSON is YAML.
    return await this.#write('PATCH', path, given, body, 'application/apply-patch+yaml')
  }

  /** Requests the deletion of an object. The object may stay until its finalizers and grace period have ended. */
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

  async #write(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    given: ApplyOptions,
    body: unknown,
    contentType?: string,
  ): Promise<T> {
    const options = checkedOptions('a write', given, applyChecks)
    const { dryRun, fieldManager, fieldValidation, force } = { ...this.#options, ...options }
    const query = new URLSearchParams()
    if (dryRun === true) query.set('dryRun', 'All')
    if (fieldManager !== undefined) query.set('fieldManager', fieldManager)
    if (fieldValidation !== undefined) query.set('fieldValidation', fieldValidation)
    if (force === true) query.set('force', 'true')
    const target = query.size === 0 ? path : `${path}?${query}`
    return await this.#send(method, target, { ...options, body, ...present({ contentType }) })
  }

  async #send(
    method: TransportRequest['method'],
    path: string,
    options: ReadOptions & { readonly body?: unknown; readonly contentType?: string },
  ): Promise<T> {
    const { body, contentType, deadlineMs, signal } = options
    const answer = await this.#server.request(method, path, {
      exact: true,
      waitsAsTold: true,
      ...present({ body, contentType, deadlineMs, signal }),
    })
    return answer as T
  }

  #typed(object: object): object {
    const own = { apiVersion: apiVersionOf(this.resource), kind: this.resource.kind }
    return { ...object, ...(this.#subresource?.type ?? own) }
  }

  #collection(namespace: string | undefined): string {
    const { namespaced, resource } = this.resource
    if (namespaced && (namespace === undefined || namespace === '')) {
      throw new InvalidOptionError('namespace', namespace, `one: ${resource} are namespaced`)
    }
    return resourcePath(this.resource, present({ namespace }))
  }

  #pathOf(at: ObjectName): string {
    const path = this.#objectPath(at)
    return this.#subresource === undefined ? path : `${path}/${this.#subresource.name}`
  }

  #objectPath({ namespace, name }: ObjectName): string {
    if (typeof name !== 'string' || name === '') {
      throw new InvalidOptionError('name', name, 'the name of the object')
    }
    return `${this.#collection(namespace)}/${encodeURIComponent(name)}`
  }
}
