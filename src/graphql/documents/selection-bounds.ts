import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLError,
  Kind as NodeKind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { shortened } from '../../lib/text.ts'
import { ClientError, clientErrorOf, requestError } from '../errors/client-error.ts'
import { fragmentsOf } from './document-fragments.ts'

/** The limits of one operation's selections. A fragment counts at each spread: a few lines can make millions. */
export interface SelectionLimits {
  /** Fields within fields. Readers recurse once per level, until the stack ends. */
  readonly maxDepth: number
  /** Fields. */
  readonly maxFields: number
  /** Fields with an alias. */
  readonly maxAliases: number
  /** Directives on selections. */
  readonly maxDirectives: number
}

/** The size of a selection, with its fragments. */
interface Extent {
  readonly depth: number
  readonly fields: number
  readonly aliases: number
  readonly directives: number
}

const nothing: Extent = { depth: 0, fields: 0, aliases: 0, directives: 0 }

/**
 * Throws a GraphQLError for a document that selects too much, or that spreads an unknown fragment or one that spreads
 * itself. Later readers of the document rely on this. Measures each fragment once, however often it is spread.
 */
export function checkSelections(document: DocumentNode, limits: SelectionLimits): void {
  const extents = new Extents(document)
  for (const definition of document.definitions) {
    if (!('selectionSet' in definition)) continue
    const { depth, fields, aliases, directives } = extents.of(definition.selectionSet)
    checkExtent('fields within fields', depth, limits.maxDepth)
    checkExtent('fields', fields, limits.maxFields)
    checkExtent('aliases', aliases, limits.maxAliases)
    const own = definition.directives?.length ?? 0
    checkExtent('directives', directives + own, limits.maxDirectives)
  }
}

class Extents {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** `undefined` while a fragment is being measured. */
  readonly #measured = new Map<string, Extent | undefined>()

  constructor(document: DocumentNode) {
    this.#fragments = fragmentsOf(document)
  }

  of(set: SelectionSetNode | undefined): Extent {
    let { depth, fields, aliases, directives } = nothing
    for (const selection of set?.selections ?? []) {
      const inner = this.#within(selection)
      const isField = selection.kind === NodeKind.FIELD
      depth = Math.max(depth, inner.depth + (isField ? 1 : 0))
      fields += inner.fields + (isField ? 1 : 0)
      aliases += inner.aliases + (isField && selection.alias !== undefined ? 1 : 0)
      directives += inner.directives + (selection.directives?.length ?? 0)
    }
    return { depth, fields, aliases, directives }
  }

  #within(selection: SelectionNode): Extent {
    if (selection.kind !== NodeKind.FRAGMENT_SPREAD) return this.of(selection.selectionSet)
    const name = selection.name.value
    const fragment = this.#fragments.get(name)
    if (fragment === undefined) throw spreadError(selection, 'is not in the document')
    if (!this.#measured.has(name)) {
      this.#measured.set(name, undefined)
      this.#measured.set(name, this.of(fragment.selectionSet))
    }
    const extent = this.#measured.get(name)
    if (extent === undefined) throw spreadError(selection, 'spreads itself')
    return extent
  }
}

function spreadError(spread: FragmentSpreadNode, problem: string): GraphQLError {
  const message = `the fragment ${shortened(spread.name.value)} ${problem}`
  return requestError(new GraphQLError(message, { nodes: [spread] }))
}

function checkExtent(what: string, amount: number, limit: number): void {
  if (amount <= limit) return
  const message = `the operation selects ${amount} ${what}, and at most ${limit} are answered`
  const details = { value: amount, hint: 'ask in several queries' }
  throw clientErrorOf(new ClientError('QUERY_TOO_COSTLY', message, details))
}
