/*
 * The resolver calls of one operation. A run that needs a value notes the call and goes on. `fetch` makes all noted calls
 * within one tick, so that dataloaders collect them, and waits for them until a deadline. Then the operation runs again.
 * So all calls of one level are one batch, each is made once, and rows and errors are written as always.
 */

import DataLoader from 'dataloader'
import { type FieldNode, GraphQLError } from 'graphql'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'
import { ClientError } from '../errors/client-error.ts'
import { type KindView, clusterNamed } from '../prepare/kind-view.ts'
import type { Answered, ExtensionCalls, ExtensionParent } from '../reads/direct/direct-reads.ts'
import type { ExtensionField } from '../schema/field-source.ts'
import type { ExtensionContext } from './extension.ts'
import { heldObject, type HeldPlace, placeOfHeld } from './held-objects.ts'
import { KindCaches, type KindCachesOptions } from './kind-caches.ts'

/** The rounds of one operation: nested levels of extension fields, and rows that come late. */
const maxRounds = 24

const maxBatchSize = 1_000

interface Call {
  readonly field: ExtensionField
  readonly args: Readonly<Record<string, unknown>>
  readonly parent: ExtensionParent
  readonly nodes: readonly FieldNode[]
}

export class OperationExtensionContext implements ExtensionContext {
  readonly viewer: ExtensionContext['viewer']
  readonly cache: ExtensionContext['cache']
  signal: AbortSignal
  readonly #caches: KindCaches
  readonly #loaders = new Map<unknown, DataLoader<never, unknown>>()

  constructor(options: KindCachesOptions, signal: AbortSignal) {
    this.viewer = options.viewer
    this.#caches = new KindCaches(options)
    this.cache = this.#caches.all
    this.signal = signal
  }

  /** Begins the next event of a subscription, with a full budget and empty loaders. */
  renew(): void {
    this.#caches.renew()
    this.#loaders.clear()
  }

  readonly loader: ExtensionContext['loader'] = <K, V>(
    name: unknown,
    batch: (keys: readonly K[], context: ExtensionContext) => PromiseLike<ArrayLike<V | Error>>,
    options?: DataLoader.Options<K, V>,
  ) => {
    const known = this.#loaders.get(name) as DataLoader<K, V> | undefined
    if (known !== undefined) return known
    const sized = { maxBatchSize, ...options }
    const made = new DataLoader<K, V>(async (keys) => await batch(keys, this), sized)
    this.#loaders.set(name, made)
    return made
  }
}

/** Calls the resolver of a mutation. Rejects with the error that the client may see. */
export async function mutated(
  options: KindCachesOptions,
  field: ExtensionField,
  args: Readonly<Record<string, unknown>>,
  { nodes, endsAtMs }: { readonly nodes: readonly FieldNode[]; readonly endsAtMs: number },
): Promise<unknown> {
  const restMs = Math.max(0, Math.round(endsAtMs - performance.now()))
  const context = new OperationExtensionContext(options, AbortSignal.timeout(restMs))
  const parent = { key: '', cluster: undefined, source: undefined }
  const call = called({ field, args, parent, nodes }, context).catch((error: unknown) => {
    throw shownError(error)
  })
  const late = (): Error => lateCall(field, restMs)
  return (await withDeadline(field.coordinate, call, restMs, undefined, late)).value
}

export class OperationExtensions implements ExtensionCalls {
  readonly #options: KindCachesOptions
  readonly #context: OperationExtensionContext
  readonly #outcomes = new Map<string, Answered | Error>()
  readonly #noted = new Map<string, Call>()
  readonly #rows = new Map<string, ExtensionParent>()
  readonly #numbers = new WeakMap<object, number>()
  readonly #clusters = new WeakMap<object, string>()
  #count = 0
  #rounds = 0

  constructor(options: KindCachesOptions) {
    this.#options = options
    this.#context = new OperationExtensionContext(options, new AbortController().signal)
  }

  get isLacking(): boolean {
    return this.#noted.size > 0
  }

  ofRow(part: KindView, id: ObjectId): ExtensionParent {
    const { cluster, kind, view } = part
    const key = `${cluster} ${kind.typeName} ${view.keyOf(id)} ${view.uidOf(id)}`
    return getOrInsert(this.#rows, key, () => ({ key, cluster, source: heldObject(part, id) }))
  }

  of(source: unknown, cluster: string | undefined): ExtensionParent {
    if (typeof source !== 'object' || source === null) {
      return { key: `${typeof source} ${String(source)}`, cluster, source }
    }
    if (cluster !== undefined) this.#clusters.set(source, cluster)
    const number = getOrInsert(this.#numbers, source, () => ++this.#count)
    return { key: `#${number}`, cluster: this.#clusters.get(source), source }
  }

  value(
    field: ExtensionField,
    args: Readonly<Record<string, unknown>>,
    parent: ExtensionParent,
    nodes: readonly FieldNode[],
  ): Answered | undefined {
    const name = field.coordinate.slice(field.coordinate.indexOf('.') + 1)
    if (field.resolve === undefined) {
      const member = memberOf(parent.source, name)
      if (member instanceof Error) throw member
      if (typeof member !== 'function' && !isThenable(member)) return { value: member }
    }
    const key = `${field.coordinate} ${textOf(args)} ${parent.key}`
    const outcome = this.#outcomes.get(key)
    if (outcome instanceof Error) throw outcome
    if (outcome === undefined && !this.#noted.has(key)) {
      if (this.#rounds >= maxRounds) {
        const message = `${field.coordinate} is more than ${maxRounds} levels of extension fields deep`
        const hint = 'nest fewer fields of extensions, or use several queries'
        throw new ClientError('QUERY_TOO_COSTLY', message, { value: maxRounds, hint })
      }
      this.#noted.set(key, { field, args, parent, nodes })
    }
    return outcome
  }

  placeOf(value: unknown, cluster: string | undefined): HeldPlace | undefined {
    const known = placeOfHeld(value)
    if (known !== undefined) return known
    if (!isRecord(value) || !isRecord(value['metadata'])) return undefined
    const { apiVersion, kind: name, metadata } = value
    if (typeof apiVersion !== 'string' || typeof name !== 'string') return undefined
    const { served } = this.#options
    const kind = served.kindOf(splitApiVersion(apiVersion).group, name)
    if (kind === undefined || typeof metadata['name'] !== 'string') return undefined
    const at = { cluster: cluster ?? clusterNamed(served, undefined), kind }
    const { namespace, name: named } = metadata
    const place = typeof namespace === 'string' ? { namespace, name: named } : { name: named }
    return { at, key: objectKey(place) }
  }

  fetch(): Promise<unknown> | undefined {
    return this.isLacking ? this.#fetchNoted() : undefined
  }

  async #fetchNoted(): Promise<void> {
    this.#rounds += 1
    const noted = [...this.#noted]
    this.#noted.clear()
    const { liveDeadlineMs } = this.#options.limits
    const ending = new AbortController()
    const late = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => {
      late.resolve('late')
      ending.abort(new Error(`the resolvers have taken longer than ${liveDeadlineMs} ms`))
    }, liveDeadlineMs)
    this.#context.signal = ending.signal
    try {
      const outcomes = noted.map(async ([key, call]) => {
        const answering = called(call, this.#context).catch(shownError)
        const outcome = await Promise.race([answering, late.promise])
        this.#outcomes.set(key, outcome === 'late' ? lateCall(call.field, liveDeadlineMs) : outcome)
      })
      await Promise.all(outcomes)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Calls a resolver. Rejects with its error, and never throws. */
async function called(
  { field, args, parent, nodes }: Call,
  context: ExtensionContext,
): Promise<Answered> {
  const [typeName = '', fieldName = ''] = field.coordinate.split('.')
  const info = { typeName, fieldName, fieldNodes: nodes, cluster: parent.cluster }
  const { source } = parent
  let value: unknown
  if (field.resolve === undefined) {
    const member = memberOf(source, fieldName)
    value = await (typeof member === 'function'
      ? (member as (...given: readonly unknown[]) => unknown).call(source, args, context, info)
      : member)
  } else value = await field.resolve(source, args, context as never, info)
  if (value instanceof Error) throw value
  if (!Array.isArray(value) || !value.some(isThenable)) return { value }
  const settled = await Promise.allSettled(value)
  return {
    value: settled.map((one) => (one.status === 'fulfilled' ? one.value : shownError(one.reason))),
  }
}

function memberOf(source: unknown, name: string): unknown {
  return isRecord(source) ? source[name] : undefined
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isRecord(value) && typeof value['then'] === 'function'
}

const texts = new WeakMap<object, string>()

/** The text of arguments, which plans coerce once for all rows. */
function textOf(args: object): string {
  return getOrInsert(texts, args, () =>
    JSON.stringify(args, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
  )
}

/**
 * The error of a field that its client may see. An error with a code keeps its message, and so do errors of
 * `context.cache`. Any other error is withheld.
 */
export function shownError(thrown: unknown): Error {
  if (thrown instanceof ClientError) return thrown
  if (thrown instanceof CodedError) {
    const { code, value, hint, message } = thrown
    return new GraphQLError(message, {
      extensions: {
        code,
        ...(value !== undefined && { value }),
        ...(hint !== undefined && { hint }),
      },
    })
  }
  if (thrown instanceof GraphQLError) {
    if (typeof thrown.extensions['code'] === 'string') {
      return new GraphQLError(thrown.message, { extensions: thrown.extensions })
    }
    return new Error(thrown.message, { cause: thrown })
  }
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

function lateCall({ coordinate }: ExtensionField, deadlineMs: number): ClientError {
  const hint = 'ask for fewer objects, or try again in a moment'
  const message = `${coordinate} was not resolved within ${deadlineMs} ms`
  return new ClientError('DEADLINE_EXCEEDED', message, { value: deadlineMs, hint })
}
