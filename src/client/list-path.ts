/**
 * Finds the list of a query: the field that selects `pageInfo`, from the root on, through fragments. Adapters of caches
 * need its place, the variable of its cursor, and the same query with the list and its parents alone.
 */

/** A node of a document, as far as it is known here. */
interface Node {
  readonly kind: string
  readonly name?: { readonly value: string } | undefined
  readonly alias?: { readonly value: string } | undefined
  readonly arguments?: readonly ArgumentNode[] | undefined
  readonly selectionSet?: { readonly selections: readonly Node[] } | undefined
}

interface ArgumentNode {
  readonly name: { readonly value: string }
  readonly value: ValueNode
}

interface ValueNode {
  readonly kind: string
  /** Of a variable. */
  readonly name?: { readonly value: string }
  readonly value?: unknown
  readonly values?: readonly ValueNode[]
  readonly fields?: readonly ArgumentNode[]
}

interface Operation extends Node {
  readonly variableDefinitions?: readonly {
    readonly variable: { readonly name: { readonly value: string } }
  }[]
}

/** A parsed document, of any library. */
export interface ParsedDocument {
  readonly kind: string
  readonly definitions: readonly object[]
}

type Values = Readonly<Record<string, unknown>>

/** Where the list of a query is. */
export interface ListPath {
  /** The response keys from the root to the list. */
  readonly keys: readonly string[]
  /** The list in an answer; `undefined` where it, or a part on the way to it, is missing. */
  readonly in: (answer: unknown) => unknown
  /** What has the list, in an answer. */
  readonly parent: (answer: unknown) => unknown
  /** The name of the list's field. */
  readonly field: string
  /** Its arguments. */
  readonly argumentsOf: (variables: Values) => Values
  /** The variable of its argument `after`. */
  readonly cursor: string
  /** The query with `__typename` of the list alone. */
  readonly bare: ParsedDocument
}

/** Where the list of a query is. Throws `TypeError` if it has none. */
export function listPathOf(document: ParsedDocument): ListPath {
  const definitions = document.definitions as readonly Node[]
  const operation = definitions.find(({ kind }) => kind === 'OperationDefinition')
  const fieldsOf = (node: Node): readonly Node[] =>
    (node.selectionSet?.selections ?? []).flatMap((selected) => {
      if (selected.kind === 'Field') return [selected]
      const isSpread = selected.kind === 'FragmentSpread'
      const fragment = isSpread
        ? definitions.find(
            ({ kind, name }) =>
              kind === 'FragmentDefinition' && name?.value === selected.name?.value,
          )
        : selected
      return fragment === undefined ? [] : fieldsOf(fragment)
    })
  const path = operation && pathFrom(operation, fieldsOf)
  const list = path?.at(-1)
  if (path === undefined || list === undefined || operation === undefined) {
    throw new TypeError(
      'the query has no list: its list must select pageInfo { hasNextPage endCursor }',
    )
  }
  const { value } = list.arguments?.find(({ name }) => name.value === 'after') ?? {}
  const keys = path.map((field) => (field.alias ?? field.name)?.value ?? '')
  return {
    keys,
    in: (answer) => keys.reduce(part, answer),
    parent: (answer) => keys.slice(0, -1).reduce(part, answer),
    field: list.name?.value ?? '',
    argumentsOf: (variables) =>
      Object.fromEntries(
        (list.arguments ?? []).map((one) => [one.name.value, valueOf(one.value, variables)]),
      ),
    cursor: value?.name?.value ?? 'after',
    bare: {
      kind: 'Document',
      definitions: [{ ...operation, selectionSet: within(path, [leaf('__typename')], fieldsOf) }],
    },
  }
}

function part(whole: unknown, key: string): unknown {
  return (whole as Values | null | undefined)?.[key]
}

function leaf(value: string): Node {
  return { kind: 'Field', name: { kind: 'Name', value } as Node['name'] }
}

/** The fields that lead to the nearest field with `pageInfo`. */
function pathFrom(
  root: Node,
  fieldsOf: (node: Node) => readonly Node[],
): readonly Node[] | undefined {
  const paths = fieldsOf(root).map((field) => [field])
  for (const path of paths) {
    const fields = fieldsOf(path.at(-1) as Node)
    if (fields.some(({ name }) => name?.value === 'pageInfo')) return path
    for (const field of fields) paths.push([...path, field])
  }
  return undefined
}

/** The selection of a path: of each parent its `id` and `__typename`, of the list `selections`. */
function within(
  [field, ...path]: readonly Node[],
  selections: readonly Node[],
  fieldsOf: (node: Node) => readonly Node[],
): NonNullable<Node['selectionSet']> {
  if (field === undefined) return { kind: 'SelectionSet', selections } as never
  const own =
    path.length === 0
      ? []
      : fieldsOf(field).filter(({ name, alias }) => alias === undefined && name?.value === 'id')
  const rest = within(path, selections, fieldsOf)
  const all = [...own, ...(path.length === 0 ? [] : [leaf('__typename')]), ...rest.selections]
  const next = { ...field, selectionSet: { ...rest, selections: all } }
  return { kind: 'SelectionSet', selections: [next] } as never
}

/** The variables that a document declares. */
export function declaredVariables(document: ParsedDocument, variables: Values): Values {
  const { variableDefinitions = [] } = (document.definitions as readonly Operation[]).find(
    ({ kind }) => kind === 'OperationDefinition',
  ) as Operation
  const names = new Set(variableDefinitions.map(({ variable }) => variable.name.value))
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.has(name)))
}

function valueOf(node: ValueNode, variables: Values): unknown {
  const { kind, name, value, values = [], fields = [] } = node
  if (kind === 'Variable') return variables[name?.value ?? '']
  if (kind === 'NullValue') return null
  if (kind === 'ListValue') return values.map((one) => valueOf(one, variables))
  if (kind === 'ObjectValue') {
    return Object.fromEntries(fields.map((one) => [one.name.value, valueOf(one.value, variables)]))
  }
  return kind === 'IntValue' || kind === 'FloatValue' ? Number(value) : value
}
