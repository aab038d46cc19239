import type { GraphQLSchema } from 'graphql'
import type { Config } from '../config/config.ts'
import { createGateway } from '../gateway/gateway.ts'
import type { GatewayLog } from '../gateway/gateway-log.ts'
import { gatewayOptionsOf } from '../config/gateway-config.ts'
import { printSchemaSdl } from '../graphql/schema/print-schema.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { apolloModule } from './clients/apollo-module.ts'
import { urqlModule } from './clients/urql-module.ts'

/** What a schema can be printed for. */
export type SchemaClient = 'apollo' | 'urql' | 'relay'

const writers: Readonly<Record<SchemaClient, (schema: GraphQLSchema) => string>> = {
  apollo: apolloModule,
  urql: urqlModule,
  relay: printSchemaSdl,
}

/** The schema that a gateway to the configured clusters serves: as SDL, or as what a client wants of it. */
export async function printSchemaOf(
  config: Config,
  log: GatewayLog,
  client?: SchemaClient,
): Promise<string> {
  const relay = config.relay || client === 'relay'
  await using gateway = await createGateway({ ...gatewayOptionsOf({ ...config, relay }), log })
  return (client === undefined ? printSchemaSdl : writers[client])(gateway.schema)
}

/** The same of the kinds that every cluster has. */
export async function printBuiltInSchema(
  config: Config,
  log: GatewayLog,
  client?: SchemaClient,
): Promise<string> {
  await using simulator = await startSimulator()
  const clusters = [{ name: 'built-in', server: simulator.url }]
  // What it says of the cluster is not of interest: there is none.
  return await printSchemaOf({ ...config, clusters }, { ...log, info() {} }, client)
}
