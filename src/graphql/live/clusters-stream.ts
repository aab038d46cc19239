import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind as NodeKind,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
  visit,
} from 'graphql'
import { FrameStream } from '../../lib/frame-stream.ts'
import { fragmentsOf } from '../documents/document-fragments.ts'
import { ClientError } from '../errors/client-error.ts'
import type { FleetChanges } from '../served/served-schema.ts'

export interface ClustersStreamOptions {
  readonly fleet: FleetChanges
  readonly coalesceMs: number
  /** The answer to the query of {@link clustersQuery}; `undefined` if there is none in time. Never rejects. */
  readonly read: () => Promise<string | undefined>
}

/**
 * A subscription to `gatewayClusters`: the answer to the same query, and again after changes of the clusters if it is
 * another one. A slow subscriber gets the last answer only.
 */
export class ClustersStream extends FrameStream {
  readonly #options: ClustersStreamOptions
  readonly #forget: () => void
  /** The answer that was sent last, or waits to be. */
  #last: string | undefined
  #frame: Buffer | undefined
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  /** Whether there was a change since the running read began. */
  #isDue = false

  /** Rejects with a `ClientError` if the query cannot be answered. */
  static async open(options: ClustersStreamOptions): Promise<ClustersStream> {
    // Listens before it reads, so that no change is missed.
    const stream = new ClustersStream(options)
    await stream.#read()
    if (stream.isClosed) throw notAnswered()
    return stream
  }

  private constructor(options: ClustersStreamOptions) {
    super()
    this.#options = options
    this.#forget = options.fleet.onChanged(() => this.#changed())
  }

  take(): Buffer | undefined {
    const frame = this.#frame
    this.#frame = undefined
    return frame
  }

  protected leave(): void {
    this.#forget()
    clearTimeout(this.#timer)
    this.#frame = undefined
  }

  #changed(): void {
    this.#isDue = true
    if (this.#isReading) return
    this.#timer ??= setTimeout(() => void this.#read(), this.#options.coalesceMs)
  }

  async #read(): Promise<void> {
    this.#timer = undefined
    this.#isDue = false
    this.#isReading = true
    const text = await this.#options.read()
    this.#isReading = false
    if (this.isClosed) return
    if (text === undefined) {
      this.finish({ form: 'failed', errors: [notAnswered()] })
      this.announce()
      this.close()
      return
    }
    if (text !== this.#last) {
      this.#last = text
      this.#frame = Buffer.from(text)
      this.announce()
    }
    if (this.#isDue) this.#changed()
  }
}

function notAnswered(): ClientError {
  return new ClientError('UNSUPPORTED', 'subscriptions do not cover this selection of clusters', {
    hint: 'read it by a query',
  })
}

/** A subscription to `gatewayClusters`, as its document has it. */
export interface SubscribedClusters {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** The fields of its response key. */
  readonly nodes: readonly FieldNode[]
}

/** The query with the selection of a subscription: `{ gatewayClusters { … } }`. */
export function clustersQuery({ document, operation, nodes }: SubscribedClusters): string {
  const [node] = nodes
  if (node === undefined) throw new TypeError('a subscription has a field')
  const selections = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
  const field: FieldNode = {
    ...node,
    arguments: [],
    directives: [],
    selectionSet: { kind: NodeKind.SELECTION_SET, selections },
  }
  const { fragments, variables } = usedIn(field, fragmentsOf(document))
  const query: OperationDefinitionNode = {
    kind: NodeKind.OPERATION_DEFINITION,
    operation: OperationTypeNode.QUERY,
    variableDefinitions: (operation.variableDefinitions ?? []).filter(({ variable }) =>
      variables.has(variable.name.value),
    ),
    selectionSet: { kind: NodeKind.SELECTION_SET, selections: [field] },
  }
  return print({ kind: NodeKind.DOCUMENT, definitions: [query, ...fragments] })
}

/** The fragments and the variables that a field uses, by itself and by its fragments. */
function usedIn(
  field: FieldNode,
  known: ReadonlyMap<string, FragmentDefinitionNode>,
): { readonly fragments: ReadonlySet<FragmentDefinitionNode>; readonly variables: Set<string> } {
  const fragments = new Set<FragmentDefinitionNode>()
  const variables = new Set<string>()
  const look = (node: FieldNode | FragmentDefinitionNode): void => {
    visit(node, {
      Variable({ name }) {
        variables.add(name.value)
      },
      FragmentSpread({ name }) {
        const fragment = known.get(name.value)
        if (fragment === undefined || fragments.has(fragment)) return
        fragments.add(fragment)
        look(fragment)
      },
    })
  }
  look(field)
  return { fragments, variables }
}
