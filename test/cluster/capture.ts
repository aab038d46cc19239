import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { type OpenApiDocument, withoutProse } from './openapi-prose.ts'

// Writes schema/captured/kubernetes-MAJOR.MINOR.json.gz: what a genuine kube-apiserver says about its own API.

const aggregatedDiscovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

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

const capture = async (plane: ControlPlane): Promise<object> => {
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

await using plane = await startControlPlane()
const { major, minor } = await read<{ major: string; minor: string }>(plane, '/version')
const dir = join(import.meta.dirname, '../../schema/captured')
const file = join(dir, `kubernetes-${major}.${minor}.json.gz`)
const bytes = compressed(JSON.stringify(await capture(plane)))
await mkdir(dir, { recursive: true })
await writeFile(file, bytes)
console.log(`${file}: ${bytes.length} bytes`)
