import { aFunction, anObject, checkedOptions, type OptionChecks } from '../lib/options.ts'
import type { ChurnOptions } from './churn/churn.ts'
import { clusterSeed, type PopulationOptions } from './population/plan.ts'
import { readScenario, type Scenario } from './population/scenario.ts'
import { startSimulatedCluster } from './simulated-cluster.ts'
import type { Simulator, SimulatorOptions } from './simulator.ts'

/** Options of a simulated fleet. */
export interface SimulatedFleetOptions {
  /** The company. `pods` are those of all clusters together, and divided among them as the scenario's are. */
  readonly population?: Omit<PopulationOptions, 'cluster' | 'nodes' | 'namespaces'>
  /** The changes: `eventsPerSecond` are those of all clusters together. */
  readonly churn?: Omit<ChurnOptions, 'writer'>
  /** Who may do what at each API server. Default: every request runs as administrator. */
  readonly access?: Pick<SimulatorOptions, 'users' | 'authorization' | 'identifyToken'>
  /** Called when the churn of a cluster fails. Its server keeps running. Default: a process warning. */
  readonly onChurnError?: (error: unknown, cluster: string) => void
}

/** One cluster of a simulated fleet. */
export interface SimulatedFleetCluster {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Its objects. */
  readonly population: PopulationOptions
  readonly simulator: Simulator
}

/** The clusters of a company, each with an API server of its own, in the order of the scenario. */
export interface SimulatedFleet extends AsyncDisposable {
  readonly clusters: readonly SimulatedFleetCluster[]
}

const fleetChecks: OptionChecks<SimulatedFleetOptions> = {
  population: anObject,
  churn: anObject,
  access: anObject,
  onChurnError: aFunction,
}

/** The cluster of a scenario without `clusters`. */
const onlyCluster = 'demo'

/**
 * Starts the clusters of a scenario. One without `clusters` has one cluster, `demo`. Throws `PopulationError` and
 * `ScenarioError`.
 */
export async function startSimulatedFleet(
  given: SimulatedFleetOptions = {},
): Promise<SimulatedFleet> {
  const options = checkedOptions('a simulated fleet', given, fleetChecks)
  const { population = {}, churn = {}, access = {}, onChurnError } = options
  const members = membersOf(readScenario(population.scenario), population)
  const { seed, eventsPerSecond = 5 } = churn
  await using parts = new AsyncDisposableStack()
  const clusters = await Promise.all(
    members.map(async ({ name, labels, population: own }): Promise<SimulatedFleetCluster> => {
      const simulator = await startSimulatedCluster({
        ...access,
        population: own,
        metrics: true,
        churn: {
          ...churn,
          ...(seed === undefined ? {} : { seed: clusterSeed(seed, own.cluster) }),
          eventsPerSecond: eventsPerSecond / members.length,
        },
        ...(onChurnError === undefined
          ? {}
          : { onChurnError: (error) => onChurnError(error, name) }),
      })
      parts.use(simulator)
      return { name, labels, population: own, simulator }
    }),
  )
  const started = parts.move()
  return { clusters, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

function membersOf(
  { clusters }: Scenario,
  population: PopulationOptions,
): readonly Omit<SimulatedFleetCluster, 'simulator'>[] {
  if (clusters.length === 0) return [{ name: onlyCluster, labels: {}, population }]
  const total = clusters.reduce((sum, { pods }) => sum + pods, 0)
  const wanted = population.pods ?? total
  let before = 0
  return clusters.map(({ name, labels, pods }) => {
    // Rounds the running sum, so that the shares add up exactly.
    const from = Math.round((wanted * before) / Math.max(1, total))
    before += pods
    const until = Math.round((wanted * before) / Math.max(1, total))
    return { name, labels, population: { ...population, cluster: name, pods: until - from } }
  })
}
