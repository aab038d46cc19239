import type { ClusterConfig } from 'informerql/cluster'
import type { Unstructured, Selection } from 'informerql/informer'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { configMaps, connect } from '../support/informer.ts'
import { serverFault, simulatorRequestFault } from './simulator-faults.ts'

/** What a schedule wants of a server of config maps, be it simulated or real. */
export interface ScheduledServer {
  /** How informers reach it; disturbances are on this way. */
  readonly config: string | ClusterConfig
  /** Two namespaces for this schedule alone. */
  readonly namespaces: readonly string[]
  /** Creates or replaces; answers with what is stored then. */
  put(object: Unstructured, exists: boolean): Promise<Unstructured>
  delete(namespace: string, name: string): Promise<void>
  /** Does something, chosen by the random numbers, that informers have to survive. */
  disturb(random: () => number): Promise<void>
  /** From now on nothing new goes wrong. */
  calm(): Promise<void>
  /** What there is, in no particular order; never disturbed. */
  list(selection: Selection): Promise<readonly Unstructured[]>
}

/** The path of a LIST of config maps. */
export function listPath({ namespace, labelSelector, fieldSelector }: Selection): string {
  const query = new URLSearchParams()
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`
  return `/api/v1${scope}/configmaps?${query}`
}

interface ConfigMapList {
  readonly items: readonly Unstructured[]
}

/** Reads the answer of a LIST. */
export const itemsOf = (answer: unknown): readonly Unstructured[] => (answer as ConfigMapList).items

/**
 * A simulator of its own for one schedule, with every fault that it can inject. Every other one soon forgets its
 * history; the rest seldom force anybody to list again.
 */
export async function simulatedServer(number: number): Promise<ScheduledServer & AsyncDisposable> {
  const simulator: Simulator = await startSimulator({
    // Few bookmarks leave more to be resumed, and more frames to be told twice.
    bookmarkIntervalMs: number % 4 < 2 ? 250 : 20,
    historyEvents: number % 2 === 0 ? 60 : 10_000,
  })
  const { storage, faults, url } = simulator
  return {
    config: url,
    namespaces: ['one', 'two'],
    put: async (object, exists) =>
      exists ? storage.update(configMaps, object) : storage.create(configMaps, object),
    delete: async (namespace, name) => {
      storage.delete(configMaps, namespace, name)
    },
    disturb: async (random) => {
      faults.inject(random() < 0.3 ? { fault: serverFault(random) } : simulatorRequestFault(random))
    },
    calm: async () => {
      faults.clear()
      // A refusal of connections has a time of its own, which ends here.
      faults.inject({ fault: { type: 'refuse-connections', forMs: 0 } })
    },
    list: async (selection) => {
      await using connection = connect(url)
      return itemsOf(await connection.request('GET', listPath(selection)))
    },
    [Symbol.asyncDispose]: async () => simulator[Symbol.asyncDispose](),
  }
}
