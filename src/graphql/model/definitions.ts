import {
  type ApiResource,
  apiVersionOf,
  groupVersionPath,
  isBuiltInGroup,
} from '../../kubernetes/api-resource.ts'
import {
  definitionNameOf,
  type OpenApiDocument,
  type OpenApiDocuments,
  type OpenApiGroupVersionKind,
  type OpenApiSchema,
} from '../../kubernetes/open-api.ts'
import { compareGroupLabels, splitDefinitionName } from '../naming/nested-name.ts'
import { type KindSchemaError, schemaProblem } from './check-schema.ts'

/** The definition of every object's `metadata`. */
export const objectMetaDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** The definitions that the `$ref`s of one document refer to. */
export interface DefinitionScope {
  find(definition: string): OpenApiSchema | undefined
  /** Whether a definition contains itself, directly or indirectly. */
  isRecursive(definition: string): boolean
}

/**
 * The definitions of all documents. All documents share the definitions of Kubernetes itself; the copies of aggregated
 * servers, which are often older, are ignored. Every other definition is looked up in the document that refers to it.
 */
export class Definitions {
  readonly #documents: OpenApiDocuments
  readonly #shared = new Map<string, OpenApiSchema>()
  #sharedScope: DefinitionScope | undefined
  readonly #scopes = new Map<string, DefinitionScope>()
  readonly #byName: ReadonlyMap<string, readonly string[]>
  readonly #ofKinds = new Map<string, OpenApiSchema | 'none'>()

  constructor(documents: OpenApiDocuments) {
    this.#documents = documents
    for (const path of Object.keys(documents).toSorted(compareDocumentPaths)) {
      for (const [definition, schema] of Object.entries(schemasOf(documents[path]))) {
        if (!splitDefinitionName(definition).builtIn || this.#shared.has(definition)) continue
        this.#shared.set(definition, schema)
      }
    }
    for (const [definition, schema] of Object.entries(fallbackDefinitions)) {
      if (!this.#shared.has(definition)) this.#shared.set(definition, schema)
    }
    this.#byName = Map.groupBy(
      this.#shared.keys(),
      (definition) => splitDefinitionName(definition).name,
    )
  }

  /** The definitions of Kubernetes itself. */
  get shared(): DefinitionScope {
    return (this.#sharedScope ??= definitionScope((definition) => this.#shared.get(definition)))
  }

  /** The definitions of Kubernetes itself whose names end in this part. */
  namesakes(name: string): readonly string[] {
    return this.#byName.get(name) ?? []
  }

  /** The schema of a kind; `undefined` if the server publishes none, or {@link refuseUnfit} has refused it. */
  schemaOf(resource: ApiResource): OpenApiSchema | undefined {
    const name = keyOf(resource)
    let schema = this.#ofKinds.get(name)
    if (schema === undefined) {
      schema = this.#publishedSchemaOf(resource) ?? 'none'
      this.#ofKinds.set(name, schema)
    }
    return schema === 'none' ? undefined : schema
  }

  /** Drops the schema of a kind if it is malformed or too large, and returns the reason. */
  refuseUnfit(resource: ApiResource): KindSchemaError | undefined {
    // Kubernetes' own schemas are fit, and all documents share them.
    if (isBuiltInGroup(resource.group)) return undefined
    const schema = this.schemaOf(resource)
    if (schema === undefined) return undefined
    const problem = schemaProblem(resource, schema, this.scopeOf(resource))
    if (problem !== undefined) this.#ofKinds.set(keyOf(resource), 'none')
    return problem
  }

  #publishedSchemaOf(resource: ApiResource): OpenApiSchema | undefined {
    const { group, version, kind } = resource
    const schemas = schemasOf(this.#documents[documentPathOf(resource)])
    return Object.values(schemas).find((schema) => {
      const kinds: unknown = schema['x-kubernetes-group-version-kind']
      return (
        Array.isArray(kinds) &&
        kinds.some(
          (one: OpenApiGroupVersionKind | null) =>
            one?.group === group && one.version === version && one.kind === kind,
        )
      )
    })
  }

  /** The definitions that the `$ref`s in a kind's document refer to. */
  scopeOf(resource: ApiResource): DefinitionScope {
    const path = documentPathOf(resource)
    let scope = this.#scopes.get(path)
    if (scope === undefined) {
      const own = schemasOf(this.#documents[path])
      scope = definitionScope((definition) => this.#shared.get(definition) ?? own[definition])
      this.#scopes.set(path, scope)
    }
    return scope
  }
}

function documentPathOf(resource: ApiResource): string {
  return groupVersionPath(resource).slice(1)
}

function keyOf(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.kind}`
}

/** The entries of a document that are objects at all. */
function schemasOf(document: OpenApiDocument | undefined): Readonly<Record<string, OpenApiSchema>> {
  const schemas: unknown = document?.components?.schemas
  if (typeof schemas !== 'object' || schemas === null) return {}
  return Object.fromEntries(
    Object.entries(schemas).filter(([, schema]) => typeof schema === 'object' && schema !== null),
  )
}

/** Orders documents: `api/v1` and the groups of Kubernetes itself come first. */
function compareDocumentPaths(a: string, b: string): number {
  const [left, right] = [groupOfPath(a), groupOfPath(b)]
  return (
    Number(isBuiltInGroup(right)) - Number(isBuiltInGroup(left)) ||
    compareGroupLabels(left === '' ? 'core' : left, right === '' ? 'core' : right) ||
    (a < b ? -1 : 1)
  )
}

function groupOfPath(path: string): string {
  return path.startsWith('api/') ? '' : (path.split('/')[1] ?? '')
}

function definitionScope(find: (definition: string) => OpenApiSchema | undefined): DefinitionScope {
  const references = new Map<string, ReadonlySet<string>>()
  const recursive = new Map<string, boolean>()
  const referencesOf = (definition: string): ReadonlySet<string> => {
    let found = references.get(definition)
    if (found === undefined) {
      const collected = new Set<string>()
      collectReferences(find(definition), collected)
      references.set(definition, (found = collected))
    }
    return found
  }
  const reachesItself = (definition: string): boolean => {
    const seen = new Set<string>()
    const rest = [definition]
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      for (const reference of referencesOf(next)) {
        if (reference === definition) return true
        if (seen.has(reference)) continue
        seen.add(reference)
        rest.push(reference)
      }
    }
    return false
  }
  return {
    find,
    isRecursive(definition) {
      let known = recursive.get(definition)
      if (known === undefined) recursive.set(definition, (known = reachesItself(definition)))
      return known
    },
  }
}

function collectReferences(schema: OpenApiSchema | undefined, into: Set<string>): void {
  if (schema === undefined) return
  const definition = definitionNameOf(schema)
  if (definition !== undefined) into.add(definition)
  collectReferences(schema.items, into)
  if (typeof schema.additionalProperties === 'object')
    collectReferences(schema.additionalProperties, into)
  for (const property of Object.values(schema.properties ?? {})) collectReferences(property, into)
}

/** Go's convention for comments, which become descriptions: a paragraph or sentence that begins with `Deprecated:`. */
const deprecationNote = /(?:^|[.)]\s+|\n\s*)Deprecated: +(\S[\s\S]*)/

/** Why a schema is deprecated; `undefined` if it is not. */
export function deprecationOf(schema: OpenApiSchema | undefined): string | undefined {
  const note = deprecationNote.exec(schema?.description ?? '')?.[1]?.trim()
  return note ?? (schema?.deprecated === true ? 'Deprecated.' : undefined)
}

const text: OpenApiSchema = { type: 'string' }
const flag: OpenApiSchema = { type: 'boolean' }
const long: OpenApiSchema = { type: 'integer', format: 'int64' }
const moment: OpenApiSchema = { type: 'string', format: 'date-time' }
const texts: OpenApiSchema = { type: 'object', additionalProperties: text }

const ownerReferenceDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference'

/** The definitions that the gateway needs of every server, also of one that publishes no OpenAPI documents. */
const fallbackDefinitions: Readonly<Record<string, OpenApiSchema>> = {
  [objectMetaDefinition]: {
    type: 'object',
    properties: {
      annotations: texts,
      creationTimestamp: moment,
      deletionGracePeriodSeconds: long,
      deletionTimestamp: moment,
      finalizers: { type: 'array', items: text },
      generateName: text,
      generation: long,
      labels: texts,
      name: text,
      namespace: text,
      ownerReferences: {
        type: 'array',
        items: { $ref: `#/components/schemas/${ownerReferenceDefinition}` },
      },
      resourceVersion: text,
      uid: text,
    },
  },
  [ownerReferenceDefinition]: {
    type: 'object',
    properties: {
      apiVersion: text,
      blockOwnerDeletion: flag,
      controller: flag,
      kind: text,
      name: text,
      uid: text,
    },
  },
}
