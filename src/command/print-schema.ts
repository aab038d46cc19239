import { buildSchema, type GraphQLSchema } from 'graphql'
import type { Config } from '../config/config.ts'
import { gatewayOptionsOf } from '../config/gateway-config.ts'
import { createGateway } from '../gateway/gateway.ts'
import type { GatewayLog } from '../gateway/observers.ts'
import { CodedError } from '../lib/coded-error.ts'
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

/** A gateway that is already served. */
export interface ServedGateway {
  /** `https://gateway.example/graphql` */
  readonly url: string
  /** A bearer token. */
  readonly token?: string | undefined
}

/** The schema that a gateway serves. Rejects with SCHEMA_REFUSED. */
export async function printSchemaFrom(
  { url, token }: ServedGateway,
  client?: SchemaClient,
): Promise<string> {
  const place = `${url.replace(/\/$/, '')}/schema`
  const headers = {
    'graphql-require-preflight': '1',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(place, {
    headers,
    redirect: 'error',
    signal: AbortSignal.timeout(schemaDeadlineMs),
  }).catch((cause: unknown) => {
    throw schemaRefused(
      place,
      'no answer',
      'name the URL of the API: --gateway https://HOST/graphql',
      cause,
    )
  })
  const sdl = await response.text()
  if (!response.ok) {
    const hint =
      response.status === 404
        ? 'the gateway shows its schema where introspection is on (--introspection)'
        : 'give a token that the gateway accepts: --token, or INFORMERQL_TOKEN'
    throw schemaRefused(place, `${response.status} ${sdl.trim().slice(0, 500)}`, hint)
  }
  if (client === undefined || client === 'relay') return sdl
  return writers[client](buildSchema(sdl, { noLocation: true, assumeValidSDL: true }))
}

const schemaDeadlineMs = 60_000

/** A gateway does not show its schema. */
function schemaRefused(place: string, problem: string, hint: string, cause?: unknown): CodedError {
  return new CodedError('SCHEMA_REFUSED', `${place}: ${problem}`, { value: place, hint, cause })
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
