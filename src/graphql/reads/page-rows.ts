/*
 * Refuses an operation before it reads anything if the page sizes along one of its paths multiply to too many rows. The
 * search goes through the selections once for each type, and keeps the path with the most rows. A connection without
 * selected rows does not count. A size in an unknown variable counts as the largest.
 */

import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getOperationAST,
  GraphQLError,
  type GraphQLField,
  isInterfaceType,
  isObjectType,
  Kind as NodeKind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableValues,
} from 'graphql'
import { defaultPageSize } from '../../query/page/page.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import { ClientError, clientErrorOf } from '../errors/client-error.ts'
import { type FieldsType, fragmentsOf, isIncluded, narrowedType } from '../documents/selections.ts'
import { defaultProblemObjects } from './over-kinds/problems-read.ts'
import { graphBounds } from './graph/graph-request.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

export interface PagesRequest {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  /** Coerced variables. `undefined`: not known yet, so each size counts as the largest possible. */
  readonly variables: VariableValues | undefined
}

type PageLimits = Pick<OperationLimits, 'maxPageSize' | 'maxPathRows'>

interface PageStep {
  readonly node: FieldNode
  readonly size: number
  /** The argument that sets the size, or could set it. */
  readonly argument: 'first' | 'last' | 'ids' | 'representations' | 'maxNodes'
}

/** The nested lists whose page sizes multiply to the most rows. */
interface PagePath {
  readonly rows: number
  readonly steps: readonly PageStep[]
  /** Whether the selection has rows of its connection, not only facts about the list. */
  readonly answersRows: boolean
}

const oneObject: PagePath = { rows: 1, steps: [], answersRows: false }

/**
 * The error of an operation with more rows than `maxPathRows` along one path. A list without a size has its default size,
 * and a relation to one object counts as one. Returns `undefined` for an operation within the limit or one that cannot be
 * executed.
 */
export function checkPageSizes(
  served: ServedSchema,
  limits: PageLimits,
  request: PagesRequest,
): GraphQLError | undefined {
  const operation = getOperationAST(request.document, request.operationName)
  const root = operation && served.schema.getRootType(operation.operation)
  if (operation === null || operation === undefined || !isObjectType(root)) return undefined
  const search = pageSearch(served, request, limits.maxPageSize)
  const { rows, steps } = search(operation.selectionSet, root)
  const limit = limits.maxPathRows
  if (rows <= limit) return undefined
  // Among equals, picks the innermost list: a smaller page there costs the reader least.
  const largest = steps.reduce((most, step) => (step.size >= most.size ? step : most))
  const place = steps.map(({ node }) => keyOf(node)).join('.')
  const sizes = steps.map(({ size }) => size).join(' x ')
  const message = `${place}: pages of ${sizes} make ${rows} objects, and at most ${limit} are answered`
  const { node, argument, size } = largest
  const isGiven = node.arguments?.some((one) => one.name.value === argument) === true
  const given = isGiven ? '' : ' unless given'
  const hint = `ask for a smaller \`${argument}\` of ${keyOf(node)}, which is ${size}${given}, or in several queries`
  const originalError = new ClientError('QUERY_TOO_COSTLY', message, {
    argument,
    value: rows,
    hint,
  })
  return clientErrorOf(new GraphQLError(message, { nodes: [node], originalError }))
}

function pageSearch(
  served: ServedSchema,
  { document, variables }: PagesRequest,
  maxPageSize: number,
): (set: SelectionSetNode, type: FieldsType) => PagePath {
  const fragments = fragmentsOf(document)
  /** Searches each selection once for a type, however many fragments lead to it. */
  const found = new Map<SelectionSetNode, Map<string, PagePath>>()
  /** Keeps selections that depend on an unknown variable. */
  const flag = (name: string): boolean | undefined => variables && variables.coerced[name] === true

  function pathOf(set: SelectionSetNode, type: FieldsType): PagePath {
    const ofSet = found.get(set) ?? new Map<string, PagePath>()
    const known = ofSet.get(type.name)
    if (known !== undefined) return known
    let path = oneObject
    for (const selection of set.selections) {
      if (!isIncluded(selection, flag)) continue
      const other = selectionPath(selection, type)
      const more = other.rows > path.rows ? other : path
      path = { ...more, answersRows: path.answersRows || other.answersRows }
    }
    found.set(set, ofSet.set(type.name, path))
    return path
  }

  function selectionPath(selection: SelectionNode, type: FieldsType): PagePath {
    if (selection.kind === NodeKind.FIELD) {
      const field = type.getFields()[selection.name.value]
      return field === undefined ? oneObject : fieldPath(selection, field)
    }
    const fragment =
      selection.kind === NodeKind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    if (fragment === undefined) return oneObject
    const inner = narrowedType(served.schema, type, fragment.typeCondition?.name.value)
    return inner === undefined ? oneObject : pathOf(fragment.selectionSet, inner)
  }

  function fieldPath(node: FieldNode, field: GraphQLField<unknown, unknown>): PagePath {
    const named = getNamedType(field.type)
    // `_Entity` is the union of all kinds, whose objects have the interface.
    const type = named.name === '_Entity' ? served.schema.getType('KubernetesObject') : named
    if (node.selectionSet === undefined || !(isObjectType(type) || isInterfaceType(type))) {
      return oneObject
    }
    const inner = pathOf(node.selectionSet, type)
    const source = type.name.startsWith('__') ? undefined : fieldSourceOf(field)
    /** The size that an argument of an own field gives. */
    const sized = (argument: 'first' | 'maxNodes', byDefault: number, most: number): PageStep => {
      const given = valueOf(argumentNode(node, argument)) ?? byDefault
      return { node, size: Math.min(typeof given === 'number' ? given : most, most), argument }
    }
    switch (source?.form) {
      case 'connection':
        return { ...inner, answersRows: source.part === 'nodes' || source.part === 'edges' }
      case 'graphNode':
        return { ...inner, answersRows: source.part === 'object' }
      case 'problem':
        if (source.part === 'changesBefore') return within(sized('first', 5, maxPageSize), inner)
        if (source.part !== 'objects') return inner
        return within(sized('first', defaultProblemObjects, maxPageSize), inner)
      case 'graph':
        return inner
      case 'objectsByIds':
      case 'objectsFrames':
        return within(listStep(node, 'ids'), inner)
      case 'entities':
        return within(listStep(node, 'representations'), inner)
      case 'livePages':
      case 'objectListPages':
      case 'problemFrames':
      case 'changeFrames':
      case 'kubernetesObjectsPages':
        return within(pageStep(node), inner)
      case 'aroundObjects':
        if (!inner.answersRows) return inner
        return within(sized('maxNodes', graphBounds.nodes, graphBounds.maxNodes), inner)
      default:
        return inner.answersRows ? within(pageStep(node), inner) : inner
    }
  }

  /** A field with an object for each value of an argument. */
  function listStep(node: FieldNode, argument: 'ids' | 'representations'): PageStep {
    return { node, size: lengthOf(argumentNode(node, argument)) ?? maxPageSize, argument }
  }

  function pageStep(node: FieldNode): PageStep {
    const argument = argumentNode(node, 'last') === undefined ? 'first' : 'last'
    const given = ['first', 'last'].map((name) => valueOf(argumentNode(node, name)) ?? undefined)
    const asked = given.find((value) => value !== undefined)
    let size = Math.min(defaultPageSize, maxPageSize)
    if (asked === unknownValue) size = maxPageSize
    // The field itself refuses a wrong size.
    else if (typeof asked === 'number') size = asked >= 0 && asked <= maxPageSize ? asked : 0
    else if (asked !== undefined) size = 0
    const ids = lengthOf(argumentNode(node, 'ids'))
    if (ids !== undefined && ids < size) return { node, size: ids, argument: 'ids' }
    return { node, size, argument }
  }

  /** The length of a list; `undefined` if it is absent or unknown. */
  function lengthOf(node: ValueNode | undefined): number | undefined {
    if (node?.kind === NodeKind.LIST) return node.values.length
    const value = valueOf(node)
    if (Array.isArray(value)) return value.length
    return typeof value === 'string' ? 1 : undefined
  }

  function valueOf(node: ValueNode | undefined): unknown {
    if (node?.kind === NodeKind.INT) return Number(node.value)
    if (node?.kind === NodeKind.STRING) return node.value
    if (node?.kind !== NodeKind.VARIABLE) return undefined
    return variables === undefined ? unknownValue : variables.coerced[node.name.value]
  }

  return pathOf
}

/** The path of a list, whose rows contain another path. */
function within(step: PageStep, { rows, steps }: PagePath): PagePath {
  // JSON has no infinity, and larger products make no difference.
  const product = Math.min(rows * step.size, Number.MAX_SAFE_INTEGER)
  return { rows: product, steps: [step, ...steps], answersRows: false }
}

/** The value of a variable before a request gives it. */
const unknownValue = Symbol('unknown')

function argumentNode(node: FieldNode, name: string): ValueNode | undefined {
  return node.arguments?.find((one) => one.name.value === name)?.value
}

function keyOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value
}
