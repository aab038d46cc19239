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
import { fallbackDefinitions } from './fallback-definitions.ts'

/** The definitions that `$ref`s of one document lead to. */
export interface DefinitionScope {
  find(definition: string): OpenApiSchema | undefined
  /** Whether a definition contains itself, directly or through others. */
  isRecursive(definition: string): boolean
}

/**
 * The definitions of all documents. Those of Kubernetes itself are shared: aggregated servers carry their own, often
 * older, copies, which give way. All others are looked up in the document that refers to them.
 */
export class Definitions {
  readonly #documents: OpenApiDocuments
  readonly #shared = new Map<string, OpenApiSchema>()
  #sharedScope: DefinitionScope | undefined
  readonly #scopes = new Map<string, DefinitionScope>()
  readonly #byName = new Map<string, string[]>()
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
    for (const definition of this.#shared.keys()) {
      const { name } = splitDefinitionName(definition)
      const same = this.#byName.get(name)
      if (same === undefined) this.#byName.set(name, [definition])
      else same.push(definition)
    }
  }

  /** The definitions of Kubernetes itself. */
  get shared(): DefinitionScope {
    return (this.#sharedScope ??= definitionScope((definition) => this.#shared.get(definition)))
  }

  /** The definitions of Kubernetes itself that have this last part of their name in common. */
  namesakes(name: string): readonly string[] {
    return this.#byName.get(name) ?? []
  }

  /** The schema of a kind; `undefined` where the server publishes none, or one that {@link refuseUnfit} has refused. */
  schemaOf(resource: ApiResource): OpenApiSchema | undefined {
    const name = keyOf(resource)
    let schema = this.#ofKinds.get(name)
    if (schema === undefined) {
      schema = this.#publishedSchemaOf(resource) ?? 'none'
      this.#ofKinds.set(name, schema)
    }
    return schema === 'none' ? undefined : schema
  }

  /** From here on the kind is without a schema, if its own is malformed or too large; says why. */
  refuseUnfit(resource: ApiResource): KindSchemaError | undefined {
    // That of Kubernetes itself is known to be fit, and is shared by all.
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

  /** What the `$ref`s in a kind's document lead to. */
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

/** Those that are schemas at least at first sight. */
function schemasOf(document: OpenApiDocument | undefined): Readonly<Record<string, OpenApiSchema>> {
  const schemas: unknown = document?.components?.schemas
  if (typeof schemas !== 'object' || schemas === null) return {}
  return Object.fromEntries(
    Object.entries(schemas).filter(([, schema]) => typeof schema === 'object' && schema !== null),
  )
}

/** `api/v1` and the groups of Kubernetes itself come first. */
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
