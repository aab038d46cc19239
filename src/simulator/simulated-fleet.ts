/*
 * A simulated cluster is a simulator with the objects of a company, which a churn changes; a fleet is one of them for
 * each cluster of the scenario.
 */

import { aFunction, anObject, checkedOptions, type OptionChecks } from '../lib/options.ts'
import { type ChurnOptions, createChurn } from './churn/churn.ts'
import { clusterSeed, kubernetesOf, type PopulationOptions, shares } from './population/plan.ts'
import { population } from './population/population.ts'
import { readScenario, type Scenario } from './population/scenario.ts'
import {
  type Simulator,
  simulatorChecks,
  type SimulatorOptions,
  startSimulator,
} from './simulator.ts'

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
  const { population: company = {}, churn = {}, access = {}, onChurnError } = options
  const members = membersOf(readScenario(company.scenario), company)
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
  company: PopulationOptions,
): readonly Omit<SimulatedFleetCluster, 'simulator'>[] {
  if (clusters.length === 0) return [{ name: onlyCluster, labels: {}, population: company }]
  const usual = clusters.map(({ pods }) => pods)
  const wanted = company.pods ?? usual.reduce((sum, pods) => sum + pods, 0)
  const parts = shares(wanted, usual)
  return clusters.map(({ name, labels }, at) => ({
    name,
    labels,
    population: { ...company, cluster: name, pods: parts[at] ?? 0 },
  }))
}

/** Options of a simulated cluster. */
export interface SimulatedClusterOptions extends Omit<SimulatorOptions, 'populate'> {
  /** The objects of the cluster. */
  readonly population?: PopulationOptions
  /** The changes of the cluster. */
  readonly churn?: Omit<ChurnOptions, 'writer'>
  /** Called when the churn fails. The server keeps running. Default: a process warning. */
  readonly onChurnError?: (error: unknown) => void
}

const { populate: _, ...serverChecks } = simulatorChecks

const simulatedClusterChecks: OptionChecks<SimulatedClusterOptions> = {
  ...serverChecks,
  population: anObject,
  churn: anObject,
  onChurnError: aFunction,
}

/** Starts a simulated API server with the objects of a company. They change until the server is disposed of. */
export async function startSimulatedCluster(
  given: SimulatedClusterOptions = {},
): Promise<Simulator> {
  const options = checkedOptions('a simulated cluster', given, simulatedClusterChecks)
  const {
    churn: changes,
    onChurnError: onError = (error) =>
      process.emitWarning(error instanceof Error ? error : String(error)),
    population: populationOptions,
    ...server
  } = options
  let churn: ReturnType<typeof createChurn> | undefined
  const simulator = await startSimulator({
    kubernetes: kubernetesOf(populationOptions),
    ...server,
    populate: (storage) => {
      churn = createChurn({ ...changes, writer: storage })
      for (const { resource, object } of population(populationOptions))
        storage.create(resource, object)
    },
  })
  const stopping = new AbortController()
  const churning = churn?.run(stopping.signal).catch(onError)
  return {
    ...simulator,
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await churning
      await simulator[Symbol.asyncDispose]()
    },
  }
}
