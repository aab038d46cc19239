import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { type OpenApiDocument, withoutProse } from './openapi-prose.ts'

const aggregatedDiscovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** What a kube-apiserver says about itself and its API. */
export interface Capture {
  readonly version: { readonly gitVersion: string; readonly major: string; readonly minor: string }
  readonly api: object
  readonly apis: object
  readonly resources: Readonly<Record<string, object>>
  readonly aggregated: { readonly api: object; readonly apis: object }
  readonly openapi: Readonly<Record<string, object>>
}

interface GroupList {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[]
}

interface OpenApiIndex {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>
}

const read = async <T>(plane: ControlPlane, path: string, accept?: string): Promise<T> => {
  const answer = await plane.request(path, accept === undefined ? {} : { accept })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  // The port is another one every time; a capture of the same server must be the same bytes.
  return JSON.parse(answer.text.replaceAll(new URL(plane.url).host, '127.0.0.1:6443')) as T
}

const readAll = async <T>(
  paths: readonly string[],
  readOne: (path: string) => Promise<T>,
): Promise<Record<string, T>> => {
  const answers: Record<string, T> = {}
  for (const path of paths) answers[path] = await readOne(path)
  return answers
}

/** Asks a server for all of it, OpenAPI documents without their prose. */
export const capture = async (plane: ControlPlane): Promise<Capture> => {
  const apis = await read<GroupList>(plane, '/apis')
  const groupVersions = apis.groups.flatMap(({ versions }) =>
    versions.map(({ groupVersion }) => `apis/${groupVersion}`),
  )
  const paths = ['api/v1', ...groupVersions]
  const index = await read<OpenApiIndex>(plane, '/openapi/v3')
  return {
    version: await read(plane, '/version'),
    api: await read(plane, '/api'),
    apis,
    resources: await readAll(paths, async (path) => read(plane, `/${path}`)),
    aggregated: {
      api: await read(plane, '/api', aggregatedDiscovery),
      apis: await read(plane, '/apis', aggregatedDiscovery),
    },
    openapi: await readAll(
      paths.filter((path) => index.paths[path] !== undefined),
      async (path) => withoutProse(await read<OpenApiDocument>(plane, `/openapi/v3/${path}`)),
    ),
  }
}

/** gzip's header names the system it was made on; 255 says "unknown", so that the bytes do not depend on it. */
const compressed = (text: string): Buffer => {
  const bytes = gzipSync(text, { level: 9 })
  bytes[9] = 255
  return bytes
}

/** Where the capture of a Kubernetes version, `1.36`, is kept. */
export const capturedPath = (version: string): string =>
  join(import.meta.dirname, `../../schema/captured/kubernetes-${version}.json.gz`)

// Run as a script, it renews the file of the server's version.
if (process.argv[1] === import.meta.filename) {
  await using plane = await startControlPlane()
  const captured = await capture(plane)
  const { major, minor } = captured.version
  await writeFile(capturedPath(`${major}.${minor}`), compressed(JSON.stringify(captured)))
}
