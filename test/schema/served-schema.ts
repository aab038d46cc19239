import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GraphQLSchema } from 'graphql'
import { createGateway, type GatewayOptions } from 'informerql'
import type { ApiResource } from 'informerql/kubernetes'
import { apiVersionOf, capturedOpenApi, capturedResources } from './captured-cluster.ts'

/** What an API server tells of itself. */
export interface ServedApis {
  readonly resources: readonly ApiResource[]
  /** May hold what is no schema. */
  readonly openapi: Readonly<Record<string, object>>
  /** CustomResourceDefinitions, as they are listed. */
  readonly crds?: readonly object[]
}

/** The built-in kinds, with others. */
export const withBuiltIns = ({ resources, openapi, ...rest }: ServedApis): ServedApis => ({
  ...rest,
  resources: [...capturedResources, ...resources],
  openapi: { ...capturedOpenApi, ...openapi },
})

const pathOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`

/** The answers of discovery and OpenAPI, by path. */
function answersOf({ resources, openapi }: ServedApis): ReadonlyMap<string, unknown> {
  const groups = Map.groupBy(
    resources.filter(({ group }) => group !== ''),
    ({ group }) => group,
  )
  const answers = new Map<string, unknown>([
    ['/version', { major: '1', minor: '36', gitVersion: 'v1.36.0' }],
    ['/api', { kind: 'APIVersions', versions: ['v1'] }],
    [
      '/apis',
      {
        kind: 'APIGroupList',
        groups: Array.from(groups, ([name, all]) => {
          const versions = [...new Set(all.map(({ version }) => version))]
          return {
            name,
            versions: versions.map((version) => ({ version })),
            preferredVersion: { version: versions[0] },
          }
        }),
      },
    ],
    ['/api/v1', { kind: 'APIResourceList', resources: [] }],
    [
      '/openapi/v3',
      {
        paths: Object.fromEntries(
          Object.keys(openapi).map((path) => [
            path,
            { serverRelativeURL: `/openapi/v3/${path}?hash=1` },
          ]),
        ),
      },
    ],
  ])
  for (const [apiVersion, all] of Map.groupBy(resources, apiVersionOf)) {
    answers.set(pathOf(apiVersion), {
      kind: 'APIResourceList',
      resources: all.map(({ resource, singular, ...rest }) => ({
        ...rest,
        name: resource,
        singularName: singular,
      })),
    })
  }
  for (const [path, document] of Object.entries(openapi))
    answers.set(`/openapi/v3/${path}`, { openapi: '3.0.0', ...document })
  return answers
}

/** An API server of these kinds, of which there is no object but their definitions. */
export async function serveApis(apis: ServedApis): Promise<{ url: string } & AsyncDisposable> {
  const answers = answersOf(apis)
  const texts = new Map<unknown, string>()
  const server: Server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    if (searchParams.has('watch')) return response.writeHead(200).flushHeaders()
    const list = {
      kind: 'List',
      apiVersion: 'v1',
      metadata: { resourceVersion: '1' },
      items: pathname.endsWith('/customresourcedefinitions') ? (apis.crds ?? []) : [],
    }
    const answer = answers.get(pathname) ?? list
    const text = texts.get(answer) ?? JSON.stringify(answer)
    texts.set(answer, text)
    response.end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface SchemaOptions extends Omit<GatewayOptions, 'clusters'> {
  /** SDL of the user's, in a file of its own. */
  readonly sdl?: string
}

/** A schema, and what the gateway has warned of while it was made. */
export interface ServedSchema {
  readonly schema: GraphQLSchema
  readonly problems: readonly { readonly message: string; readonly hint?: string }[]
}

/** The schema that a gateway makes of what clusters serve; rejects where its start does. */
export async function schemaOf(
  apis: ServedApis | readonly ServedApis[],
  { sdl, ...options }: SchemaOptions = {},
): Promise<ServedSchema> {
  await using stack = new AsyncDisposableStack()
  const servers = await Promise.all(
    [apis].flat().map(async (one) => stack.use(await serveApis(one))),
  )
  const schemaFiles = []
  if (sdl !== undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-schema-'))
    stack.defer(async () => rm(folder, { recursive: true }))
    schemaFiles.push(join(folder, 'mine.graphql'))
    await writeFile(join(folder, 'mine.graphql'), sdl)
  }
  const problems: { message: string; hint?: string }[] = []
  const warn = (message: string, details: object = {}): void =>
    void problems.push({ message, ...details })
  const gateway = stack.use(
    await createGateway({
      clusters: servers.map(({ url }, at) => ({ name: `c${at}`, server: url })),
      schemaFiles,
      log: { info() {}, warn, error: warn },
      ...options,
    }),
  )
  return { schema: gateway.schema, problems }
}

/** The built-in kinds alone. */
export const builtIns: ServedApis = { resources: capturedResources, openapi: capturedOpenApi }
