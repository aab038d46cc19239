import {
  createGateway,
  defaultServerOptions,
  type Gateway,
  type GatewayOptions,
  startGraphQLServer,
} from 'informerql'
import type { Unstructured } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { getNamedType, type GraphQLObjectType, isObjectType } from 'graphql'
import { apiVersionOf } from '../schema/captured-cluster.ts'
import type { GraphQLAnswer } from '../support/gateway.ts'
import { capturedResources } from '../schema/captured-cluster.ts'

/** An object as a test writes it: its namespace is that of the test unless its kind has none. */
export interface Written {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string }
  readonly [field: string]: unknown
}

/** Writes an object. */
export const object = (
  apiVersion: string,
  kind: string,
  name: string,
  fields: object = {},
  metadata: object = {},
): Written => ({ apiVersion, kind, metadata: { name, ...metadata }, ...fields })

/** The UID that an object of a test has. */
export const uidOf = (kind: string, name: string, namespace = ''): string =>
  `uid-${kind}-${namespace}-${name}`.toLowerCase()

/** Stands for the UID of an object of the same test. */
export const uidIn = (kind: string, name: string): string => `<uid ${kind} ${name}>`

/** The metadata of an object that another one of the test owns. */
export const ownedBy = (apiVersion: string, kind: string, name: string): object => ({
  ownerReferences: [{ apiVersion, kind, name, uid: uidIn(kind, name), controller: true }],
})

/** A cluster of written objects, and a gateway over it. */
export class RelationCluster implements AsyncDisposable {
  readonly simulator: Simulator
  readonly gateway: Gateway
  readonly log: readonly string[]
  readonly #url: string
  readonly #stack: AsyncDisposableStack

  private constructor(
    simulator: Simulator,
    gateway: Gateway,
    log: readonly string[],
    url: string,
    stack: AsyncDisposableStack,
  ) {
    this.simulator = simulator
    this.gateway = gateway
    this.log = log
    this.#url = url
    this.#stack = stack
  }

  /** What has to be there before the gateway is, such as what {@link define} defines, is prepared. */
  static async start(
    options: Partial<GatewayOptions> = {},
    prepare?: (simulator: Simulator) => Promise<void>,
  ): Promise<RelationCluster> {
    await using stack = new AsyncDisposableStack()
    const simulator = stack.use(await startSimulator({ bookmarkIntervalMs: 0 }))
    await prepare?.(simulator)
    const lines: string[] = []
    const write = (message: string): void => void lines.push(message)
    const log = { info: write, warn: write, error: write }
    const clusters = [{ name: 'test', server: simulator.url }]
    const gateway = stack.use(await createGateway({ clusters, log, ...options }))
    const { url } = stack.use(
      await startGraphQLServer({
        server: { ...defaultServerOptions(), port: 0 },
        plugins: [gateway.plugin],
        planned: gateway.planned,
        log,
        readiness: gateway.readiness,
      }),
    )
    return new RelationCluster(simulator, gateway, lines, url, stack.move())
  }

  /** Creates the objects of a test in its namespace. */
  create(namespace: string, objects: readonly Written[]): void {
    for (const written of objects) {
      const resource = this.#resourceOf(written)
      const place = resource.namespaced ? { namespace } : {}
      const own: { readonly namespace?: string; readonly name: string } = {
        ...place,
        ...written.metadata,
      }
      const uid = uidOf(written.kind, own.name, own.namespace)
      const text = JSON.stringify({ ...written, metadata: { uid, ...own } })
      this.simulator.storage.create(resource, resolved(text, namespace) as Unstructured)
    }
  }

  async ask(query: string, variables: object = {}): Promise<GraphQLAnswer> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as GraphQLAnswer
  }

  /** Defines kinds: `Issuer.cert-manager.io/v1`, with `*` behind those that are cluster-scoped. */
  async define(...definitions: DefinitionArguments): Promise<void> {
    await define(this.simulator, ...definitions)
  }

  /** The names that a path of fields leads to from one object: `deployment web pods node`. */
  async namesAt(namespace: string, path: string): Promise<readonly string[] | string | null> {
    const [lookup = '', name = '', ...fields] = path.split(' ')
    const text = this.#selection(lookup, fields)
    const [inner = '', place = namespace] = name.split('@')
    const type = this.#typeOf(lookup)
    const isNamespaced = type.getFields()['namespaceObject'] !== undefined
    const found = isNamespaced ? `namespace: "${place}", ` : ''
    const query = `{ found: ${lookup}(${found}name: "${inner}") ${text} }`
    const { data, errors } = await this.ask(query)
    if (errors !== undefined) throw new Error(`${query}: ${JSON.stringify(errors)}`)
    return namesIn((data as { readonly found: Found | null }).found, fields)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]()
  }

  #resourceOf({ apiVersion, kind }: Written): StoredResource {
    const known = capturedResources.find(
      (one) => one.kind === kind && apiVersionOf(one) === apiVersion,
    )
    if (known !== undefined) return known
    const [group = '', version = ''] = apiVersion.split('/')
    const crd = [...customPlurals].find(([name]) => name === `${group}/${kind}`)
    if (crd === undefined) throw new Error(`no resource of ${apiVersion} ${kind}`)
    return { group, version, resource: crd[1].plural, namespaced: crd[1].namespaced }
  }

  #typeOf(lookup: string): GraphQLObjectType {
    const field = this.gateway.schema.getQueryType()?.getFields()[lookup]
    const type = field === undefined ? undefined : getNamedType(field.type)
    if (!isObjectType(type)) throw new Error(`no look-up ${lookup}`)
    return type
  }

  #selection(lookup: string, fields: readonly string[]): string {
    const { schema } = this.gateway
    let typeName = this.#typeOf(lookup).name
    let open = ''
    let close = ''
    for (const name of fields) {
      const type = schema.getType(typeName)
      const field = isObjectType(type) ? type.getFields()[name] : undefined
      if (field === undefined) throw new Error(`${typeName} has no ${name}`)
      const to = getNamedType(field.type).name
      if (to === 'ObjectRef') return `${open} { ${name} { name } ${close} }`
      const isMany = to.endsWith('Connection')
      open += ` { ${name}${isMany ? '(first: 50) { nodes' : ''}`
      close += isMany ? ' } }' : ' }'
      typeName = isMany ? to.slice(0, -'Connection'.length) : to
    }
    return `${open} { metadata { name } } ${close}`
  }
}

type DefinitionArguments = readonly [
  kinds: readonly string[],
  categories?: Readonly<Record<string, string>>,
  specs?: Readonly<Record<string, object>>,
]

/** As {@link RelationCluster.define}, of a simulator without a gateway. */
export async function define(
  simulator: Simulator,
  ...[kinds, categories = {}, specs = {}]: DefinitionArguments
): Promise<void> {
  for (const text of kinds) {
    const namespaced = !text.endsWith('*')
    const [name = '', version = ''] = text.replace('*', '').split('/')
    const [kind = '', ...labels] = name.split('.')
    const group = labels.join('.')
    const plural = pluralOf(kind)
    const category = categories[kind]
    customPlurals.set(`${group}/${kind}`, { plural, namespaced })
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const spec = specs[kind]
    const described = { type: 'object', properties: { spec } }
    const schema = { openAPIV3Schema: spec === undefined ? open : described }
    await post(simulator, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${plural}.${group}`,
        annotations: { 'api-approved.kubernetes.io': 'https://example.com/approved' },
      },
      spec: {
        group,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        names: { plural, kind, ...(category === undefined ? {} : { categories: [category] }) },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    })
  }
}

async function post(simulator: Simulator, path: string, body: object): Promise<void> {
  const response = await fetch(new URL(path, simulator.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

/** The CRDs that tests have defined, by `group/Kind`. */
export const customPlurals: Map<string, CustomPlural> = new Map()

interface CustomPlural {
  readonly plural: string
  readonly namespaced: boolean
}

interface StoredResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespaced: boolean
}

function pluralOf(kind: string): string {
  const lower = kind.toLowerCase()
  if (lower.endsWith('y') && !/[aeo]y$/.test(lower)) return `${lower.slice(0, -1)}ies`
  return /(?:s|x|ch)$/.test(lower) ? `${lower}es` : `${lower}s`
}

function resolved(text: string, namespace: string): unknown {
  const scoped = new Map(capturedResources.map((one) => [one.kind, one.namespaced]))
  const uids = text.replaceAll(/<uid (\w+) ([^>]+)>/g, (_, kind: string, name: string) =>
    uidOf(kind, name, scoped.get(kind) === false ? '' : namespace),
  )
  return JSON.parse(uids.replaceAll('<namespace>', namespace))
}

/** A part of an answer: an object, a connection or an object reference. */
type Found = { readonly [field: string]: Found | readonly Found[] | string | null }

/** The names at the end of a path, sorted; null where a single one leads nowhere. */
function namesIn(
  value: Found | null,
  fields: readonly string[],
): readonly string[] | string | null {
  const [field, ...rest] = fields
  if (value === null) return null
  if (field === undefined) {
    const { metadata = value } = value as { readonly metadata?: Found }
    return metadata['name'] as string
  }
  const inner = value[field] as Found | readonly Found[] | null
  if (inner === null) return null
  const many = (Array.isArray(inner) ? inner : (inner as Found)['nodes']) as
    | readonly Found[]
    | undefined
  if (many === undefined) return namesIn(inner as Found, rest)
  return many.flatMap((one) => namesIn(one, rest) ?? []).toSorted()
}
