import { CodedError } from '../../lib/coded-error.ts'
import { mostNodes, podsPerNode } from './node-plan.ts'

/** What a population is made from. The same options give the same objects, byte by byte. */
export interface PopulationOptions {
  /** Default `informerql`. */
  readonly seed?: string
  /** The moment that all ages are counted back from; default: now. */
  readonly now?: Date
  /** How many pods there are in all, exactly. Default 250. */
  readonly pods?: number
  /** Default: enough for the pods, about 20 on each node in a small cluster, 80 in a large one. */
  readonly nodes?: number
  /** How many namespaces the teams have, without those of the platform. Default: enough for the pods. */
  readonly namespaces?: number
}

/** Options with every default filled in. */
export interface PopulationSize {
  readonly seed: string
  readonly nowMs: number
  readonly pods: number
  readonly nodes: number
  readonly namespaces: number
}

/** A population that cannot be made. */
export class PopulationError extends CodedError {
  constructor(option: keyof PopulationOptions, value: unknown, problem: string, hint: string) {
    super('POPULATION', `population option ${option} = ${String(value)}: ${problem}`, {
      value,
      hint,
    })
  }
}

/** How many apps there are, on average, whose Deployments share the pods, in the namespaces of one environment. */
const scaledAppsPerNamespace = 2.6
const daemonsPerNode = 2

/** Fills in the defaults. Throws {@link PopulationError}. */
export function populationSize(options: PopulationOptions = {}): PopulationSize {
  const pods = checked('pods', options.pods ?? 250, 0, 3_000_000)
  const podsOnNode = Math.min(80, 20 + pods / 100)
  const nodes = checked(
    'nodes',
    options.nodes ?? Math.max(2, Math.ceil(pods / podsOnNode)),
    1,
    mostNodes,
  )
  const room = (nodes < 3 ? nodes : nodes - 1) * (podsPerNode - daemonsPerNode)
  if (pods - nodes * daemonsPerNode > room) {
    const hint = `ask for at least ${Math.ceil(pods / (podsPerNode - daemonsPerNode)) + 1} nodes`
    throw new PopulationError('nodes', nodes, `${pods} pods do not fit`, hint)
  }
  const podsOfApp = Math.min(50, Math.max(5, pods / 50))
  const namespaces = checked(
    'namespaces',
    options.namespaces ??
      Math.max(7, Math.round((pods * 0.9) / podsOfApp / scaledAppsPerNamespace)),
    1,
    100_000,
  )
  const now = options.now?.getTime() ?? Date.now()
  // Objects carry whole seconds; a population of 12:00:00.3 and one of 12:00:00.7 are the same.
  const nowMs = Math.floor(now / 1000) * 1000
  return { seed: options.seed ?? 'informerql', nowMs, pods, nodes, namespaces }
}

function checked(option: keyof PopulationOptions, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new PopulationError(
    option,
    value,
    `it must be an integer from ${min} to ${max}`,
    'choose another number',
  )
}
