/*
 * The gateway's own types, from the SDL in `schema/gateway/`. A name that begins with `Kind` stands for one type of each
 * kind. A field is a member of its value, or of the JSON of a workload, unless a table here gives it another source.
 */

import { readFileSync } from 'node:fs'
import {
  type ConstValueNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  GraphQLEnumType,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLType,
  type InputObjectTypeDefinitionNode,
  type InputValueDefinitionNode,
  Kind as NodeKind,
  parse,
  specifiedScalarTypes,
  type StringValueNode,
  type TypeNode,
} from 'graphql'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Kind } from '../model/kind.ts'
import type { HasField } from '../model/schema-profile.ts'
import { packageSchemaDirectory } from '../sdl/sdl-source.ts'
import {
  type FieldConfigs,
  type FieldSource,
  type FollowSource,
  fromSource,
  noExtensions,
  type OwnSource,
  shapeOf,
} from './field-source.ts'
import type { KindOf } from './object-ref.ts'
import {
  GraphQLDateTime,
  GraphQLExactFloat,
  GraphQLIntOrString,
  GraphQLJson,
  GraphQLQuantity,
  GraphQLStringMap,
} from './scalars.ts'

/** The sources of the fields of one type; `undefined` for a field that the type lacks. */
type OwnFields = (field: string) => FieldSource | undefined

/** The fields of a type on which page sizes are checked. */
function own(form: OwnSource['form']): OwnFields {
  return (part) => ({ form, part })
}

const member: FieldSource = { form: 'value' }

/** The fields of `Query`, except the fields of kinds. */
const query: Readonly<Record<string, FieldSource>> = {
  viewer: member,
  can: member,
  accessGrants: member,
  gatewayClusters: member,
  object: { form: 'objectById' },
  objects: { form: 'objectsByIds' },
  objectByRef: { form: 'objectByRef' },
  objectList: { form: 'objectList' },
  kubernetesObjects: { form: 'kubernetesObjects' },
  graph: { form: 'aroundObjects' },
  search: member,
  tlsCertificates: member,
  problems: member,
  complete: member,
  kindFields: member,
  changes: member,
  differences: member,
}

/** The fields of `Subscription`, except the fields of kinds. */
const subscription: Readonly<Record<string, FollowSource>> = {
  object: { form: 'objectFrames' },
  objects: { form: 'objectsFrames' },
  objectByRef: { form: 'objectByRefFrames' },
  objectList: { form: 'objectListFrames' },
  objectListPage: { form: 'objectListPages' },
  kubernetesObjects: { form: 'kubernetesObjectsFrames' },
  kubernetesObjectsPage: { form: 'kubernetesObjectsPages' },
  gatewayClusters: { form: 'clusterFrames' },
  objectListFacets: { form: 'objectListFacetFrames' },
  problems: { form: 'problemFrames' },
  changes: { form: 'changeFrames' },
}

/** The sources of fields by type. Fields of all other types are members of their values. */
const fieldsOfTypes: Readonly<Record<string, OwnFields>> = {
  Query: (field) => query[field],
  Subscription: (field) => subscription[field],
  Mutation: () => ({ form: 'write' }),
  WriteSubscription: () => ({ form: 'drainFrames' }),
  KindConnection: own('connection'),
  KubernetesObjectConnection: own('connection'),
  ObjectListConnection: own('connection'),
  ProblemConnection: own('connection'),
  SearchResultConnection: own('connection'),
  TlsCertificateConnection: own('connection'),
  UsedByConnection: own('connection'),
  ChangeConnection: own('connection'),
  AccessGrantConnection: own('connection'),
  Problem: own('problem'),
  Graph: own('graph'),
  GraphNode: own('graphNode'),
}

function sdlOf(name: string): string {
  return readFileSync(new URL(`gateway/${name}.graphql`, packageSchemaDirectory), 'utf8')
}

/** The placeholder that the name of a kind's type replaces. */
const kindName = /\bKind(?=[A-Z]|\b)/g

const frames = sdlOf('frames')

/** The SDL of `schema/gateway/`, by the names of types. */
const definitions: ReadonlyMap<string, DefinitionNode> = new Map(
  [
    ...[
      'shared',
      'kinds',
      'gateway',
      'clusters',
      'access',
      'certificates',
      'problems',
      'past',
      'writes',
      'logs',
    ].map(sdlOf),
    frames,
    frames.replaceAll(kindName, 'KubernetesObject'),
  ].flatMap((text) =>
    parse(text, { noLocation: true }).definitions.flatMap((node) =>
      'name' in node && node.name !== undefined ? [[node.name.value, node] as const] : [],
    ),
  ),
)

const scalars: readonly GraphQLNamedType[] = [
  ...specifiedScalarTypes,
  GraphQLExactFloat,
  GraphQLIntOrString,
  GraphQLJson,
  GraphQLDateTime,
  GraphQLQuantity,
  GraphQLStringMap,
]

/** Finds a type that the SDL refers to and does not build: `KubernetesObject`, `ObjectMeta`, `KindWhere`. */
export type FindType = (name: string, kind: Kind | undefined) => GraphQLNamedType

interface InputConfig {
  readonly extensions?: Readonly<Record<string, never>>
  readonly type: GraphQLInputType
  readonly description: string | undefined
  readonly default?: { readonly literal: ConstValueNode } | { readonly value: unknown }
}

/** A field without source. */
export interface FieldConfig {
  readonly type: GraphQLOutputType
  readonly description: string | undefined
  readonly args: Readonly<Record<string, InputConfig>>
}

/** Builds the types of the SDL for one schema, each once. */
export class OwnTypes {
  readonly #built = new Map<string, GraphQLNamedType>(scalars.map((type) => [type.name, type]))
  /** Field configs that all kinds share. */
  readonly #objectFields = new Map<string, FieldConfig>()
  readonly #sharedInputs = new Map<InputValueDefinitionNode, InputConfig>()
  readonly #find: FindType
  readonly #hasField: HasField

  constructor(find: FindType, hasField: HasField) {
    this.#find = find
    this.#hasField = hasField
  }

  /** The object type of this name. If the name begins with `Kind`, the type of that kind. */
  object(name: string, kind?: Kind): GraphQLObjectType {
    return this.#type(name, kind) as GraphQLObjectType
  }

  /** Like {@link object}, for input types. */
  input(name: string, kind?: Kind): GraphQLInputObjectType {
    return this.#type(name, kind) as GraphQLInputObjectType
  }

  /** The fields of a root type, except the fields of kinds. */
  rootFields(type: 'Query' | 'Mutation' | 'Subscription' | 'WriteSubscription'): FieldConfigs {
    return this.#fields(type, undefined)
  }

  /** A field of every object, without source. */
  objectField(name: string): FieldConfig {
    return getOrInsert(this.#objectFields, name, () =>
      this.#field(fieldNamed('KubernetesObject', name), undefined),
    )
  }

  /** A field of every workload, without source. */
  workloadField(name: string): FieldConfig {
    return this.#field(fieldNamed('Workload', name), undefined)
  }

  /** A field of `KindFields` for a kind, without source. */
  kindField(name: string, kind: Kind): FieldConfig {
    return this.#field(fieldNamed('KindFields', name), kind)
  }

  #type(name: string, kind: Kind | undefined): GraphQLNamedType {
    const full = kind === undefined ? name : named(name, kind)
    return getOrInsert(this.#built, full, () => this.#build(name, full, kind))
  }

  #build(written: string, name: string, kind: Kind | undefined): GraphQLNamedType {
    const node = definitions.get(written)
    switch (node?.kind) {
      case NodeKind.ENUM_TYPE_DEFINITION:
        return new GraphQLEnumType({
          name,
          description: described(node.description, kind),
          values: Object.fromEntries(
            (node.values ?? []).map((value) => [
              value.name.value,
              { description: described(value.description, kind) },
            ]),
          ),
        })
      case NodeKind.INPUT_OBJECT_TYPE_DEFINITION:
        return new GraphQLInputObjectType({
          name,
          description: described(node.description, kind),
          isOneOf: node.directives?.some((one) => one.name.value === 'oneOf') === true,
          fields: () => this.#inputs(node.fields, kind),
        })
      case NodeKind.OBJECT_TYPE_DEFINITION:
        return new GraphQLObjectType({
          name,
          description: described(node.description, kind),
          fields: () => this.#fields(written, kind),
        })
      default:
        return this.#find(written, kind)
    }
  }

  #fields(written: string, kind: Kind | undefined): FieldConfigs {
    // The types of workloads stand for parts of the API, of which a profile may leave out fields.
    const isOfApi = written.startsWith('Workload')
    return Object.fromEntries(
      fieldNodes(written).flatMap((node) => {
        const { value: name } = node.name
        if (isOfApi && !this.#hasField(written, name)) return []
        const field = this.#field(node, kind)
        const json = { form: 'property', property: name, shape: shapeOf(field.type) } as const
        const ofType = fieldsOfTypes[written]
        const source = ofType === undefined ? (isOfApi ? json : member) : ofType(name)
        if (source === undefined) throw new TypeError(`${written}.${name} has no source`)
        const isPromised = node.directives?.some((one) => one.name.value === 'semanticNonNull')
        const promise = isPromised === true ? { semanticNonNull: [0] } : {}
        return [[name, { ...field, ...fromSource(source, promise) }]]
      }),
    )
  }

  #field(node: FieldDefinitionNode, kind: Kind | undefined): FieldConfig {
    const args = this.#inputs(argumentsOf(node), kind)
    const isNamespaced = kind?.resource.namespaced !== false
    return {
      type: this.#reference(node.type, kind) as GraphQLOutputType,
      description: described(node.description, kind),
      args: isNamespaced ? args : without(args, ['namespace', 'namespaces']),
    }
  }

  #inputs(
    nodes: readonly InputValueDefinitionNode[] = [],
    kind: Kind | undefined,
  ): Record<string, InputConfig> {
    return Object.fromEntries(nodes.map((node) => [node.name.value, this.#input(node, kind)]))
  }

  #input(node: InputValueDefinitionNode, kind: Kind | undefined): InputConfig {
    const known = this.#sharedInputs.get(node)
    if (known !== undefined) return known
    const input = {
      type: this.#reference(node.type, kind) as GraphQLInputType,
      description: described(node.description, kind),
      extensions: noExtensions,
      ...(node.defaultValue && { default: { literal: node.defaultValue } }),
    }
    if (!nameOfType(node.type).startsWith('Kind')) this.#sharedInputs.set(node, input)
    return input
  }

  #reference(node: TypeNode, kind: Kind | undefined): GraphQLType {
    switch (node.kind) {
      case NodeKind.NON_NULL_TYPE:
        return new GraphQLNonNull(this.#reference(node.type, kind) as GraphQLList<GraphQLType>)
      case NodeKind.LIST_TYPE:
        return new GraphQLList(this.#reference(node.type, kind))
      case NodeKind.NAMED_TYPE:
        return this.#type(node.name.value, kind)
    }
  }
}

/** The fields of a type: its own, then the fields that it shares with other types. */
function fieldNodes(typeName: string): readonly FieldDefinitionNode[] {
  const node = definitions.get(typeName)
  const hasFields =
    node?.kind === NodeKind.OBJECT_TYPE_DEFINITION ||
    node?.kind === NodeKind.INTERFACE_TYPE_DEFINITION
  if (!hasFields) return []
  const shared = (node.interfaces ?? []).flatMap(({ name }) => fieldNodes(name.value))
  return [...(node.fields ?? []), ...shared]
}

/** The arguments of a field or of an input: shared ones (`@takes`), then its own. */
function argumentsOf(
  node: FieldDefinitionNode | InputObjectTypeDefinitionNode,
): readonly InputValueDefinitionNode[] {
  const takes = node.directives?.find(({ name }) => name.value === 'takes')
  const inputs = takes?.arguments?.[0]?.value
  const shared = inputs?.kind === NodeKind.LIST ? inputs.values : []
  const written = node.kind === NodeKind.FIELD_DEFINITION ? node.arguments : node.fields
  return [
    ...shared.flatMap((input) => {
      const found = definitions.get(input.kind === NodeKind.ENUM ? input.value : '')
      if (found?.kind !== NodeKind.INPUT_OBJECT_TYPE_DEFINITION)
        throw new TypeError(`${node.name.value} takes the arguments of no input`)
      return argumentsOf(found)
    }),
    ...(written ?? []),
  ]
}

function fieldNamed(typeName: string, name: string): FieldDefinitionNode {
  const node = fieldNodes(typeName).find((field) => field.name.value === name)
  if (node === undefined) throw new TypeError(`there is no ${typeName}.${name}`)
  return node
}

export function without(
  args: FieldConfig['args'],
  names: readonly string[],
): Record<string, InputConfig> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)))
}

function nameOfType(node: TypeNode): string {
  return node.kind === NodeKind.NAMED_TYPE ? node.name.value : nameOfType(node.type)
}

function named(name: string, { typeName }: Kind): string {
  return name.includes('Kind') ? name.replaceAll(kindName, typeName) : name
}

function described(node: StringValueNode | undefined, kind: Kind | undefined): string | undefined {
  const text = node?.value.replaceAll('\n', ' ')
  if (text === undefined || kind === undefined) return text
  const { resource } = kind
  return named(text, kind)
    .replace('{kind}', resource.kind)
    .replace('{resources}', resource.resource)
    .replace('{apiVersion}', kind.apiVersion)
}

/** The shared types of one schema. Each is built once; fields refer to them lazily. */
export interface SchemaTypes {
  readonly kubernetesObject: GraphQLInterfaceType
  readonly objectMeta: GraphQLObjectType
  readonly own: OwnTypes
  /** The kind of core Events; absent if the cluster serves none. */
  readonly event: Kind | undefined
  /** Whether Secrets have `data`, read from the API server. */
  readonly secretData: boolean
  readonly hasField: HasField
  /** A kind by its type name. Throws `TypeError` if the model has none. */
  kind(typeName: string): Kind
  readonly kindOf: KindOf
  objectType(kind: Kind): GraphQLObjectType
  whereType(kind: Kind): GraphQLInputObjectType
  orderType(kind: Kind): GraphQLInputObjectType
}
