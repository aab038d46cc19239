/*
 * Makes CustomResourceDefinitions work: each established definition becomes served resources with rules, columns, scale
 * and an OpenAPI document. After a change, stored objects take their new form and watches end.
 */

import { apiVersionOf, groupResourceOf, splitApiVersion } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { compareVersions } from '../../kubernetes/version-priority.ts'
import {
  type CapturedApi,
  customSchema,
  type DiscoveredResource,
  type OpenApiDocument,
  type Path,
  type Schema,
  type Schemas,
} from '../api/captured-api.ts'
import { equalJson, valueAt } from '../api/json.ts'
import type { CustomVersion } from '../api/resource-registry.ts'
import {
  customSelectableFields,
  type ObjectRules,
  type ScalePaths,
  type ServedResource,
  servedResources,
} from '../api/served-resource.ts'
import { invalidAt } from '../api/status-refusal.ts'
import { defaulted, prunedObject, schemaProblems } from '../schema/structural-schema.ts'
import { inPasses, type Storage } from '../storage/storage.ts'
import {
  completeNames,
  type DefinitionSpec,
  type DefinitionVersion,
  isEstablished,
  nextStatus,
  specOf,
  statusOf,
} from './definition.ts'

/** A served definition. It is rebuilt when its spec changes. */
interface ServedDefinition {
  readonly spec: DefinitionSpec
  readonly kinds: readonly CustomKind[]
}

/**
 * Serves the CustomResourceDefinitions in the storage, now and after each change. Accepts a new definition at once,
 * ends the watches of a changed definition, and deletes the objects of a deleted one. Versions are converted by name
 * only (strategy None).
 */
export function serveCustomResources(storage: Storage): void {
  const definitions = new Map<string, Unstructured>()
  for (const definition of storage.list(definitionResource)) {
    definitions.set(definition.metadata.name, definition)
  }
  let served: ReadonlyMap<string, ServedDefinition> = new Map()
  const sync = inPasses(() => {
    const current = [...definitions.values()]
    const groups = Map.groupBy(current, (definition) => specOf(definition).group)
    for (const definition of current) {
      const members = groups.get(specOf(definition).group) ?? []
      const others = members.filter((other) => other !== definition)
      const status = nextStatus(definition, others)
      if (equalJson(status, statusOf(definition))) continue
      storage.update(definitionResource, { ...definition, status })
      // The next status may depend on this write, which asks for another pass.
      break
    }
    const before = served
    served = new Map(
      current.filter(isEstablished).map((definition) => {
        const { name } = definition.metadata
        const spec = specOf(definition)
        const known = before.get(name)
        const isSame = known !== undefined && equalJson(known.spec, spec)
        return [name, isSame ? known : { spec, kinds: customKinds(spec) }]
      }),
    )
    for (const [name, { kinds }] of before) {
      const stored = kinds[0]?.resource.stored
      if (!definitions.has(name) && stored !== undefined) storage.deleteAll(stored)
    }
    storage.registry.setCustom(customVersions(storage.registry.captured, [...served.values()]))
    for (const [name, old] of before) takeNewForm(storage, old, served.get(name))
  })
  storage.follow(({ groupResource }, { name }, definition) => {
    if (groupResource !== groupResourceOf(definitionResource)) return
    if (definition === undefined) definitions.delete(name)
    else definitions.set(name, definition)
    sync()
  })
  sync()
}

const definitionResource = resources.customResourceDefinitions

/** The served versions of definitions, by group and priority. */
function customVersions(
  captured: CapturedApi,
  definitions: readonly ServedDefinition[],
): CustomVersion[] {
  const served = definitions.flatMap(({ kinds }) => kinds.filter(({ version }) => version.served))
  const versions = Map.groupBy(served, (kind) => kind.resource.apiVersion)
  return Array.from(versions, ([apiVersion, kinds]): CustomVersion => ({
    ...splitApiVersion(apiVersion),
    resources: new Map(kinds.map((kind) => [kind.resource.resource, kind.resource])),
    discovered: kinds.flatMap(({ discovered }) => discovered),
    openapi: () => customOpenApi(captured, kinds),
  })).toSorted((a, b) => (a.group === b.group ? compareVersions(a.version, b.version) : 0))
}

/** Rewrites the stored objects in the form of the changed kind, and wakes its watches so that they end. */
function takeNewForm(
  storage: Storage,
  old: ServedDefinition,
  next: ServedDefinition | undefined,
): void {
  const before = old.kinds[0]?.resource.stored
  if (before === undefined || old === next) return
  const held = (next ?? old).kinds
    .map((kind) => kind.resource)
    .find(({ apiVersion, stored }) => apiVersion === stored.apiVersion)
  if (held === undefined) return
  const { rules, stored } = held
  if (next !== undefined) {
    storage.rewrite(before, stored, (object) => {
      const converted = stored.convert(object, stored.apiVersion)
      return rules?.settle(converted, []) ?? converted
    })
  }
  storage.store(stored).wake()
}

const schemaPrefix = '#/components/schemas/'
const metaPrefix = `${schemaPrefix}io.k8s.apimachinery.pkg.apis.meta.v1.`
const text = { type: 'string' }

/** The OpenAPI document of one group and version of custom resources, with all schemas that it refers to. */
function customOpenApi(captured: CapturedApi, kinds: readonly CustomKind[]): OpenApiDocument {
  const builtIn = captured.openapi['apis/apps/v1']
  const schemas: Record<string, Schema> = {}
  const paths: Record<string, unknown> = {}
  for (const kind of kinds) {
    const { group, version, kind: name } = kind.resource
    // `com.example.stable.v1.Widget`
    const fullName = `${group.split('.').toReversed().join('.')}.${version}.${name}`
    const fieldPaths = selectablePaths(kind.version).map((fieldPath) => ({ fieldPath }))
    schemas[fullName] = {
      ...customSchema(kind.resource.schema ?? {}),
      'x-kubernetes-group-version-kind': [kindOf(kind.resource)],
      ...(fieldPaths.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fieldPaths }),
    }
    schemas[`${fullName}List`] = listSchema(kind.resource, `${schemaPrefix}${fullName}`)
    Object.assign(paths, pathsOf(kind.resource))
  }
  const known = builtIn?.components?.schemas ?? {}
  for (const schema of Object.values(schemas)) addReferred(schema, known, schemas)
  return { openapi: '3.0.0', info: builtIn?.info ?? {}, paths, components: { schemas } }
}

const kindOf = (
  { group, version, kind }: ServedResource,
  suffix = '',
): { group: string; kind: string; version: string } => ({
  group,
  kind: `${kind}${suffix}`,
  version,
})

const listSchema = (served: ServedResource, item: string): Schema => ({
  type: 'object',
  required: ['items'],
  properties: {
    apiVersion: text,
    items: { type: 'array', items: { $ref: item } },
    kind: text,
    metadata: { allOf: [{ $ref: `${metaPrefix}ListMeta` }] },
  },
  'x-kubernetes-group-version-kind': [kindOf(served, 'List')],
})

/** The paths by which clients find where a kind is listed. */
function pathsOf(served: ServedResource): Record<string, unknown> {
  const { apiVersion, namespaced, resource: plural } = served
  const action = (name: string): object => ({
    'x-kubernetes-action': name,
    'x-kubernetes-group-version-kind': kindOf(served),
  })
  const everywhere = `/apis/${apiVersion}/${plural}`
  const at = namespaced ? `/apis/${apiVersion}/namespaces/{namespace}/${plural}` : everywhere
  return {
    ...(namespaced ? { [everywhere]: { get: action('list') } } : {}),
    [at]: { get: action('list'), post: action('post'), delete: action('deletecollection') },
    [`${at}/{name}`]: {
      get: action('get'),
      put: action('put'),
      patch: action('patch'),
      delete: action('delete'),
    },
  }
}

/** Copies the schemas that a schema refers to, directly and indirectly. */
function addReferred(schema: unknown, known: Schemas, into: Record<string, Schema>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [name, value] of Object.entries(schema)) {
    if (name !== '$ref' || typeof value !== 'string') {
      addReferred(value, known, into)
      continue
    }
    const referred = value.slice(schemaPrefix.length)
    const found = known[referred]
    if (found === undefined || into[referred] !== undefined) continue
    into[referred] = found
    addReferred(found, known, into)
  }
}

/** One version of a CustomResourceDefinition, served or not. */
interface CustomKind {
  readonly version: DefinitionVersion
  readonly resource: ServedResource
  /** The entries in an APIResourceList: the kind and its subresources. */
  readonly discovered: readonly DiscoveredResource[]
}

const dotted = (jsonPath: string): string => jsonPath.replace(/^\./, '')

/** The dotted paths, `spec.color`, of the fields that a field selector may name. */
const selectablePaths = ({ selectableFields = [] }: DefinitionVersion): string[] =>
  selectableFields.map(({ jsonPath }) => dotted(jsonPath))

/** All versions of a CustomResourceDefinition. All are stored in one of them. */
export function customKinds(spec: DefinitionSpec): CustomKind[] {
  const { group, versions } = spec
  const held = versions.find(({ storage }) => storage)
  if (held === undefined) return []
  const kinds = versions.flatMap((version) => {
    const discovered = discoveredResources(spec, version)
    const [resource] = servedResources(discovered, group, version.name, held.name)
    return resource === undefined ? [] : [{ version, discovered, resource }]
  })
  const rules = new Map(
    versions.map((version) => {
      const schema = version.schema?.openAPIV3Schema ?? {}
      return [apiVersionOf({ group, version: version.name }), customRules(schema, scaleOf(version))]
    }),
  )
  const base = kinds.find(({ version }) => version === held)?.resource.stored
  if (base === undefined) return []
  const stored = {
    ...base,
    fields: customSelectableFields(selectablePaths(held)),
    hasGeneration: true,
    custom: true,
    convert: (object: Unstructured, apiVersion: string): Unstructured => {
      if (object.apiVersion === apiVersion) return object
      const renamed = { ...object, apiVersion }
      return rules.get(apiVersion)?.settle(renamed, []) ?? renamed
    },
  }
  return kinds.map(({ version, discovered, resource }) => ({
    version,
    discovered,
    resource: {
      ...resource,
      stored,
      rules: rules.get(resource.apiVersion),
      schema: version.schema?.openAPIV3Schema ?? {},
      scale: scaleOf(version),
      columns: version.additionalPrinterColumns?.map((column) => ({
        format: '',
        description: '',
        priority: 0,
        ...column,
      })),
      deprecation: deprecationOf(spec, version),
    },
  }))
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const partVerbs = ['get', 'patch', 'update']

function discoveredResources(
  { names, scope }: DefinitionSpec,
  { subresources }: DefinitionVersion,
): DiscoveredResource[] {
  const { plural, singular, kind, shortNames = [], categories = [] } = completeNames(names)
  const namespaced = scope === 'Namespaced'
  const part = (name: string, of: { readonly kind: string }): DiscoveredResource => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...of,
    verbs: partVerbs,
  })
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...(subresources?.status === undefined ? [] : [part('status', { kind })]),
    ...(subresources?.scale === undefined ? [] : [part('scale', scaleKind)]),
  ]
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const

function scaleOf({ subresources }: DefinitionVersion): ScalePaths | undefined {
  const scale = subresources?.scale
  if (scale === undefined) return undefined
  return {
    specReplicas: dotted(scale.specReplicasPath),
    statusReplicas: dotted(scale.statusReplicasPath),
    selector: scale.labelSelectorPath === undefined ? undefined : dotted(scale.labelSelectorPath),
  }
}

function deprecationOf(
  { group, names, versions }: DefinitionSpec,
  { name, deprecated, deprecationWarning }: DefinitionVersion,
): string | undefined {
  if (deprecated !== true) return undefined
  if (deprecationWarning !== undefined) return deprecationWarning
  const [newer] = versions
    .filter((other) => other.served && other.deprecated !== true)
    .map((other) => other.name)
    .filter((other) => compareVersions(other, name) < 0)
    .toSorted(compareVersions)
  const sentence = `${group}/${name} ${names.kind} is deprecated`
  return newer === undefined ? sentence : `${sentence}; use ${group}/${newer} ${names.kind}`
}

/** The rules of one version of a custom kind: its schema and its replica counts. */
function customRules(schema: Schema, scale: ScalePaths | undefined): ObjectRules {
  return {
    settle: (object, unknown) =>
      defaulted(prunedObject(object, schema, unknown), schema) as Unstructured,
    problems: (object, previous, part) => {
      // A write to the status checks the status alone.
      const isOfStatus = part === 'status'
      const checked = isOfStatus ? schema.properties?.['status'] : schema
      const value = isOfStatus ? object['status'] : object
      const isNone = checked === undefined || value === undefined
      const found = isNone ? [] : schemaProblems(value, checked)
      // An update is not refused for a value that was wrong before. A change in a list counts for all its items.
      const isUnchanged = (node: Path): boolean => {
        const whole = isOfStatus ? ['status', ...node] : node
        const list = whole.findIndex((step) => typeof step === 'number')
        const path = list < 0 ? whole : whole.slice(0, list)
        const before = valueAt(previous, path)
        return before !== undefined && path.length > 0 && equalJson(before, valueAt(object, path))
      }
      return [
        found
          .filter(({ node }) => !isUnchanged(node))
          .map(({ reason, message, field }) => ({
            reason,
            message,
            field: isOfStatus && field !== '<nil>' ? `status.${field}` : field,
          })),
        [scale?.specReplicas, scale?.statusReplicas].map((path = '') => {
          const replicas = valueAt(object, path)
          const message = 'should be a non-negative integer'
          return Number(replicas) < 0 && invalidAt(`.${path}`, replicas, message)
        }),
      ]
    },
  }
}
