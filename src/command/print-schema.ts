import type { Config } from '../config/config.ts'
import { createGateway } from '../gateway/gateway.ts'
import type { GatewayLog } from '../gateway/gateway-log.ts'
import { gatewayOptionsOf } from '../config/gateway-config.ts'
import { printSchemaSdl } from '../graphql/schema/print-schema.ts'
import { startSimulator } from '../simulator/simulator.ts'

/** The schema that a gateway to the configured clusters serves, as SDL. */
export async function printSchemaOf(config: Config, log: GatewayLog): Promise<string> {
  await using gateway = await createGateway({ ...gatewayOptionsOf(config), log })
  return printSchemaSdl(gateway.schema)
}

/** The schema of the kinds that every cluster has. */
export async function printBuiltInSchema(config: Config, log: GatewayLog): Promise<string> {
  await using simulator = await startSimulator()
  const clusters = [{ name: 'built-in', server: simulator.url }]
  // What it says of the cluster is not of interest: there is none.
  return await printSchemaOf({ ...config, clusters }, { ...log, info() {} })
}
