import {
  type FieldNode,
  getArgumentValues,
  type GraphQLObjectType,
  type ValidatedExecutionArgs,
} from 'graphql'
import type { MutationSource } from '../answer/execution.ts'
import type { QueryOrigin } from '../answer/planned-queries.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { clientErrorOf, ClientError } from '../errors/client-error.ts'
import { fragmentsOf } from '../documents/document-fragments.ts'
import { collectFields } from '../plan/collected-fields.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import type { WritePayload, WriteResults } from '../schema/read-context.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { OperationObserver } from '../answer/operation-observer.ts'
import { CallerWriter, nameOf } from './caller-writer.ts'
import type { WritePlace } from './write-errors.ts'
import { placeOfId } from './identified-place.ts'
import { documentsOf, placeOfDocument, titleOf } from './manifests.ts'
import { type ActionArguments, objectActions, runNow, validationOf } from './object-actions.ts'
import type { WriteLimits, WriteQuota } from './write-limits.ts'

export interface MutationsOptions {
  readonly limits: OperationLimits
  readonly writes: WriteLimits
  readonly quota: WriteQuota
  readonly secretData: boolean
  readonly observer?: OperationObserver | undefined
}

type Outcome = WritePayload | Error | readonly (WritePayload | Error)[]

type WriteArguments = ActionArguments & {
  readonly id?: string
  readonly manifest?: unknown
  readonly cluster?: string | null
  readonly force?: boolean | null
  readonly namespace?: string | null
}

/** What one mutation is made with. */
interface Making {
  readonly served: ServedSchema
  readonly origin: QueryOrigin
  readonly writer: CallerWriter
  readonly operationName: string | undefined
}

/**
 * Makes the writes of mutations: one after the other, in the order of the document, before the answer is read. A write
 * that fails is the error of its field; those after it are made all the same (GraphQL's serial execution).
 */
export class Mutations implements MutationSource {
  readonly #options: MutationsOptions

  constructor(options: MutationsOptions) {
    this.#options = options
  }

  async write(
    served: ServedSchema,
    args: ValidatedExecutionArgs,
    origin: QueryOrigin & { readonly beganMs?: number | undefined },
  ): Promise<WriteResults> {
    const { limits, writes, secretData } = this.#options
    const { viewer, beganMs = performance.now() } = origin
    const fields = fieldsIn(args)
    if (fields.length > writes.maxWrites) {
      const message = `the operation has ${fields.length} writes, and at most ${writes.maxWrites} are made`
      const hint = 'use several operations; nothing was written'
      throw new ClientError('BAD_USER_INPUT', message, { value: fields.length, hint })
    }
    const access = viewer && new ViewerAccess(served, viewer)
    const endsAtMs = beganMs + limits.operationDeadlineMs
    const writing = { served, caller: origin, access, limits: writes, endsAtMs, secretData }
    await using writer = new CallerWriter(writing)
    const operationName = args.operation.name?.value
    const outcomes = new Map<string, Outcome>()
    for (const { key, name, values } of fields) {
      const making = { served, origin, writer, operationName }
      outcomes.set(key, await this.#outcome(name, values, making))
    }
    return {
      result(key) {
        const outcome = outcomes.get(key)
        if (outcome === undefined) throw new TypeError(`no write was made for ${key}`)
        if (outcome instanceof Error) throw outcome
        return outcome
      },
    }
  }

  async #outcome(name: string, values: WriteArguments | Error, making: Making): Promise<Outcome> {
    if (values instanceof Error) return values
    try {
      if (name === 'apply') return await this.#apply(values, making)
      if (name === 'create') return await this.#create(values, making)
      return await this.#act(name, values, making)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async #apply(args: WriteArguments, making: Making): Promise<Outcome> {
    const { served } = making
    const cluster = clusterNamed(served, args.cluster)
    const documents = documentsOf(args.manifest, 'manifest', this.#options.writes)
    const outcomes: (WritePayload | Error)[] = []
    for (const document of documents) {
      outcomes.push(await this.#applyOne(document, cluster, args, making).catch(asError))
    }
    return outcomes
  }

  async #applyOne(
    document: Unstructured,
    cluster: string,
    args: WriteArguments,
    making: Making,
  ): Promise<WritePayload> {
    const { version, ...place } = placeOfDocument(making.served, cluster, document, args)
    if (place.name === undefined) throw needsName(document)
    const resource = { ...place.kind.resource, version }
    const { resourceVersion, uid } = document.metadata
    const metadata = { ...document.metadata, ...nameOf(place) }
    return await this.#made('apply', place, args, making, (writer) =>
      writer.apply(
        { ...place, uid },
        { ...args, resourceVersion },
        {
          resource,
          object: { ...document, metadata },
          force: args.force === true,
          fieldValidation: validationOf(args),
        },
      ),
    )
  }

  async #create(args: WriteArguments, making: Making): Promise<WritePayload> {
    const { served } = making
    const cluster = clusterNamed(served, args.cluster)
    const [document, ...further] = documentsOf(args.manifest, 'manifest', this.#options.writes)
    if (document === undefined || further.length > 0) {
      const message = `manifest: create takes one document, and this has ${further.length + 1}`
      const hint = 'apply takes several; nothing was written'
      throw new ClientError('BAD_USER_INPUT', message, { argument: 'manifest', hint })
    }
    const { version, ...place } = placeOfDocument(served, cluster, document, args)
    const resource = { ...place.kind.resource, version }
    const { namespace } = place
    const metadata = { ...document.metadata, ...(namespace === '' ? {} : { namespace }) }
    const fieldValidation = validationOf(args)
    return await this.#made('create', place, args, making, (writer) =>
      writer.write(place, { verb: 'create' }, args, {
        resource,
        before: null,
        send: ({ client }, options) =>
          client.create({ ...document, metadata }, { ...options, fieldValidation }),
      }),
    )
  }

  async #act(name: string, args: WriteArguments, making: Making): Promise<WritePayload> {
    const { served, origin } = making
    const place = await placeOfId(args.id ?? '', served, this.#options.limits, origin)
    return await this.#made(name, place, args, making, (writer) => {
      if (name === 'runNow') {
        const jobs = served.kindOf('batch', 'Job')
        if (jobs === undefined) throw new TypeError('a cluster with CronJobs has Jobs')
        return runNow(writer, place, jobs, args)
      }
      const action = objectActions[name]
      if (action === undefined) throw new TypeError(`there is no mutation ${name}`)
      return action(writer, place, args, this.#options.writes)
    })
  }

  /** Makes one write within the user's quota, and reports it. */
  async #made(
    mutation: string,
    place: WritePlace,
    { dryRun }: WriteArguments,
    { origin, writer, operationName }: Making,
    write: (writer: CallerWriter) => Promise<WritePayload>,
  ): Promise<WritePayload> {
    const { quota, observer } = this.#options
    const { viewer } = origin
    const startedMs = performance.now()
    let code = ''
    let waitedMs = 0
    try {
      quota.take(viewer)
      const payload = await write(writer)
      waitedMs = payload.waitedMs
      return payload
    } catch (error) {
      code = String(clientErrorOf(error).extensions['code'])
      throw error
    } finally {
      const { cluster, kind, namespace, name } = place
      observer?.wrote?.({
        mutation,
        operationName,
        viewer,
        cluster,
        type: kind.typeName,
        namespace,
        name: name ?? '',
        dryRun: dryRun === true,
        code,
        durationMs: performance.now() - startedMs,
        waitedMs,
      })
    }
  }
}

function needsName(document: Unstructured): ClientError {
  const message = `${titleOf(document)} has no name, which apply needs`
  const hint = 'write metadata.name, or create it'
  return new ClientError('BAD_USER_INPUT', message, { argument: 'manifest', hint })
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

interface RootField {
  readonly key: string
  readonly name: string
  /** The coerced arguments, or why they cannot be coerced. */
  readonly values: WriteArguments | Error
}

/** The selected mutations, in the order of the document. */
function fieldsIn({
  schema,
  document,
  operation,
  variableValues,
}: ValidatedExecutionArgs): readonly RootField[] {
  const type = schema.getMutationType() as GraphQLObjectType
  const fields = type.getFields()
  const flags = new Map(
    Object.entries(variableValues.coerced).map(([name, value]) => [name, value === true]),
  )
  const collected = collectFields([operation.selectionSet], new Set([type.name]), {
    fragments: fragmentsOf(document),
    flags,
    grown: () => {},
  })
  return [...collected].flatMap(([key, [node]]) => {
    const field = node && fields[node.name.value]
    if (node === undefined || field === undefined) return []
    return [{ key, name: field.name, values: coerced(field, node, variableValues) }]
  })
}

function coerced(
  field: Parameters<typeof getArgumentValues>[0],
  node: FieldNode,
  variables: ValidatedExecutionArgs['variableValues'],
): WriteArguments | Error {
  try {
    return getArgumentValues(field, node, variables)
  } catch (error) {
    return asError(error)
  }
}
