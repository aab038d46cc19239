import type { GraphQLSchema } from 'graphql'
import type { Config } from '../config/config.ts'
import { gatewayOptionsOf } from '../config/gateway-config.ts'
import { createGateway } from '../gateway/gateway.ts'
import type { GatewayLog } from '../gateway/observers.ts'
import { printSchemaSdl } from '../graphql/schema/print-schema.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { apolloModule, urqlModule } from './cache-modules.ts'

/** The clients that a schema can be printed for. */
export type SchemaClient = 'apollo' | 'urql' | 'relay'

const writers: Readonly<Record<SchemaClient, (schema: GraphQLSchema) => string>> = {
  apollo: apolloModule,
  urql: urqlModule,
  relay: printSchemaSdl,
}

/** The schema of a gateway to the configured clusters: as SDL, or in the form that a client needs. */
export async function printSchemaOf(
  config: Config,
  log: GatewayLog,
  client?: SchemaClient,
): Promise<string> {
  const relay = config.relay || client === 'relay'
  await using gateway = await createGateway({ ...gatewayOptionsOf({ ...config, relay }), log })
  return (client === undefined ? printSchemaSdl : writers[client])(gateway.schema)
}

/** The schema of the built-in kinds. */
export async function printBuiltInSchema(
  config: Config,
  log: GatewayLog,
  client?: SchemaClient,
): Promise<string> {
  await using simulator = await startSimulator()
  const clusters = [{ name: 'built-in', server: simulator.url }]
  // Drops messages about the simulated cluster.
  return await printSchemaOf({ ...config, clusters }, { ...log, info() {} }, client)
}
