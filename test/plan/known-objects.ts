import type { GraphQLSchema } from 'graphql'
import type { NamedObject } from './random-operation.ts'

/** Asks a gateway, and parses its answer. */
export type AskParsed = (query: string) => Promise<{
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are read by the names that their query gives them
  readonly data?: any
}>

const lookups: Readonly<Record<string, string>> = {
  pods: 'pod',
  deployments: 'deployment',
  replicaSets: 'replicaSet',
  services: 'service',
  configMaps: 'configMap',
  secrets: 'secret',
  nodes: 'node',
}

/** Some objects of the kinds that most relations lead to, with all that operations may call them by. */
export async function namedObjects(ask: AskParsed): Promise<readonly NamedObject[]> {
  const objects: NamedObject[] = []
  for (const [list, lookup] of Object.entries(lookups)) {
    const { data } = await ask(
      `{ ${list}(first: 50) { nodes { __typename id apiVersion kind metadata { namespace name } } } }`,
    )
    for (const { __typename: type, id, apiVersion, kind, metadata } of data?.[list]?.nodes ?? []) {
      const { namespace, name } = metadata
      objects.push({ type, lookup, id, apiVersion, kind, namespace, name })
    }
  }
  return objects
}

/** Loads every kind: what some fields answer depends on what is in memory. */
export async function loadAll(ask: AskParsed, schema: GraphQLSchema): Promise<void> {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {})
  for (const { name, args } of fields) {
    if (args.some((one) => one.name === 'labelSelector')) {
      await ask(`{ ${name}(first: 0) { totalCount } }`)
    }
  }
}
