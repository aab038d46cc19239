import { population, type PopulationOptions, type SimulatorOptions } from 'informerql/simulator'

type Populate = NonNullable<SimulatorOptions['populate']>

/** Puts the demo's company into a simulated cluster. */
export const company =
  (options: PopulationOptions): Populate =>
  (storage) => {
    for (const { resource, object } of population(options)) storage.create(resource, object)
  }
