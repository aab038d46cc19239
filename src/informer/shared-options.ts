import { isDeepStrictEqual } from 'node:util'
import { type ApiResource, apiVersionOf, groupResourceOf } from '../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import { reflectorBackoff } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { reflectorDefaults } from './reflector/reflector-options.ts'
import { sharedInformerDefaults, type SharedInformerOptions } from './shared-informer-options.ts'
import type { IndexFunction, Indexers } from './store/store-view.ts'

/** The options of one informer that its factory does not determine. */
export type InformerOptions<T extends KubernetesObject = KubernetesObject> = Partial<
  Omit<SharedInformerOptions<T>, 'resource' | 'source' | 'apiServer'>
>

/** Two callers want one informer with different options. */
export class InformerConflictError extends CodedError {
  /** The option's name; `indexers.byNode` for an index function. */
  readonly option: string

  constructor(resource: ApiResource, option: string, value: unknown) {
    super(
      'INFORMER_CONFLICT',
      `the informer of ${groupResourceOf(resource)} is there already with another ${option}`,
      {
        value,
        hint: option.startsWith('indexers.')
          ? 'give the index another name, or both callers the same function'
          : 'ask everywhere for the same, or give the option to the factory (forResource)',
      },
    )
    this.option = option
  }
}

/**
 * The values of absent options. An absent page size differs from its default, which only applies where paging is
 * useful.
 */
const defaults: Readonly<Record<string, unknown>> = {
  ...reflectorDefaults,
  ...sharedInformerDefaults,
  pageSize: undefined,
}

/** The options that make a separate informer. Callers that differ in others conflict. */
const distinguishing = [
  'namespace',
  'labelSelector',
  'fieldSelector',
  'tweakListOptions',
  'transform',
  'metadataOnly',
] as const satisfies readonly (keyof InformerOptions)[]

/** A text that identifies an informer: its resource, selection, transform and `metadataOnly`. */
export function identityOf(resource: ApiResource, options: InformerOptions): string {
  const parts = distinguishing.map((name) => identify(options[name] ?? defaults[name]))
  return [apiVersionOf(resource), resource.resource, resource.kind, ...parts].join('\n')
}

/** The options that an informer was created with, and the indexers added since. */
export class SharedOptions {
  readonly #resource: ApiResource
  readonly #options: Readonly<Record<string, unknown>>
  readonly #indexers = new Map<string, IndexFunction>()

  constructor(resource: ApiResource, options: InformerOptions) {
    this.#resource = resource
    this.#options = options
    for (const [name, index] of Object.entries(options.indexers ?? {})) {
      this.#indexers.set(name, index)
    }
  }

  /** The indexers that an informer lacks for these options. Throws {@link InformerConflictError}. */
  join({ indexers = {}, ...options }: InformerOptions): Indexers {
    for (const [name, value] of Object.entries(options)) {
      if (!isSame(name, value, this.#options[name])) {
        throw new InformerConflictError(this.#resource, name, value)
      }
    }
    const added: Record<string, IndexFunction> = {}
    for (const [name, index] of Object.entries(indexers)) {
      const known = this.#indexers.get(name)
      if (known === undefined) added[name] = index
      else if (!isSameIndex(known, index)) {
        throw new InformerConflictError(this.#resource, `indexers.${name}`, index)
      }
    }
    for (const [name, index] of Object.entries(added)) this.#indexers.set(name, index)
    return added
  }
}

function isSame(name: string, value: unknown, known: unknown): boolean {
  const [one, other] = [value, known].map((given) => given ?? defaults[name])
  if (name !== 'backoff') return isDeepStrictEqual(one, other)
  return isDeepStrictEqual(
    { ...reflectorBackoff, ...(one as object) },
    {
      ...reflectorBackoff,
      ...(other as object),
    },
  )
}

/**
 * Whether two functions are identical or have the same text. Index functions are pure, and one written inline is a new
 * object each time. (The text does not show captured variables: an index function must only depend on its object.)
 */
function isSameIndex(one: IndexFunction, other: IndexFunction): boolean {
  if (one === other) return true
  const text = String(one)
  return text === String(other) && !text.includes('[native code]')
}

const identities = new WeakMap<object, number>()
let nextIdentity = 1

function identify(value: unknown): string {
  if (typeof value !== 'function') return JSON.stringify(value) ?? ''
  let identity = identities.get(value)
  if (identity === undefined) identities.set(value, (identity = nextIdentity++))
  return `#${identity}`
}
