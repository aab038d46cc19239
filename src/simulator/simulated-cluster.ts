import { aFunction, anObject, checkedOptions, type OptionChecks } from '../lib/options.ts'
import { createChurn, type ChurnOptions } from './churn/churn.ts'
import { population } from './population/population.ts'
import { kubernetesOf, type PopulationOptions } from './population/plan.ts'
import {
  type Simulator,
  simulatorChecks,
  type SimulatorOptions,
  startSimulator,
} from './simulator.ts'

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
