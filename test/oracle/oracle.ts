import {
  execute,
  getNamedType,
  type GraphQLSchema,
  isCompositeType,
  buildClientSchema,
  introspectionFromSchema,
  parse,
} from 'graphql'
import { type NamedObject, RandomOperations } from '../plan/random-operation.ts'
import type { Variables } from '../support/gateway.ts'
import { indexesOf } from './plain-indexes.ts'
import { NotFollowedError, PlainRelations } from './plain-relations.ts'
import { PlainValues } from './plain-values.ts'
import type { Json, PlainKind, PlainWorld } from './plain-world.ts'

/** Reads the kinds of a cluster that are cached from the gateway's catalogue, which is all that the oracle asks a gateway. */
export const kindsQuery = `{ gatewayClusters { resources {
  type group version apiVersion kind resource namespaced shortNames listField state } } }`

/** The kinds in an answer to {@link kindsQuery}, without those that are read from the API server each time. */
export function kindsIn(data: {
  readonly gatewayClusters: readonly {
    readonly resources: readonly (PlainKind & { readonly state: string })[]
  }[]
}): readonly PlainKind[] {
  return (data.gatewayClusters[0]?.resources ?? []).filter(({ state }) => state !== 'UNCACHED')
}

/**
 * Answers operations by graphql-js's `execute` and its default resolvers, over {@link PlainValues}. What a viewer should
 * get is answered over the part of the world that they may see.
 */
export class Oracle {
  readonly #world: PlainWorld
  readonly #schema: GraphQLSchema
  readonly #roots = new Map<PlainWorld, unknown>()

  constructor(world: PlainWorld, schema: GraphQLSchema) {
    this.#world = world
    // Enums and scalars as a client knows them: values are what answers have.
    this.#schema = buildClientSchema(introspectionFromSchema(schema))
  }

  /** Random operations over what the oracle knows, which compare with values that objects have. */
  operations(random: () => number, objects: readonly NamedObject[]): RandomOperations {
    return new RandomOperations(this.#schema, random, objects, {
      skips: skipped(this.#world, this.#schema),
      valueOf: (type, index) => {
        const kind = this.#world.kind(type)
        const known = kind && indexesOf(this.#world, kind).get(index)
        if (known === undefined || known.type === 'HEALTH') return undefined
        const rows = this.#world.of(type)
        const row = rows[Math.floor(random() * rows.length)]
        return row && known.valuesOf(row)[0]
      },
    })
  }

  /** What the answer should be, in JSON. `undefined` if the oracle cannot tell. */
  async answer(
    query: string,
    variableValues: Variables,
    world: PlainWorld = this.#world,
  ): Promise<{ readonly data?: unknown; readonly errors?: unknown } | undefined> {
    const rootValue = this.#roots.get(world) ?? new PlainValues(world, this.#schema).root()
    this.#roots.set(world, rootValue)
    const document = parse(query)
    const answer = await execute({ schema: this.#schema, document, rootValue, variableValues })
    const isUnknown = answer.errors?.some(
      ({ originalError }) => originalError instanceof NotFollowedError,
    )
    return isUnknown === true ? undefined : JSON.parse(JSON.stringify(answer))
  }
}

/** What only the gateway knows: positions, freshness, what is loaded; and the relations that the oracle cannot follow. */
function skipped(
  world: PlainWorld,
  schema: GraphQLSchema,
): (type: string, field: string) => boolean {
  const relations = new PlainRelations(world)
  const own = new Set([
    'cursor',
    'startCursor',
    'endCursor',
    'resumeToken',
    'resourceVersion',
    'types',
    'complete',
    'notLookedAt',
    'can',
    'requests',
    // test/gateway/managed-by.test.ts
    'managedBy',
    // It says what RBAC allows: test/access.
    'visible',
    'limits',
  ])
  /** What a problem's row says besides: test/problems. */
  const remedies = new Set(['behind', 'ready', 'wanted', 'change', 'actions', 'lastLines'])
  const outline = new Set(['type', 'keys', 'keyCount'])
  const roots = new Set([
    'graph',
    'search',
    'complete',
    'viewer',
    // What RBAC, certificates and OpenAPI documents say: test/access, test/problems.
    'accessGrants',
    'tlsCertificates',
    'kindFields',
  ])
  const known = new Map<string, boolean>()
  const isKind = (type: string): boolean =>
    schema.getType(`${type}Where`) !== undefined && type !== 'KubernetesObject'
  return (typeName, field) => {
    if (typeName === 'Query') {
      const type =
        getNamedType(schema.getQueryType()?.getFields()[field]?.type)?.name.replace(
          /Connection$/,
          '',
        ) ?? ''
      return roots.has(field) || (isKind(type) && world.kind(type) === undefined)
    }
    // It follows from when the gateway has measured: test/gateway/usage-history.test.ts.
    if (field === 'usageHistory') return true
    // They follow from columns and managedFields, which the world does not have: test/access/secret-keys.test.ts.
    if (typeName === 'Secret' && outline.has(field)) return true
    // Nodes are measured again and again.
    if (field === 'usage') return typeName !== 'Pod'
    if (typeName === 'ResourceUsage') return field === 'at' || field === 'window'
    if (field.startsWith('usage')) return !typeName.startsWith('Pod')
    if (typeName === 'Problem') return remedies.has(field) || field === 'id'
    // It follows from what is in the namespace: test/access/one-health.test.ts.
    if (typeName === 'Namespace' && field === 'health') return true
    if (typeName === 'ProblemConnection') return field === 'incomplete' || field === 'visible'
    if (own.has(field)) return true
    if (typeName === 'GatewayCluster') return field !== 'name'
    if (typeName === 'UsedBy') return field === 'paths'
    if (typeName === 'IndexSum') return field === 'value'
    if (field === 'changed') return true
    const type = schema.getType(typeName)
    const fields = type !== undefined && 'getFields' in type ? type.getFields() : {}
    const of = fields[field]?.type
    if (of === undefined || world.kind(typeName) === undefined) return false
    const declared = relations.declaration(typeName, field)
    if (declared === undefined || !isCompositeType(getNamedType(of))) return false
    const to = getNamedType(of).name.replace(/Connection$/, '')
    if (to === 'ObjectRef') return false
    // What is read from the API server each time is not in the world.
    if (to !== 'KubernetesObject' && world.kind(to) === undefined) return true
    const name = `${typeName}.${field}`
    let follows = known.get(name)
    if (follows === undefined) known.set(name, (follows = relations.follows(typeName, field)))
    return !follows
  }
}

/** The expected data where a refused field is null, as it is in the answer. Its null may stand further up. */
export function refusedIn(
  expected: unknown,
  answered: unknown,
  path: readonly PropertyKey[],
): void {
  type Members = Record<PropertyKey, unknown> | null | undefined
  let [to, from] = [expected as Members, answered as Members]
  for (const key of path) {
    if (!to || !from) return
    if ((from[key] ?? null) === null) {
      to[key] = null
      return
    }
    ;[to, from] = [to[key] as Members, from[key] as Members]
  }
}

/** An answer without the orders that docs/graph-and-search.md leaves open: those of a graph within one distance. */
export function unordered(answer: Json): Json {
  if (Array.isArray(answer)) {
    return answer
      .map(unordered)
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(Object.entries(answer).map(([name, one]) => [name, unordered(one)]))
}
