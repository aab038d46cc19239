/*
 * A root field over several gateways, as `merged-answer.ts` sees it: what each holder is asked for, and how their parts become
 * one value. Besides what the client selects, holders are asked for what a merge needs, under aliases that begin with a
 * prefix which occurs nowhere in the request. Values of the gateway's own types, such as gaps or facets, are asked for whole,
 * merged, and written as the client selects them (`projected`). Objects are selected as the client does.
 */

import {
  type ArgumentNode,
  type ASTNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLFormattedError,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  Kind as NodeKind,
  parse,
  parseType,
  print,
  type SelectionNode,
  type TypeNode,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
} from 'graphql'
import { isRecord } from '../../lib/json.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { fragmentsOf } from '../documents/selections.ts'
import { ClientError } from '../errors/client-error.ts'
import { type CollectedFields, fieldCollector, selectionsOf } from '../plan/plan-compiler.ts'
import type { RoutedOperation } from './over-gateways.ts'
import type { Holder, RoutedField } from './routes.ts'

/** The part of a root field that one holder answers. */
export interface FieldPart {
  readonly holder: Holder
  readonly value: unknown
  /** The errors of the field, with their whole paths. */
  readonly errors: readonly GraphQLFormattedError[]
}

export interface Merged {
  readonly value: unknown
  readonly errors: readonly GraphQLFormattedError[]
}

/** Asks holders of a field. `nodesOf`: what a holder is asked for; `undefined`: nothing. */
export type AskParts = (
  nodesOf: (holder: Holder) => readonly FieldNode[] | undefined,
) => Promise<readonly FieldPart[]>

export interface MergedField {
  /** Asks for what `asked` depends on. May reject with the `ClientError` of the field. */
  readonly prepare?: ((ask: AskParts) => Promise<void>) | undefined
  /** What a holder is asked for, under the response key of the field; `undefined`: it has no part. */
  asked(holder: Holder): readonly FieldNode[] | undefined
  /** May reject with the `ClientError` of the field. */
  merged(parts: readonly FieldPart[], ask: AskParts): Merged | Promise<Merged>
}

/** The means of all fields of one operation. */
export class MergeMeans {
  readonly operation: RoutedOperation
  readonly budget: WorkBudget
  /** Begins each alias and each variable of ours. */
  readonly prefix: string
  readonly #fragments: ReturnType<typeof fragmentsOf>
  readonly #collect: ReturnType<typeof fieldCollector>
  readonly #variables = new Map<string, { readonly type: TypeNode; readonly value: unknown }>()

  constructor(operation: RoutedOperation) {
    const { request, document, variables, limits } = operation
    this.operation = operation
    this.budget = new WorkBudget(limits.work)
    let prefix = 'm_'
    while (request.query.includes(prefix)) prefix = `m${prefix}`
    this.prefix = prefix
    this.#fragments = fragmentsOf(document)
    this.#collect = fieldCollector(document, variables)
  }

  /** The fields that nodes select of an object, by response key. */
  fieldsOf(nodes: readonly FieldNode[], type: GraphQLObjectType): CollectedFields {
    const names = [type.name, ...type.getInterfaces().map(({ name }) => name)]
    return this.#collect(selectionsOf(nodes), names)
  }

  /** A variable of ours with its value, which another call replaces. */
  variable(name: string, type: string, value: unknown): VariableNode {
    const own = this.prefix + name
    this.#variables.set(own, { type: parseType(type), value })
    return { kind: NodeKind.VARIABLE, name: nameNode(own) }
  }

  /** Writes a value of the gateway's own types as the client selects it. */
  projected(type: GraphQLOutputType, nodes: readonly FieldNode[], value: unknown): unknown {
    const named = getNamedType(type)
    if (value === undefined || value === null || isLeafType(named)) return value ?? null
    if (Array.isArray(value)) return value.map((one) => this.projected(type, nodes, one))
    if (!isObjectType(named) || !isRecord(value)) throw new TypeError(`no value of ${named.name}`)
    const fields = Array.from(this.fieldsOf(nodes, named), ([key, [node, ...others]]) => {
      const name = node?.name.value ?? ''
      const field = named.getFields()[name]
      if (node === undefined || field === undefined) return [key, named.name] as const
      if (isInterfaceType(getNamedType(field.type))) throw notMerged(named, name)
      return [key, this.projected(field.type, [node, ...others], value[name])] as const
    })
    return Object.fromEntries(fields)
  }

  /** The operation with these root fields, and with the fragments and variables that they use. */
  request(nodes: readonly FieldNode[]): {
    readonly query: string
    readonly operationName: string | undefined
    readonly variables: Readonly<Record<string, unknown>>
  } {
    const { operation, request } = this.operation
    const used = new Set<string>()
    const spread = new Map<string, FragmentDefinitionNode>()
    const use = (node: ASTNode): void => {
      visit(node, {
        Variable: ({ name }) => void used.add(name.value),
        FragmentSpread: ({ name }) => {
          const fragment = this.#fragments.get(name.value)
          if (fragment === undefined || spread.has(name.value)) return
          spread.set(name.value, fragment)
          use(fragment)
        },
      })
    }
    for (const node of nodes) use(node)
    const given = (operation.variableDefinitions ?? []).filter(({ variable }) =>
      used.has(variable.name.value),
    )
    const own = [...this.#variables].filter(([name]) => used.has(name))
    const values = Object.entries(request.variables ?? {}).filter(([name]) => used.has(name))
    const query = print({
      kind: NodeKind.DOCUMENT,
      definitions: [
        {
          kind: NodeKind.OPERATION_DEFINITION,
          operation: operation.operation,
          ...(operation.name && { name: operation.name }),
          variableDefinitions: [
            ...given,
            ...own.map(([name, { type }]): VariableDefinitionNode => ({
              kind: NodeKind.VARIABLE_DEFINITION,
              variable: { kind: NodeKind.VARIABLE, name: nameNode(name) },
              type,
            })),
          ],
          selectionSet: { kind: NodeKind.SELECTION_SET, selections: nodes },
        },
        ...spread.values(),
      ],
    })
    const ofUs = own.map(([name, { value }]) => [name, value] as const)
    return {
      query,
      operationName: operation.name?.value,
      variables: Object.fromEntries([...values, ...ofUs]),
    }
  }
}

function nameNode(value: string): { readonly kind: typeof NodeKind.NAME; readonly value: string } {
  return { kind: NodeKind.NAME, value }
}

interface SelectedField {
  readonly alias?: string
  readonly selections?: readonly SelectionNode[] | undefined
  readonly arguments?: FieldNode['arguments']
}

/** A selected field. */
export function select(
  name: string,
  { alias, selections, ...rest }: SelectedField = {},
): FieldNode {
  return {
    kind: NodeKind.FIELD,
    ...(alias !== undefined && { alias: nameNode(alias) }),
    name: nameNode(name),
    ...rest,
    ...(selections && { selectionSet: { kind: NodeKind.SELECTION_SET, selections } }),
  }
}

/** The field as the client selects it, with other selections, under its response key. */
export function selectAs(
  { key, nodes: [node] }: Pick<RoutedField, 'key' | 'nodes'>,
  selections: readonly SelectionNode[],
  replaced: Readonly<Record<string, ValueNode | undefined>> = {},
): FieldNode {
  const kept = (node?.arguments ?? []).filter(({ name }) => !Object.hasOwn(replaced, name.value))
  const others = Object.entries(replaced).flatMap(([name, value]): ArgumentNode[] =>
    value === undefined ? [] : [{ kind: NodeKind.ARGUMENT, name: nameNode(name), value }],
  )
  const args = [...kept, ...others]
  return select(node?.name.value ?? '', { alias: key, selections, arguments: args })
}

/** The fields of a text without braces. */
export function selectionsIn(text: string): readonly SelectionNode[] {
  const [definition] = parse(`{${text}}`, { noLocation: true }).definitions
  if (definition?.kind !== NodeKind.OPERATION_DEFINITION) throw new TypeError(text)
  return definition.selectionSet.selections
}

/** The error of a field that cannot be merged. */
export function notMerged({ name }: GraphQLObjectType, field: string): ClientError {
  const coordinate = `${name}.${field}`
  const message = `${coordinate} is not answered over clusters of several gateways`
  const hint = 'name clusters of one gateway: gatewayClusters { name holder } says which it holds'
  return new ClientError('UNSUPPORTED', message, { value: coordinate, hint })
}

/** All fields of a type of the gateway's own whose fields take no arguments, without objects of Kubernetes. */
export function allOf(type: GraphQLOutputType): readonly SelectionNode[] | undefined {
  const named = getNamedType(type)
  if (!isObjectType(named)) return undefined
  return Object.values(named.getFields())
    .filter((field) => !isInterfaceType(getNamedType(field.type)))
    .map((field) => select(field.name, { selections: allOf(field.type) }))
}

/** Errors without those that say the same. */
export function distinctErrors(
  errors: Iterable<GraphQLFormattedError>,
): readonly GraphQLFormattedError[] {
  const byText = new Map<string, GraphQLFormattedError>()
  for (const error of errors) {
    const text = JSON.stringify(error)
    if (!byText.has(text)) byText.set(text, error)
  }
  return [...byText.values()]
}

/**
 * The value of a field that some holder could not answer at all; `undefined` if all have. As in one process, it has the error of the
 * first cluster that has one.
 */
export function failedOf(
  { key, clusters = [] }: Pick<RoutedField, 'key' | 'clusters'>,
  parts: readonly FieldPart[],
): Merged | undefined {
  const failed = parts.filter(({ value }) => value === null || value === undefined)
  if (failed.length === 0) return undefined
  const [first] = inOrderOfClusters(
    failed.flatMap((part) => part.errors),
    clusters,
  )
  return { value: null, errors: first === undefined ? [] : [{ ...first, path: [key] }] }
}

/** Errors by their clusters, in the order of these; those of no cluster come last. */
export function inOrderOfClusters(
  errors: readonly GraphQLFormattedError[],
  clusters: readonly string[],
): readonly GraphQLFormattedError[] {
  const placeOf = ({ extensions }: GraphQLFormattedError): number => {
    const place = clusters.indexOf(String(extensions?.['cluster']))
    return place < 0 ? clusters.length : place
  }
  return errors.toSorted((a, b) => placeOf(a) - placeOf(b))
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}
