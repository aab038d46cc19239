import { createGateway } from '../../src/index.ts'
import { startSimulatedCluster } from '../../src/simulator.ts'
import { printSchemaSdl } from '../../src/graphql/schema/print-schema.ts'

/** The schema of a gateway to the simulated cluster: the kinds that every portal knows by name. */
export async function builtInSchema(): Promise<string> {
  await using cluster = await startSimulatedCluster({ population: { pods: 0 } })
  await using gateway = await createGateway({
    clusters: [{ name: 'demo', server: cluster.url }],
    allowWrites: true,
    secretData: true,
  })
  return printSchemaSdl(gateway.schema)
}
