import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import {
  apiVersionOf,
  capturedOpenApi,
  capturedResources,
  type OpenApiSchema,
} from '../schema/captured-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import type { Fields } from './random-cluster.ts'

/** Names that say more than that they may be one. The first that matches tells what kind a field names. */
const targets: readonly (readonly [RegExp, string])[] = [
  [/\.resourceClaimTemplateName$/, 'ResourceClaimTemplate'],
  [/\.resourceClaimName$/, 'ResourceClaim'],
  [/(?:\.claimName|\.dataSource(?:Ref)?\.name)$/, 'PersistentVolumeClaim'],
  [/(?:[sS]ecret(?:Key)?Ref|[sS]ecrets\[\*\]|\.secret)\.name$|\.secretName$/, 'Secret'],
  [/\.configMap(?:Key)?(?:Ref)?\.name$|\.(?:parameters|paramRef)\.name$/, 'ConfigMap'],
  [/\.service\.name$|\.serviceName$/, 'Service'],
  [/\.serviceAccountName$|^subjects\[\*\]\.name$/, 'ServiceAccount'],
  [/storageClassName$/, 'StorageClass'],
  [/priorityClassName$/, 'PriorityClass'],
  [/runtimeClassName$/, 'RuntimeClass'],
  [/ingressClassName$/, 'IngressClass'],
  [/[vV]olumeAttributesClassName$/, 'VolumeAttributesClass'],
  [/\.deviceClassName$/, 'DeviceClass'],
]

/** Fields with such names that are no use of another object, and why. */
const exceptions: readonly (readonly [RegExp, string])[] = [
  [/^Node (?:spec\.configSource|status\.config)\./, 'no version since 1.24 reads it'],
  [/^VolumeAttachment .*\.inlineVolumeSpec\./, 'a copy of a volume of a pod, which counts'],
  [/\.serviceAccount$/, 'the former name of serviceAccountName, which the server sets as well'],
  [/^CSIStorageCapacity storageClassName$/, 'tells of the class, which does not depend on it'],
  [/^StatefulSet spec\.volumeClaimTemplates\[\*\]\.status\./, 'templates have no status'],
  [/\.resources\.claims\[\*\]\.name$/, 'one of the claims of the same pod'],
  [/\.resourceClaim(?:Status)?es\[\*\]\.name$|\.resourceClaims\[\*\]\.name$/, 'a name in the pod'],
  [/Probe\.grpc\.service$/, 'the service in a gRPC request'],
  [/^Pod status\.qosClass$|^Service spec\.loadBalancerClass$/, 'no object has this name'],
  [/^HorizontalPodAutoscaler .*\.resource\.name$/, 'a resource such as cpu'],
  [/[rR]oleRef\.name$|\.scaleTargetRef\.name$|\.targetRef\.name$/, 'leads to other kinds'],
  [/\.parentRef\.name$/, 'an IPAddress is a part of its Service, which deletes it'],
  [/\.claimRef\.name$/, 'a volume belongs to its claim and does not need it'],
  [/^FlowSchema .*\.serviceAccount\.name$/, 'whom the rule is about, who need not be there'],
  [/\.backend\.resource\.name$|\.defaultBackend\.resource\.name$/, 'another kind than a Service'],
  [/^CustomResourceDefinition /, 'needs a whole definition: test/relations/real-users.test.ts'],
  [/\.paramRef\.name$/, 'the policy says its kind: test/relations/real-users.test.ts'],
]

/** Whether a field may name an object that `usedBy` is for, as far as names tell. */
const mayName = (path: string): boolean =>
  /(?:(?:Ref|Refs|Reference)|[sS]ecrets?|[cC]onfigMap|[sS]ervice(?:Account)?|subjects|dataSource|parameters|resource|[cC]laims?)(?:\[\*\])?\.name$/.test(
    path,
  ) ||
  /(?:[sS]ecret|[cC]onfigMap|[cC]laim(?:Template)?|[sS]ervice(?:Account)?|Class)(?:Name)?$/.test(
    path,
  )

/** The places of texts in objects of a schema. */
function* textsIn(
  schema: OpenApiSchema,
  schemas: Readonly<Record<string, OpenApiSchema>>,
  path: string,
  open: readonly string[],
): Generator<string, void> {
  const [all] = (schema as { allOf?: readonly OpenApiSchema[] }).allOf ?? []
  const reference = (schema as { $ref?: string }).$ref ?? (all as { $ref?: string })?.$ref
  const name = reference?.split('/').at(-1)
  if (name !== undefined) {
    if (open.includes(name) || name.endsWith('.ObjectMeta')) return
    yield* textsIn(schemas[name] ?? {}, schemas, path, [...open, name])
    return
  }
  if (schema.type === 'string') yield path
  if (schema.items !== undefined) yield* textsIn(schema.items, schemas, `${path}[*]`, open)
  for (const [member, inner] of Object.entries(schema.properties ?? {})) {
    yield* textsIn(inner, schemas, path === '' ? member : `${path}.${member}`, open)
  }
}

interface Place {
  readonly kind: string
  readonly path: string
  readonly resource: (typeof capturedResources)[number]
  readonly beside: ReadonlySet<string>
}

/** Every field of a built-in kind that may name such an object. */
const places: readonly Place[] = capturedResources
  .filter(({ verbs, kind, group }, at) => {
    const first = capturedResources.findIndex((one) => one.kind === kind && one.group === group)
    return verbs?.includes('watch') && kind !== 'Event' && first === at
  })
  .flatMap((resource) => {
    const { group, version, kind } = resource
    const document = capturedOpenApi[group === '' ? `api/${version}` : `apis/${group}/${version}`]
    const schemas = document?.components?.schemas ?? {}
    const schema = Object.values(schemas).find((one) =>
      one['x-kubernetes-group-version-kind']?.some(
        (of) => of.kind === kind && of.group === group && of.version === version,
      ),
    )
    const beside = new Set(textsIn(schema ?? {}, schemas, '', []))
    const paths = [...beside].filter((path) => mayName(path))
    return paths.map((path) => ({ kind, path, resource, beside }))
  })

const exceptionOf = ({ kind, path }: Place): (typeof exceptions)[number] | undefined =>
  exceptions.find(([pattern]) => pattern.test(`${kind} ${path}`))
const targetOf = ({ path }: Place): string | undefined =>
  targets.find(([pattern]) => pattern.test(path))?.[1]

const used = places.filter((place) => exceptionOf(place) === undefined)
const shared = 'shared'

/** An object that has the name of the shared object at one place. */
const userAt = (place: Place, name: string): Fields => {
  const { path, beside, resource } = place
  const object: Fields = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, ...(resource.namespaced ? { namespace: 'default' } : {}) },
  }
  const around = path.slice(0, path.lastIndexOf('.') + 1)
  set(object, path, shared)
  if (beside.has(`${around}namespace`)) set(object, `${around}namespace`, 'default')
  if (beside.has(`${around}secretNamespace`)) set(object, `${around}secretNamespace`, 'default')
  if (beside.has(`${around}kind`)) set(object, `${around}kind`, targetOf(place))
  return object
}

const set = (object: Fields, path: string, value: unknown): void => {
  const steps = path.replaceAll('[*]', '.0').split('.')
  let at = object
  for (const [position, step] of steps.entries()) {
    const next = steps[position + 1]
    at[step] = next === undefined ? value : (at[step] ?? (next === '0' ? [] : {}))
    at = at[step]
  }
}

describe('usedBy counts every field of Kubernetes 1.36 that names such an object', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  const told = new Map<string, readonly string[]>()
  beforeAll(async () => {
    const kinds = [...new Set(used.flatMap((place) => targetOf(place) ?? []))]
    const resourceOf = (kind: string): (typeof capturedResources)[number] => {
      const found = capturedResources.find((one) => one.kind === kind)
      if (found === undefined) throw new Error(`there is no ${kind}`)
      return found
    }
    cluster = await startSimulatedCluster({
      bookmarkIntervalMs: 0,
      populate(storage) {
        for (const kind of kinds) {
          const resource = resourceOf(kind)
          const where = resource.namespaced ? { namespace: 'default' } : {}
          const metadata = { name: shared, ...where }
          storage.create(resource, { apiVersion: apiVersionOf(resource), kind, metadata })
        }
        for (const [at, place] of used.entries())
          storage.create(place.resource, userAt(place, `user-${at}`))
      },
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
    for (const kind of kinds) {
      const field = kind.charAt(0).toLowerCase() + kind.slice(1)
      const where = resourceOf(kind).namespaced ? 'namespace: "default", ' : ''
      let after: string | null = null
      do {
        const data: Fields = await gateway.data(
          `query ($after: String) { found: ${field}(${where}name: "${shared}") { usedBy(first: 100, after: $after) { pageInfo { hasNextPage endCursor } nodes { object { name } paths } } } }`,
          { after },
        )
        const { nodes, pageInfo } = data.found.usedBy
        for (const { object, paths } of nodes) {
          const known = told.get(`${kind} ${object.name}`) ?? []
          const generic = paths.map((path: string) => path.replaceAll(/\[\d+\]/g, '[*]'))
          told.set(`${kind} ${object.name}`, [...known, ...generic])
        }
        after = pageInfo.hasNextPage === true ? pageInfo.endCursor : null
      } while (after !== null)
    }
  }, 120_000)
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  it('knows what each of them names', () => {
    const unknown = used.filter((place) => targetOf(place) === undefined)
    expect(unknown.map(({ kind, path }) => `${kind} ${path}`)).toEqual([])
    expect(used.length).toBeGreaterThan(300)
  })

  it('lists the object with each of them among the users, with the path', () => {
    const missing = used.filter(
      (place, at) => told.get(`${targetOf(place)} user-${at}`)?.includes(place.path) !== true,
    )
    expect(missing.map(({ kind, path }) => `${kind} ${path}`)).toEqual([])
  })

  it('makes no exception that is not needed', () => {
    const needed = new Set(places.map((place) => exceptionOf(place)))
    expect(exceptions.filter((one) => !needed.has(one)).map(([pattern]) => pattern)).toEqual([])
  })
})
