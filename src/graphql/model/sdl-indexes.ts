import { type ApiResource, isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import { builtInIndexes } from '../../informer/store/store-view.ts'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import type { OpenApiSchema } from '../../kubernetes/open-api.ts'
import { type IndexDefinition, builtInDefinitions } from '../../query/index/index-definition.ts'
import { type IndexType, indexKeyOf } from '../../query/index/index-key.ts'
import { parsePath, valuesAt } from '../../query/index/path.ts'
import { containerResourceAt } from '../../query/index/pod-total.ts'
import { usageIndexes } from '../../query/index/usage-index.ts'
import { usageResourceOf } from '../../kubernetes/usage.ts'
import { indexType } from '../sdl/sdl-directives.ts'
import type { IndexDeclaration } from '../sdl/sdl-document.ts'
import {
  pathProblem,
  SdlError,
  type SdlPlace,
  type SdlProblem,
  unknownFieldHint,
} from '../sdl/sdl-error.ts'
import type { BareKind } from './kind.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { scalarFormOf, type SchemaScalar } from './scalar-form.ts'

/** `and`, `or`, `not` and `labels` are fields of every `where`; the others are indexes of every kind. */
const reserved: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'labels',
  'health',
  'changed',
  ...builtInIndexes,
  ...builtInDefinitions.map(({ name }) => name),
])

/** Whether every `where` has a field of this name, so that no declared index may have it. */
export function isReservedIndexName(name: string): boolean {
  return reserved.has(name)
}

const numbers: ReadonlySet<string> = new Set(['int', 'quantity'])

/** Collects the declared indexes of one kind. */
export class SdlIndexes {
  readonly #kind: BareKind
  readonly #catalog: KindCatalog
  readonly #declared = new Map<string, { definition: IndexDefinition; place: SdlPlace }>()

  constructor(kind: BareKind, catalog: KindCatalog) {
    this.#kind = kind
    this.#catalog = catalog
  }

  has(name: string): boolean {
    return this.#declared.has(name)
  }

  /** All indexes of the kind: those of every kind, then the declared ones. */
  definitions(): readonly IndexDefinition[] {
    const declared = [...this.#declared.values()].map(({ definition }) => definition)
    const usage = usageResourceOf(this.#kind.resource) === undefined ? [] : usageIndexes
    const measured = usage.filter(({ name }) => !this.#declared.has(name))
    return [...builtInDefinitions, healthIndex(this.#kind), changedIndex, ...declared, ...measured]
  }

  /** Adds a declaration. Returns its problem if it cannot be an index. */
  add({ place, arguments: args }: IndexDeclaration): SdlError | undefined {
    const { typeName, apiVersion } = this.#kind
    const { name, path: paths, type, description } = args
    const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
      new SdlError(problem, place, message, hint)
    if (reserved.has(name)) {
      const message = `${typeName}: index name ${JSON.stringify(name)} is reserved`
      return fail('reserved-index-name', message, 'choose another name')
    }
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
      const message = `index name ${JSON.stringify(name)} cannot be a field of ${typeName}Where`
      return fail('unsupported', message, 'use letters, digits and _')
    }
    const earlier = this.#declared.get(name)
    if (earlier !== undefined) {
      const { file, line } = earlier.place
      const message = `${typeName} has an index ${name} already, declared at ${file}:${line}`
      return fail('duplicate-index', message, 'give one of them another name')
    }
    if (paths.length === 0) return fail('bad-path', `index ${name} has no path`, 'give it one')
    const reduce = args.reduce ?? undefined
    if (reduce === 'sum' && !numbers.has(type)) {
      const message = `index ${name} cannot have reduce: SUM: it is not of numbers`
      return fail('unsupported', message, 'give it type: INT or type: QUANTITY')
    }
    if (reduce === 'restarts' && (typeName !== 'Pod' || type !== 'int')) {
      const message = `index ${name} cannot have reduce: RESTARTS: it is not of the restarts of pods`
      return fail('unsupported', message, 'declare it on Pod, with type: INT')
    }
    const searchable = args.searchable === true
    if (searchable && type !== 'string') {
      const message = `index ${name} cannot be searchable: it is not of strings`
      return fail('unsupported', message, 'leave `searchable` out')
    }
    const enumerations: OpenApiSchema['enum'][] = []
    for (const path of paths) {
      const unreadable = pathProblem(path, place, `index ${name} of ${typeName}`)
      if (unreadable !== undefined) return unreadable
      const there = this.#catalog.at(typeName, path)
      if (there.form === 'absent') {
        const message = `index ${name}: a ${typeName} of ${apiVersion} has nothing at ${path}`
        return fail('unknown-field', message, unknownFieldHint)
      }
      const schema = there.form === 'described' ? there.schema : undefined
      enumerations.push(schema?.enum)
      const scalar = schema && scalarFormOf(schema)
      if (scalar !== undefined && !readableFrom[type].has(scalar)) {
        const message = `index ${name} of ${typeName}: the value at ${path} is never of this type`
        const fitting = indexType
          .getValues()
          .filter(({ value }) => readableFrom[value as IndexType].has(scalar))
        const hint = `write type: ${fitting.map((one) => one.name).join(' or ')}`
        return fail('field-type', message, hint)
      }
    }
    if (reduce === 'podTotal' && !isPodTotal(typeName, args)) {
      const message = `index ${name} cannot have reduce: POD_TOTAL: it is not of a resource of the containers of pods`
      const path = 'spec.containers[*].resources.requests.NAME'
      const hint = `declare it on Pod, with type: QUANTITY and one path: ${path}, or limits.NAME`
      return fail('unsupported', message, hint)
    }
    const definition: IndexDefinition = {
      name,
      paths,
      type,
      ...(reduce === undefined ? {} : { reduce }),
      // Each state of a pod would cost some microseconds, and few ask for it.
      ...(reduce === 'podTotal' ? { lazy: true } : {}),
      ...(searchable ? { searchable } : {}),
      ...(description === undefined || description === null ? {} : { description }),
      ...this.#closedSet(type, enumerations),
    }
    this.#declared.set(name, { definition, place })
    return undefined
  }

  /**
   * All values that an index of strings can have, by the enumerations at its paths. Objects of custom kinds may keep
   * values of an earlier schema.
   */
  #closedSet(
    type: IndexType,
    enumerations: readonly OpenApiSchema['enum'][],
  ): Pick<IndexDefinition, 'values'> {
    if (type !== 'string' || !isBuiltInGroup(this.#kind.resource.group)) return {}
    const known = enumerations.filter((one) => one !== undefined)
    if (known.length < enumerations.length) return {}
    return { values: [...new Set(known.flat().map(String))] }
  }
}

function isPodTotal(
  typeName: string,
  { type, path: paths }: IndexDeclaration['arguments'],
): boolean {
  const [path] = paths
  if (typeName !== 'Pod' || type !== 'quantity' || path === undefined || paths.length > 1)
    return false
  return containerResourceAt(parsePath(path)) !== undefined
}

const numeric = ['int', 'int64', 'float', 'quantity', 'intOrString', 'string'] as const

/**
 * The scalars that the values of an index can be read from. Labels and annotations hold numbers and times as strings, so an
 * index of those types reads strings, and leaves out the ones that it cannot parse.
 */
const readableFrom: Readonly<Record<IndexType, ReadonlySet<SchemaScalar>>> = {
  string: new Set([...numeric, 'boolean', 'dateTime']),
  int: new Set(numeric),
  quantity: new Set(numeric),
  dateTime: new Set(['dateTime', 'string']),
  boolean: new Set(['boolean']),
  healthStatus: new Set(),
}

/** The times that objects tell of themselves, besides that of their creation. */
const changes = [
  'metadata.deletionTimestamp',
  'status.conditions[*].lastTransitionTime',
  'status.containerStatuses[*].state.running.startedAt',
  'status.containerStatuses[*].lastState.terminated.finishedAt',
  'status.completionTime',
  'lastTimestamp',
].map(parsePath)

/** The index behind the order `changed` of every kind. It is built on first use. */
const changedIndex: IndexDefinition = {
  name: 'changed',
  paths: [],
  type: 'dateTime',
  lazy: true,
  description:
    'The latest time that the object tells of itself: of its creation, of a transition of a condition, of a start or end of a container.',
  valuesOf(object) {
    const { creationTimestamp } = object.metadata
    const times = [creationTimestamp, ...changes.flatMap((path) => valuesAt(path, object))]
    const keys = times.flatMap((time) => indexKeyOf('dateTime', time) ?? [])
    return keys.toSorted().slice(-1)
  },
}

/** The indexes of every kind. What `health` is depends on the kind. */
export const commonIndexes: readonly IndexDefinition[] = [
  ...builtInDefinitions,
  healthIndex({ resource: { group: '', kind: '' } }),
  changedIndex,
]

/**
 * The index behind the filter `health` of every kind. It is built on first use, as each object's health is computed for
 * it.
 */
function healthIndex({
  resource,
}: {
  readonly resource: Pick<ApiResource, 'group' | 'kind'>
}): IndexDefinition {
  const rule = healthRuleOf(resource)
  return {
    name: 'health',
    paths: [],
    type: 'healthStatus',
    lazy: true,
    description: 'The `status` of `health`, in the order of `HealthStatus`: the worst first.',
    valuesOf(object) {
      const { status } = ruledHealth(rule, object as Unstructured)
      return [indexKeyOf('healthStatus', status) ?? '']
    },
  }
}
