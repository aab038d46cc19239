import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInterfaceType,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isCompositeType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
} from 'graphql'

/** Of the work that plans may do more of than graphql-js, more than any random operation does: they would differ in nothing else. */
export const neverTooCostly = { rows: 1_000_000, fields: 10_000_000, bytes: 1_000_000_000 }

/** What the operations are made of, besides the schema. */
export interface RandomOperationsOptions {
  /** Whether operations leave a field or an index out. `type` is `Query` for a root field. */
  readonly skips?: (this: void, type: string, field: string) => boolean
  /** A value that some object has in an index. Filters compare with it. */
  readonly valueOf?: (this: void, type: string, index: string) => unknown
  /** What lists are about; absent: the default cluster. */
  readonly clusters?: readonly (readonly string[])[]
}

/** An operation as a client sends it. */
export interface RandomOperation {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
}

/** Objects that are there, as operations name them. */
export interface NamedObject {
  /** The type of its kind, and the field that looks it up. */
  readonly type: string
  readonly lookup: string
  readonly id: string
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
}

type Composite = GraphQLObjectType | GraphQLInterfaceType

/** What may be asked with: words that the population has, and some that it has not. */
const names = ['shop', 'default', 'kube-system', 'payments', 'web', 'nothing-of-this-name']
const selectors = [
  'app',
  '!app',
  'app=web',
  'app!=web',
  'tier in (backend,frontend)',
  'x notin (y)',
]
const paths = [
  'metadata.name',
  'spec',
  'metadata.labels',
  'spec.containers[*].image',
  'no.such.path',
]

/**
 * Makes operations of everything that a schema offers: lists and look-ups, nested fields and relations, aliases, merged
 * selections, fragments of both forms, `@skip` and `@include` by constants and variables, arguments by both as well. Each is valid.
 */
export class RandomOperations {
  readonly #schema: GraphQLSchema
  readonly #random: () => number
  readonly #objects: readonly NamedObject[]
  readonly #skips: NonNullable<RandomOperationsOptions['skips']>
  readonly #valueOf: NonNullable<RandomOperationsOptions['valueOf']>
  readonly #clusters: NonNullable<RandomOperationsOptions['clusters']>
  #fields = 0
  #aliases = 0
  #fragments: string[] = []
  #definitions: string[] = []
  #variables: Record<string, unknown> = {}

  constructor(
    schema: GraphQLSchema,
    random: () => number,
    objects: readonly NamedObject[],
    options: RandomOperationsOptions = {},
  ) {
    this.#schema = schema
    this.#random = random
    this.#objects = objects
    this.#skips = options.skips ?? (() => false)
    this.#valueOf = options.valueOf ?? (() => undefined)
    this.#clusters = options.clusters ?? []
  }

  next(): RandomOperation {
    this.#fields = 0
    this.#aliases = 0
    this.#fragments = []
    this.#definitions = []
    this.#variables = {}
    const query = this.#schema.getQueryType()
    if (query === undefined || query === null) throw new TypeError('no Query')
    const roots = Object.values(query.getFields()).filter(
      ({ name, type }) =>
        isCompositeType(getNamedType(type)) &&
        !changing.has(name) &&
        !this.#skips(query.name, name) &&
        this.#isKnown(name),
    )
    const own = roots.filter(({ name }) => ofAnyKind.has(name))
    const picked = Array.from({ length: 1 + this.#below(2) }, () =>
      this.#field(this.#pick(this.#chance(0.3) ? own : roots), 5, true),
    )
    const selection = `{ ${picked.join(' ')} }`
    const definitions = this.#definitions.length === 0 ? '' : `(${this.#definitions.join(', ')})`
    return {
      query: `query Random${definitions} ${selection} ${this.#fragments.join(' ')}`,
      variables: this.#variables,
    }
  }

  /** Whether Relay's fields for one type have something to fetch. */
  #isKnown(field: string): boolean {
    const [, type] = field.split('fetch__')
    return type === undefined || this.#objects.some((object) => object.type === type)
  }

  #selection(type: Composite, depth: number): string {
    const fields = Object.values(type.getFields()).filter(
      ({ type: of, name }) =>
        skipped.get(type.name)?.has(name) !== true &&
        !this.#skips(type.name, name) &&
        (depth > 0 || !isCompositeType(getNamedType(of))),
    )
    const parts: string[] = []
    const wanted = 1 + this.#below(type.name.endsWith('Connection') ? 3 : 4)
    for (let at = 0; at < wanted; at++) {
      const field = fields.length === 0 ? undefined : this.#pick(fields)
      const text = field === undefined ? '__typename' : this.#field(field, depth)
      parts.push(this.#wrapped(type, text))
    }
    if (this.#chance(0.1)) parts.push(this.#chance(0.5) ? '__typename' : 't: __typename')
    // The same field once more: its selections are merged.
    const first = parts[0] ?? ''
    if (this.#chance(0.1) && !first.includes('$')) parts.push(first)
    return `{ ${parts.join(' ')} }`
  }

  /** Sometimes within a fragment, of the type itself or of one of its interfaces. */
  #wrapped(type: Composite, text: string): string {
    const others = isObjectType(type) ? type.getInterfaces().map(({ name }) => name) : []
    if (this.#chance(0.85)) return text
    if (this.#chance(0.3)) return `... ${this.#directive()} { ${text} }`
    if (this.#chance(0.3)) {
      const name = `F${this.#fragments.length}`
      this.#fragments.push(`fragment ${name} on ${type.name} { ${text} }`)
      return `...${name} ${this.#directive()}`
    }
    if (others.length > 0 && this.#chance(0.3)) return `... on ${this.#pick(others)} { id kind }`
    if (isInterfaceType(type)) return `... on Pod { metadata { name } }`
    return `... on ${type.name} ${this.#directive()} { ${text} }`
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number, isRoot = false): string {
    this.#fields += 1
    const args = this.#arguments(field)
    // Fields with arguments have names of their own, as otherwise two of them may not be merged.
    const isNamed = isRoot || args !== '' || this.#chance(0.1)
    const alias = isNamed ? `a${this.#aliases++}: ` : ''
    const named = getNamedType(field.type)
    const head = `${alias}${field.name}${args} ${alias === '' ? '' : this.#directive()}`
    if (!isObjectType(named) && !isInterfaceType(named)) return head
    const inner = this.#fields > 60 ? 0 : depth - 1
    return `${head} ${this.#selection(named, inner)}`
  }

  #arguments(field: GraphQLField<unknown, unknown>): string {
    const meant = this.#objects.filter(
      ({ type, lookup }) =>
        lookup === field.name ||
        (field.name.startsWith('fetch__')
          ? field.name.endsWith(`__${type}`)
          : ofAnyKind.has(field.name)),
    )
    const known = meant.length === 0 ? undefined : this.#pick(meant)
    const given = field.args.flatMap((argument) => {
      const isAsked = argument.name === 'clusters' && this.#chance(0.9)
      if (!isNonNullType(argument.type) && !isAsked && this.#chance(0.6)) return []
      const inputs = this.#inputs(argument)
      if (inputs !== undefined) return [`${argument.name}: ${inputs}`]
      const value = this.#value(argument, known)
      return value === undefined ? [] : [`${argument.name}: ${this.#spelled(argument, value)}`]
    })
    return given.length === 0 ? '' : `(${given.join(', ')})`
  }

  #value({ name }: GraphQLArgument, known: NamedObject | undefined): unknown {
    switch (name) {
      case 'id':
        return this.#chance(0.05) ? this.#pick(['', 'bm9uZQ']) : known?.id
      case 'ids':
      case 'roots':
        return Array.from({ length: this.#below(4) }, () => this.#pick(this.#objects).id)
      case 'clusters':
        return this.#clusters.length === 0 ? undefined : this.#pick(this.#clusters)
      case 'last':
        return this.#clusters.length > 0 && this.#chance(0.3) ? 3 : undefined
      case 'apiVersion':
        return known?.apiVersion
      case 'kind':
        return known?.kind
      case 'text':
        return this.#pick([
          'a',
          'web',
          'SHOP',
          'kube',
          'nothing-of-this-name',
          'kind:pod,svc a',
          'ns:shop web',
          'app=web',
          'app=',
          'kind:nothing a',
          '',
        ])
      case 'verb':
        return this.#pick(['get', 'list', 'patch', 'delete', 'no verb'])
      case 'subresource':
        return this.#pick(['log', 'scale', 'status'])
      case 'kinds':
        return Array.from({ length: this.#below(3) }, () => this.#pick(this.#objects).type)
      case 'types':
        return this.#chance(0.5) ? [this.#pick(this.#objects).type] : ['Deployment', 'Node']
      case 'relations':
        return this.#pick([
          ['pods', 'Pod.node'],
          ['owners', 'owned'],
          ['services', 'configMaps'],
        ])
      case 'depth':
        return this.#below(4)
      case 'maxNodes':
        return this.#pick([1, 20, 100])
      case 'first':
        return this.#pick([0, 1, 2, 7, 40])
      case 'offset':
        return this.#pick([0, 1, 5, 1000])
      case 'namespace':
        return known === undefined ? this.#pick(names) : known.namespace
      case 'namespaces':
        return [this.#pick(names), this.#pick(names)]
      case 'name':
        return known?.name ?? this.#pick(names)
      case 'labelSelector':
        return this.#pick(selectors)
      case 'where':
        return this.#pick([{}, { name: { contains: 'a' } }, { not: { namespace: { eq: 'shop' } } }])
      case 'orderBy':
        return this.#pick([[{ name: 'DESC' }], [{ namespace: 'ASC' }, { name: 'DESC' }]])
      case 'key':
        return this.#pick(['app', 'tier', 'constructor'])
      case 'path':
        return this.#pick(paths)
      case 'of':
        return this.#pick([['restarts'], ['cpuRequests', 'memoryRequests'], ['replicas']])
      case 'by':
        return [this.#pick(['name', 'namespace', 'labels["app"]', 'cluster'])]
      case 'wide':
      case 'related':
        return this.#chance(0.5)
      case 'top':
        return this.#pick([0, 1, 5])
      default:
        return undefined
    }
  }

  /** Orders and conditions, which are written as literals. */
  #inputs({ name, type }: GraphQLArgument): string | undefined {
    const named = getNamedType(type)
    if (!isInputObjectType(named)) return undefined
    const indexes = Object.values(named.getFields()).filter(
      (one) => !combinators.has(one.name) && !this.#skips(named.name, one.name),
    )
    const index = this.#pick(indexes)
    if (name === 'orderBy') {
      const other = this.#pick(indexes).name
      const second = other === index.name || this.#chance(0.6) ? '' : `, { ${other}: ASC }`
      return `[{ ${index.name}: ${this.#pick(['ASC', 'DESC'])} }${second}]`
    }
    const filter = this.#condition(named)
    return this.#pick([
      filter,
      `{ not: ${filter} }`,
      `{ name: { contains: "a" } }`,
      `{ or: [{ name: { startsWith: "a" } }, ${filter}] }`,
    ])
  }

  /** On an index, or on what a relation leads to. */
  #condition(where: GraphQLInputObjectType, depth = 2): string {
    if (where.name === 'UsedByWhere') return '{}'
    const fields = Object.values(where.getFields()).filter(
      (one) => !combinators.has(one.name) && !this.#skips(where.name, one.name),
    )
    const related = fields.filter(({ type }) => /Where(?:Many|One)$/.test(String(type)))
    if (depth === 0 || related.length === 0 || this.#chance(0.6)) {
      const index = this.#pick(fields.filter((one) => !related.includes(one)))
      const value = this.#valueOf(where.name.replace(/Where$/, ''), index.name)
      if (value === undefined || this.#chance(0.2)) {
        return `{ ${index.name}: { exists: ${this.#chance(0.5)} } }`
      }
      const text = literalOf(value)
      const isOrdered = typeof value !== 'boolean'
      const operator = isOrdered ? this.#pick(['eq', 'lt', 'lte', 'gt', 'gte']) : 'eq'
      return `{ ${index.name}: ${this.#pick([`{ ${operator}: ${text} }`, `{ in: [${text}] }`, `{ not: { eq: ${text} } }`])} }`
    }
    const relation = this.#pick(related)
    const filter = getNamedType(relation.type) as GraphQLInputObjectType
    const operator = this.#pick(Object.values(filter.getFields()))
    const inner = getNamedType(operator.type) as GraphQLInputObjectType
    const condition = this.#chance(0.3) ? '{}' : this.#condition(inner, depth - 1)
    return `{ ${relation.name}: { ${operator.name}: ${condition} } }`
  }

  /** As a constant, or as a variable, which may have a default instead of a value. */
  #spelled(argument: GraphQLArgument, value: unknown): string {
    const constant = literalOf(value)
    if (this.#chance(0.7)) return constant
    const name = `v${this.#definitions.length}`
    if (this.#chance(0.3)) {
      this.#definitions.push(`$${name}: ${String(argument.type)} = ${constant}`)
    } else {
      this.#definitions.push(`$${name}: ${String(argument.type)}`)
      this.#variables[name] = value
    }
    return `$${name}`
  }

  #directive(): string {
    if (this.#chance(0.8)) return ''
    const directive = this.#pick(['skip', 'include'])
    if (this.#chance(0.5) || this.#definitions.length > 6) {
      return `@${directive}(if: ${this.#chance(0.5)})`
    }
    const name = `v${this.#definitions.length}`
    this.#definitions.push(`$${name}: Boolean!`)
    this.#variables[name] = this.#chance(0.5)
    return `@${directive}(if: $${name})`
  }

  #pick<T>(from: readonly T[]): T {
    const found = from[this.#below(from.length)]
    if (found === undefined) throw new RangeError('nothing to pick from')
    return found
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #chance(part: number): boolean {
    return this.#random() < part
  }
}

/** A value as GraphQL writes it: without quotes around the names of fields. */
function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, one]) => `${name}: ${literalOf(one)}`)
  return `{ ${fields.join(', ')} }`
}

/** The root fields that tell of the gateway, or of logs, whose answers change from one question to the next. */
const changing: ReadonlySet<string> = new Set(['gatewayClusters', 'podLogs'])

/** The root fields that lead to objects of whatever kind. */
const ofAnyKind: ReadonlySet<string> = new Set([
  'object',
  'objects',
  'objectByRef',
  'objectList',
  'problems',
  'graph',
  'search',
  'complete',
])

/** Of `where`: what is no index. */
const combinators: ReadonlySet<string> = new Set(['and', 'or', 'not', 'labels'])

/** What changes from one question to the next, by type. */
const skipped: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['GatewayCluster', new Set(['permissions', 'resources'])],
])
