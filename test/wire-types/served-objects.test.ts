import { resolve } from 'node:path'
import { population, type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CapturedKind, capturedKinds } from '../../tools/wire-types/captured-kinds.ts'
import { nameOfKind } from '../../tools/wire-types/wire-names.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { compile } from './compile.ts'

interface ServedObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; managedFields?: unknown }
}

/** As many of a kind as are looked at: enough for all its shapes, few enough for the compiler. */
const objectsPerKind = 25

/** Not made by the population: fields that a server writes as `null`, and a schema that contains itself. */
const furtherObjects = [
  {
    path: 'apis/rbac.authorization.k8s.io/v1/clusterroles',
    object: { metadata: { name: 'wire-empty' } },
  },
  {
    path: 'apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    object: { metadata: { name: 'wire-empty' }, addressType: 'IPv4' },
  },
  {
    path: 'apis/storage.k8s.io/v1/csinodes',
    object: { metadata: { name: 'wire-empty' }, spec: { drivers: [] } },
  },
  {
    path: 'api/v1/namespaces/default/events',
    object: {
      metadata: { name: 'wire-event' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
      reason: 'Test',
    },
  },
  {
    path: 'apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    object: {
      metadata: { name: 'wires.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'wires', kind: 'Wire' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    additionalProperties: {
                      type: 'array',
                      maxItems: 3,
                      items: { 'x-kubernetes-int-or-string': true, default: 3 },
                    },
                  },
                },
              },
            },
          },
        ],
      },
    },
  },
]

const pathOf = ({ apiVersion, resource }: CapturedKind): string =>
  `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${resource}`

/** A module that is correct only where each object is of its kind's type and has no field that the type lacks. */
function moduleOf(
  objects: readonly (readonly [kind: CapturedKind, object: ServedObject])[],
): string {
  const statements = objects.map(([kind, object]) => {
    // Cut by the informer, and not part of its ObjectMeta.
    const { managedFields: _, ...metadata } = object.metadata
    const whole = { apiVersion: kind.apiVersion, kind: kind.kind, ...object, metadata }
    return `void (${JSON.stringify(whole)} satisfies k8s.${nameOfKind(kind)})`
  })
  const entrance = JSON.stringify(resolve('src/kubernetes.ts'))
  return [`import type * as k8s from ${entrance}`, ...statements].join('\n')
}

type Ask = (
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly text: string }>

async function servedObjects(
  kinds: readonly CapturedKind[],
  ask: Ask,
): Promise<readonly (readonly [CapturedKind, ServedObject])[]> {
  const all: (readonly [CapturedKind, ServedObject])[] = []
  for (const kind of kinds) {
    const { status, text } = await ask(pathOf(kind))
    expect(status, text).toBe(200)
    const { items } = JSON.parse(text) as { readonly items: readonly ServedObject[] | null }
    for (const object of (items ?? []).slice(0, objectsPerKind)) all.push([kind, object])
  }
  return all
}

describe('Objects of the simulated server', () => {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator({
      populate: (storage) => {
        for (const { resource, object } of population()) storage.create(resource, object)
      },
    })
  })
  afterAll(async () => simulator[Symbol.asyncDispose]())

  it('are of their types', async () => {
    // Its conversions to other versions are coarse: an autoscaling/v1 object keeps the conditions of v2.
    const preferred = capturedKinds.filter((kind) => kind.preferred)
    const objects = await servedObjects(preferred, async (path) => {
      const response = await fetch(new URL(path, simulator.url))
      return { status: response.status, text: await response.text() }
    })
    expect(new Set(objects.map(([{ kind }]) => kind)).size).toBeGreaterThan(30)
    expect(await compile(moduleOf(objects))).toBe('')
  })
})

/** Where a kube-apiserver keeps what is not under the name of its resource. */
const folders: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  ingresses: 'ingress',
}

describeWithControlPlane('Objects', (plane) => {
  it('are of their types', async () => {
    const counts = new Map<string, number>()
    const builtIn = [...population()].flatMap(({ resource, object }) => {
      const { metadata } = object as unknown as ServedObject
      const count = counts.get(resource.resource) ?? 0
      counts.set(resource.resource, count + 1)
      const folder = folders[resource.resource] ?? resource.resource
      const key = [folder, metadata.namespace, metadata.name].filter((part) => part !== undefined)
      return count >= objectsPerKind ? [] : [[`/registry/${key.join('/')}`, object] as const]
    })
    await plane().putMany(builtIn)
    for (const { path, object } of furtherObjects) {
      const { status, text } = await plane().request(`/${path}`, { method: 'POST', body: object })
      expect(status, text).toBe(201)
    }
    const objects = await servedObjects(capturedKinds, async (path) => plane().request(path))
    expect(new Set(objects.map(([{ kind }]) => kind)).size).toBeGreaterThan(30)
    expect(await compile(moduleOf(objects))).toBe('')
  })
})
