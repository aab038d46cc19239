/*
 * One answer to a query over the clusters of several gateways. Each holder is asked for its clusters at once, this gateway by
 * its own plan, with the root fields that concern it. A root field about clusters of one holder is taken as it comes; the parts
 * of the others are merged (`merged-connection.ts`, `merged-roots.ts`).
 *
 * The clusters of a holder that does not answer are asked of this gateway's own plan, which says of each field what it lacks
 * without them, as it does of a cluster that cannot be reached. An operation that a holder refuses as a whole, because it
 * is wrong or too costly, is refused.
 */

import type { FieldNode, GraphQLFormattedError } from 'graphql'
import { parseHeld } from '../../informer/codec/projection.ts'
import { isRecord } from '../../lib/json.ts'
import {
  boundedFormatted,
  ClientError,
  type ClientErrorCode,
  frameErrors,
} from '../errors/client-error.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import { MergedConnection } from './merged-connection.ts'
import {
  type AskParts,
  type FieldPart,
  type Merged,
  type MergedField,
  MergeMeans,
} from './merged-field.ts'
import { MergedClusters, MergedCompletions, MergedItems, MergedLogs } from './merged-roots.ts'
import type { AskHolder, RoutedOperation } from './over-gateways.ts'
import type { PeerRequest } from './peers.ts'
import type { Holder, RoutedField } from './routes.ts'
import { rowOrderOf } from './row-order.ts'

/** The answer of a holder, or of this gateway for one that does not answer. */
interface HolderAnswer {
  readonly data: Readonly<Record<string, unknown>>
  readonly errors: readonly GraphQLFormattedError[]
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** Who is asked: a holder, or this gateway about no cluster in particular, for a field that any gateway answers. */
type Asked = Holder | typeof anywhere

const anywhere = Symbol('anywhere')

/** The JSON text of the answer. Rejects with `ClientError` and `QueryTooCostlyError` if the operation is refused as a whole. */
export async function mergedAnswer(operation: RoutedOperation, ask: AskHolder): Promise<string> {
  return await new Merge(operation, ask).text()
}

class Merge {
  readonly #operation: RoutedOperation
  readonly #ask: AskHolder
  readonly #means: MergeMeans
  /** Errors of no field. */
  readonly #errors: GraphQLFormattedError[] = []
  readonly #extensions = new Map<string, unknown[]>()
  /** The errors of a holder that refuses the operation as a whole. */
  #refusal: readonly GraphQLFormattedError[] | undefined

  constructor(operation: RoutedOperation, ask: AskHolder) {
    this.#operation = operation
    this.#ask = ask
    this.#means = new MergeMeans(operation)
  }

  async text(): Promise<string> {
    const { fields } = this.#operation
    const merges = await Promise.all(fields.map(async (field) => await this.#mergeOf(field)))
    const answers = await this.#answers(
      fields.flatMap((field, at) => {
        const merge = merges[at]
        if (merge instanceof ClientError) return []
        return [{ field, nodesOf: (holder) => merge?.asked(holder) ?? field.nodes }]
      }),
    )
    const values = await Promise.all(
      fields.map(async (field, at): Promise<Merged> => {
        const merge = merges[at]
        const parts = partsOf(field, answers)
        if (merge === undefined) return parts[0] ?? { value: null, errors: [] }
        return await unlessClientError(field, async () => {
          if (merge instanceof ClientError) throw merge
          return await merge.merged(parts, this.#askParts(field))
        })
      }),
    )
    if (this.#refusal !== undefined) return JSON.stringify({ errors: this.#refusal, data: null })
    const all = [...this.#errors, ...values.flatMap(({ errors }) => errors)]
    const errors = boundedFormatted(all)
    const data = Object.fromEntries(fields.map(({ key }, at) => [key, values[at]?.value ?? null]))
    const text = JSON.stringify({
      ...(errors.length > 0 && { errors }),
      data,
      ...(this.#extensions.size > 0 && { extensions: Object.fromEntries(this.#extensions) }),
    })
    this.#means.budget.spend('bytes', text.length)
    return text
  }

  /** How the parts of a field become one; `undefined` for a field that one gateway answers. Never rejects with `ClientError`. */
  async #mergeOf(field: RoutedField): Promise<MergedField | ClientError | undefined> {
    if (field.field === undefined || field.holders.size < 2) return undefined
    try {
      const merge = this.#mergedField(field, field.field)
      await merge.prepare?.(this.#askParts(field))
      return merge
    } catch (error) {
      if (error instanceof ClientError) return error
      throw error
    }
  }

  #mergedField(field: RoutedField, definition: NonNullable<RoutedField['field']>): MergedField {
    const means = this.#means
    const order = rowOrderOf(field, fieldSourceOf(definition).form, this.#operation.served)
    if (order !== undefined) return new MergedConnection(means, field, order)
    switch (definition.name) {
      case 'objects':
        return new MergedItems(means, field, 'ids')
      case '_entities':
        return new MergedItems(means, field, 'representations')
      case 'gatewayClusters':
        return new MergedClusters(means, field)
      case 'complete':
        return new MergedCompletions(means, field)
      case 'podLogs':
        return new MergedLogs(means, field)
      default: {
        const { name } = definition
        const message = `${name} is not answered over clusters of several gateways`
        const hint = 'ask about the clusters of each gateway by a field of its own: { a: … b: … }'
        throw new ClientError('UNSUPPORTED', message, { value: name, hint })
      }
    }
  }

  #askParts(field: RoutedField): AskParts {
    return async (nodesOf) => partsOf(field, await this.#answers([{ field, nodesOf }]))
  }

  /** Asks all holders at once, each for the nodes of its fields. */
  async #answers(
    fields: readonly {
      readonly field: RoutedField
      readonly nodesOf: (holder: Holder) => readonly FieldNode[] | undefined
    }[],
  ): Promise<ReadonlyMap<Asked, HolderAnswer>> {
    const questions = new Map<Asked, { clusters: Set<string>; nodes: FieldNode[] }>()
    for (const { field, nodesOf } of fields) {
      for (const [asked, clusters] of askedAbout(field)) {
        const nodes = nodesOf(asked === anywhere ? undefined : asked)
        if (nodes === undefined) continue
        const question = questions.get(asked) ?? { clusters: new Set(), nodes: [] }
        for (const cluster of clusters) question.clusters.add(cluster)
        question.nodes.push(...nodes)
        questions.set(asked, question)
      }
    }
    const answers = await Promise.all(
      Array.from(questions, async ([asked, { clusters, nodes }]) => {
        const request = this.#means.request(nodes)
        const answer =
          asked === anywhere
            ? await this.#answer(undefined, request)
            : await this.#answer(asked, { ...request, clusters: [...clusters] })
        return [asked, answer] as const
      }),
    )
    return new Map(answers)
  }

  async #answer(holder: Holder, request: PeerRequest): Promise<HolderAnswer> {
    let errors: readonly GraphQLFormattedError[]
    try {
      const answer = parseHeld(await this.#ask(holder, request)) as Partial<HolderAnswer>
      // Their locations are those of another document.
      errors = (answer.errors ?? []).map(({ message, path, extensions }) => ({
        message,
        ...(path && { path }),
        ...(extensions && { extensions }),
      }))
      if (isRecord(answer.data)) {
        for (const [name, value] of Object.entries(answer.extensions ?? {})) {
          if (!Array.isArray(value)) continue
          this.#extensions.set(name, [
            ...(this.#extensions.get(name) ?? []),
            ...(value as unknown[]),
          ])
        }
        this.#errors.push(...errors.filter(({ path }) => path === undefined))
        return { data: answer.data, errors }
      }
    } catch (error) {
      const message = `the answer of the gateway at ${holder} is broken`
      const isBroken = error instanceof SyntaxError && holder !== undefined
      const seen = isBroken ? new ClientError('CLUSTER_UNREACHABLE', message) : error
      if (!(seen instanceof ClientError)) throw error
      errors = withoutPaths([seen])
    }
    const isAway = errors.every(({ extensions }) => passing.has(String(extensions?.['code'])))
    if (holder !== undefined && isAway) return await this.#answer(undefined, request)
    this.#refusal ??= errors
    return { data: {}, errors: [] }
  }
}

/** The errors of an operation that is refused as a whole. */
function withoutPaths(errors: readonly ClientError[]): readonly GraphQLFormattedError[] {
  return frameErrors(errors, '').map(({ message, extensions }) => ({
    message,
    ...(extensions && { extensions }),
  }))
}

/** Codes of a holder that cannot answer at present, whatever it is asked. */
const passing: ReadonlySet<string> = new Set<ClientErrorCode>([
  'CLUSTER_UNREACHABLE',
  'DEADLINE_EXCEEDED',
  'IDENTITY_UNAVAILABLE',
  'AUDIT_UNAVAILABLE',
  'TOO_MANY_OPERATIONS',
  'UNAUTHENTICATED',
  'INTERNAL',
])

/** Who is asked for a field, each about some clusters. */
function askedAbout({ holders }: RoutedField): ReadonlyMap<Asked, readonly string[]> {
  return holders.size === 0 ? new Map([[anywhere, []]]) : holders
}

function partsOf(
  field: RoutedField,
  answers: ReadonlyMap<Asked, HolderAnswer>,
): readonly FieldPart[] {
  return Array.from(askedAbout(field).keys(), (asked): readonly FieldPart[] => {
    const answer = answers.get(asked)
    if (answer === undefined) return []
    const errors = answer.errors.filter(({ path }) => path?.[0] === field.key)
    const holder = asked === anywhere ? undefined : asked
    return [{ holder, value: answer.data[field.key], errors }]
  }).flat()
}

/** A `ClientError` is that of the field. */
async function unlessClientError(
  { key }: RoutedField,
  merged: () => Promise<Merged>,
): Promise<Merged> {
  try {
    return await merged()
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    return { value: null, errors: frameErrors([error], key) }
  }
}
