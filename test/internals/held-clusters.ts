// Imports internals: merged subscriptions without a database that says who holds what.
import {
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql'
import { defaultLiveLimits } from '../../src/graphql/live/live-limits.ts'
import { HeldBytes } from '../../src/graphql/prepare/user-shares.ts'
import { mergedFrames } from '../../src/graphql/over-gateways/merged-frames.ts'
import { clustersNamed } from '../../src/graphql/prepare/kind-view.ts'
import { readObjectId } from '../../src/graphql/model/object-id.ts'
import { collectFields } from '../../src/graphql/plan/plan-compiler.ts'
import {
  defaultOperationLimits,
  type OperationLimits,
  type ServedSchema,
} from '../../src/graphql/served/served-schema.ts'
import { FrameStream } from '../../src/lib/frame-stream.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import type { FleetCluster } from '../gateway/fleet-cluster.ts'
import type { Fields } from '../gateway/test-cluster.ts'

/** The frames of a subscription at a gateway, by server-sent events. */
class RemoteFrames extends FrameStream {
  readonly #leaving = new AbortController()
  readonly #frames: Buffer[] = []
  #taken: () => void = () => {}

  constructor(url: string, body: object, headers: Readonly<Record<string, string>>) {
    super()
    void this.#read(url, body, headers).catch((error: unknown) => {
      if (this.isClosed) return
      const message = error instanceof Error ? error.message : String(error)
      const extensions = { code: 'CLUSTER_UNREACHABLE', retryAfterMs: 50 }
      this.finish({ form: 'failed', errors: [new GraphQLError(message, { extensions })] })
    })
  }

  async #read(url: string, body: object, headers: Readonly<Record<string, string>>): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
      signal: this.#leaving.signal,
    })
    if (response.body === null) throw new Error('no body')
    let rest = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (event.startsWith('event: complete')) return this.finish({ form: 'complete' })
        if (data === undefined || data === '') continue
        this.#frames.push(Buffer.from(data))
        this.announce()
        if (this.#frames.length > 2) await new Promise<void>((resolve) => (this.#taken = resolve))
      }
    }
    throw new Error('the stream was cut')
  }

  take(): Buffer | undefined {
    const frame = this.#frames.shift()
    this.#taken()
    return frame
  }

  protected leave(): void {
    this.#leaving.abort()
    this.#taken()
  }
}

export interface Merged {
  readonly frames: Fields[]
  readonly errors: Fields[]
  readonly ended: () => unknown
  readonly leave: () => void
}

/** Gateways that hold clusters, and who holds which. */
export class HeldClusters implements AsyncDisposable {
  readonly clusters: readonly FleetCluster[]
  /** The gateway that holds all. */
  readonly whole: ServedGateway
  readonly #stack = new AsyncDisposableStack()
  readonly #gateways = new Map<string, ServedGateway>()
  #holders: ReadonlyMap<string, string | null> = new Map()
  readonly #listeners = new Set<() => void>()
  readonly #limits: OperationLimits

  private constructor(
    clusters: readonly FleetCluster[],
    whole: ServedGateway,
    limits: Partial<OperationLimits>,
  ) {
    this.clusters = clusters
    this.whole = whole
    this.#limits = { ...defaultOperationLimits, ...limits }
  }

  static async start(
    clusters: readonly FleetCluster[],
    limits: Partial<OperationLimits> = {},
  ): Promise<HeldClusters> {
    const selections = clusters.map(({ selection }) => selection)
    const whole = await serveGateway({ clusters: selections, limits })
    const held = new HeldClusters(clusters, whole, limits)
    held.#stack.use(whole)
    return held
  }

  /** Lets these gateways hold these clusters; `null`: nobody. */
  async share(by: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const holders = new Map<string, string | null>(this.clusters.map(({ name }) => [name, null]))
    for (const [gateway, names] of Object.entries(by)) {
      const selections = this.clusters
        .filter(({ name }) => names.includes(name))
        .map(({ selection }) => selection)
      const running = this.#gateways.get(gateway)
      if (running === undefined) {
        const started = await serveGateway({ clusters: selections, limits: this.#limits })
        this.#gateways.set(gateway, this.#stack.use(started))
      } else {
        await running.gateway.configureClusters(selections)
      }
      for (const name of names) holders.set(name, gateway)
    }
    this.#holders = holders
    for (const listener of this.#listeners) listener()
  }

  /** Leaves a gateway these clusters only; the others stay its own for everybody else. */
  async leave(gateway: string, names: readonly string[]): Promise<void> {
    const selections = this.clusters
      .filter(({ name }) => names.includes(name))
      .map(({ selection }) => selection)
    await this.#gateways.get(gateway)?.gateway.configureClusters(selections)
  }

  /** Ends a gateway; its clusters stay its own for everybody else. */
  async kill(gateway: string): Promise<void> {
    const running = this.#gateways.get(gateway)
    this.#gateways.delete(gateway)
    await running?.[Symbol.asyncDispose]()
  }

  get #served(): ServedSchema {
    const { schema } = this.whole.gateway
    const members = this.clusters.map(({ name, labels }) => [name, { name, labels }] as const)
    return {
      schema,
      clusters: new Map(members),
      members: new Map(members),
      fleet: {
        onChanged: (listener: () => void) => {
          this.#listeners.add(listener)
          return () => this.#listeners.delete(listener)
        },
      },
    } as unknown as ServedSchema
  }

  /** Follows a subscription over all gateways. `pace`: called before each frame is taken. */
  follow(
    query: string,
    inputs: Readonly<Record<string, unknown>> = {},
    {
      pace = async () => {},
      headers = {},
      maxHeldBytes = defaultLiveLimits.maxHeldBytes,
    }: {
      readonly pace?: () => Promise<void>
      readonly headers?: Readonly<Record<string, string>>
      readonly maxHeldBytes?: number
    } = {},
  ): Merged {
    const { schema }: { schema: GraphQLSchema } = this.#served
    const document = parse(query)
    const problems = validate(schema, document)
    if (problems.length > 0) throw new Error(String(problems))
    const operation = getOperationAST(document)
    if (!operation) throw new Error('no operation')
    const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], inputs)
    if (coerced.errors !== undefined) throw new Error(String(coerced.errors))
    const variables = coerced.variableValues
    const flags = new Map<string, boolean>()
    const context = { fragments: new Map(), flags, grown: () => {} }
    const roots = collectFields([operation.selectionSet], new Set(['Subscription']), context)
    const [[key, nodes] = ['', []]] = roots
    const [node] = nodes
    const field = node && schema.getSubscriptionType()?.getFields()[node.name.value]
    if (node === undefined || field === undefined) throw new Error('no field')
    const args = getArgumentValues(field, node, variables)
    const stream = mergedFrames({
      operation: {
        document,
        operation,
        variables,
        served: this.#served,
        request: { query, variables: inputs },
        fields: [{ key, nodes, field, args, clusters: undefined, holders: new Map() }],
        limits: this.#limits,
        origin: {},
      },
      served: () => this.#served,
      held: new HeldBytes({ ...defaultLiveLimits, maxHeldBytes }),
      holderOf: (name) => this.#holders.get(name),
      clusters: (served) => {
        const { ids } = args
        if (field.name === 'objects' && Array.isArray(ids)) {
          return [...new Set(ids.map((id) => readObjectId(String(id))?.cluster ?? ''))]
        }
        return field.args.some(({ name }) => name === 'clusters')
          ? clustersNamed(served, args)
          : [...served.members.keys()]
      },
      follow: async (holder = '', request) => {
        const url = this.#gateways.get(holder)?.url ?? 'http://127.0.0.1:9'
        return new RemoteFrames(url, request, headers)
      },
    })
    const frames: Fields[] = []
    const errors: Fields[] = []
    let isPumping = false
    const pump = async (): Promise<void> => {
      if (isPumping) return
      isPumping = true
      for (;;) {
        await pace()
        const payload = stream.take()
        if (payload === undefined) break
        const { data, errors: ofFrame = [] } = JSON.parse(payload.toString())
        errors.push(...ofFrame)
        frames.push(data[key])
      }
      isPumping = false
    }
    stream.onReady(() => void pump())
    void pump()
    return { frames, errors, ended: () => stream.end, leave: () => stream.close() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}
