/*
 * The writes of a mutation operation, one after the other, in the order of the document, before the answer is read. First
 * all mutations are counted and their manifests read. Then each becomes steps, one for each object, and each step is made
 * and reported (`#outcome`). A failed write is the error of its field; the later ones are still made (GraphQL's serial
 * execution).
 */

import {
  type FieldNode,
  getArgumentValues,
  type GraphQLObjectType,
  type ValidatedExecutionArgs,
} from 'graphql'
import type { MutationSource } from '../answer/execution.ts'
import type { QueryOrigin } from '../answer/planned-queries.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { ClientError } from '../errors/client-error.ts'
import { fieldCollector } from '../plan/plan-compiler.ts'
import { mutated } from '../extensions/extension-calls.ts'
import type { HeldBytes } from '../prepare/user-shares.ts'
import { within } from '../prepare/operation-trace.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import { type ExtensionField, fieldSourceOf } from '../schema/field-source.ts'
import type { WriteResults } from '../plan/plan-run.ts'
import { clusterNamed } from '../prepare/kind-view.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { OperationObserver } from '../answer/operation-observer.ts'
import { CallerWriter, nameOf, placeOfId, reported } from './caller-writer.ts'
import type { WritePlace } from './write-errors.ts'
import { ManifestReader, placeOfDocument, titleOf } from './manifests.ts'
import {
  type ActionArguments,
  type ObjectAction,
  objectActions,
  patchObject,
  runNow,
  validationOf,
} from './object-actions.ts'
import { OperationBytes, type WriteLimits, type WriteQuota } from './write-limits.ts'
import { failedPayload, type WritePayload } from './write-payload.ts'

export interface MutationsOptions {
  readonly limits: OperationLimits
  readonly writes: WriteLimits
  readonly quota: WriteQuota
  readonly held: HeldBytes
  readonly secretData: boolean
  readonly observer?: OperationObserver | undefined
}

type WriteArguments = ActionArguments & {
  readonly id?: string
  readonly manifest?: unknown
  readonly cluster?: string | null
  readonly force?: boolean | null
  readonly namespace?: string | null
}

interface Making {
  readonly served: ServedSchema
  readonly origin: QueryOrigin
  readonly writer: CallerWriter
  readonly manifests: ManifestReader
  readonly operationName: string | undefined
}

/** One write, whose arguments are checked. */
interface Step {
  readonly place: WritePlace
  readonly make: (writer: CallerWriter) => Promise<WritePayload>
}

export class Mutations implements MutationSource {
  readonly #options: MutationsOptions

  constructor(options: MutationsOptions) {
    this.#options = options
  }

  async write(
    served: ServedSchema,
    args: ValidatedExecutionArgs,
    origin: QueryOrigin & { readonly beganMs?: number | undefined },
    secretsRead: Set<string>,
  ): Promise<WriteResults> {
    const { limits, writes, secretData } = this.#options
    const { viewer, beganMs = performance.now() } = origin
    const fields = fieldsIn(args)
    this.#checkCount(fields.length)
    const access = viewer && new ViewerAccess(served, viewer)
    const endsAtMs = beganMs + limits.operationDeadlineMs
    const secrets = secretData ? secretsRead : undefined
    using holding = new DisposableStack()
    const held = holding.use(new OperationBytes(this.#options.held, viewer))
    const writing = { served, caller: origin, access, limits: writes, endsAtMs, secrets, held }
    await using writer = new CallerWriter(writing)
    const operationName = args.operation.name?.value
    const manifests = new ManifestReader(writes, viewer)
    const making = { served, origin, writer, manifests, operationName }
    // Before anything is written, each mutation counts, even one that comes to nothing, and its manifest is read. Nothing
    // is parsed for a caller without a token for the cluster.
    const read = new Map<RootField, readonly Unstructured[] | Error>()
    let count = 0
    for (const field of fields) {
      const { name, values, extension } = field
      let documents: readonly Unstructured[] | Error = []
      if (!(values instanceof Error) && extension === undefined) {
        documents = await this.#attempted(name, values, making, undefined, async () => {
          writer.requireTime()
          this.#options.quota.take(viewer)
          if (name !== 'apply' && name !== 'create') return []
          writer.reach(clusterNamed(served, values.cluster))
          return await manifests.documentsOf(values.manifest, 'manifest')
        })
      }
      read.set(field, documents)
      count += documents instanceof Error ? 1 : Math.max(1, documents.length)
    }
    this.#checkCount(count)
    const outcomes = new Map<string, unknown>()
    for (const [field, documents] of read) {
      const { key, name, nodes, values, extension } = field
      if (values instanceof Error) outcomes.set(key, values)
      else if (documents instanceof Error) outcomes.set(key, documents)
      else if (extension === undefined) {
        outcomes.set(key, await this.#outcome(name, values, documents, making))
      } else {
        // The resolver's call counts and is reported like a write.
        const resolve = async (): Promise<unknown> => {
          this.#options.quota.take(viewer)
          const { callerToken } = origin
          const caller = { served, limits, viewer, callerToken }
          return await mutated(caller, extension, { ...values }, { nodes, endsAtMs })
        }
        const outcome = await this.#attempted(name, values, making, undefined, resolve, () => ({}))
        outcomes.set(key, outcome)
      }
    }
    const kept = holding.move()
    return {
      [Symbol.dispose]: () => kept.dispose(),
      result(key, isToldAsData) {
        const outcome = outcomes.get(key)
        if (isToldAsData) {
          const { name, values } = fields.find((field) => field.key === key) ?? {}
          const isDryRun = !(values instanceof Error) && values?.dryRun === true
          const told = (one: unknown): unknown =>
            one instanceof Error ? failedPayload(one, isDryRun) : one
          // An apply whose manifest cannot be read has one payload.
          return name === 'apply' ? [outcome].flat().map(told) : told(outcome)
        }
        if (outcome instanceof Error) throw outcome
        return outcome
      },
    }
  }

  /** Makes a part of a mutation. A failure is reported, and is its outcome. `told`: as in `reported`. */
  async #attempted<T>(
    mutation: string,
    { dryRun }: WriteArguments,
    { origin, operationName }: Making,
    place: WritePlace | undefined,
    part: () => Promise<T>,
    told: Parameters<typeof reported<T>>[2] = () => undefined,
  ): Promise<T | Error> {
    const { observer } = this.#options
    const write = { mutation, operationName, dryRun: dryRun === true }
    try {
      return await reported({ ...write, observer, origin, place }, part, told)
    } catch (error) {
      return asError(error)
    }
  }

  #checkCount(count: number): void {
    const { maxWrites } = this.#options.writes
    if (count <= maxWrites) return
    const message = `the operation has ${count} writes, and at most ${maxWrites} are made`
    const hint = 'use several operations; nothing was written'
    throw new ClientError('BAD_USER_INPUT', message, { value: count, hint })
  }

  /** Makes the writes of one mutation, one after the other, and reports each. */
  async #outcome(
    name: string,
    args: WriteArguments,
    documents: readonly Unstructured[],
    making: Making,
  ): Promise<WritePayload | Error | readonly (WritePayload | Error)[]> {
    const { served, origin, writer } = making
    const stepsOf = async (): Promise<readonly (Step | Error)[]> => {
      if (name === 'create') return [createStep(args, documents, served)]
      if (name !== 'apply') {
        const place = await placeOfId(args.id ?? '', served, this.#options.limits, origin)
        return [{ place, make: () => acted(name, writer, place, args, making) }]
      }
      const cluster = clusterNamed(served, args.cluster)
      return documents.map((document) => {
        try {
          return applyStep(document, cluster, args, served)
        } catch (error) {
          return asError(error)
        }
      })
    }
    const steps = await this.#attempted(name, args, making, undefined, stepsOf)
    if (steps instanceof Error) return steps
    const outcomes: (WritePayload | Error)[] = []
    for (const [at, step] of steps.entries()) {
      const to = step instanceof Error ? undefined : step.place
      const make = async (): Promise<WritePayload> => {
        // Each write after the first of its mutation counts for the quota, too.
        if (at > 0) this.#options.quota.take(origin.viewer)
        if (step instanceof Error) throw step
        const { place } = step
        const details = { cluster: place.cluster, type: place.kind.typeName, mutation: name }
        return await within(origin.trace, 'write', details, () => step.make(writer))
      }
      outcomes.push(await this.#attempted(name, args, making, to, make, (made) => made))
    }
    const [first] = outcomes
    return name === 'apply' || first === undefined ? outcomes : first
  }
}

function applyStep(
  document: Unstructured,
  cluster: string,
  args: WriteArguments,
  served: ServedSchema,
): Step {
  const { version, ...place } = placeOfDocument(served, cluster, document, args)
  if (place.name === undefined) {
    const message = `${titleOf(document)} has no name, which apply needs`
    const hint = 'write metadata.name, or use create'
    throw new ClientError('BAD_USER_INPUT', message, { argument: 'manifest', hint })
  }
  const resource = { ...place.kind.resource, version }
  const { resourceVersion, uid } = document.metadata
  const object = { ...document, metadata: { ...document.metadata, ...nameOf(place) } }
  const wishes = { ...args, resourceVersion }
  const applied = {
    resource,
    object,
    force: args.force === true,
    fieldValidation: validationOf(args),
  }
  return { place, make: (writer) => writer.apply({ ...place, uid }, wishes, applied) }
}

function createStep(
  args: WriteArguments,
  [document, ...further]: readonly Unstructured[],
  served: ServedSchema,
): Step {
  const cluster = clusterNamed(served, args.cluster)
  if (document === undefined || further.length > 0) {
    const message = `manifest: create takes one document, and this has ${further.length + 1}`
    const hint = 'use apply for several; nothing was written'
    throw new ClientError('BAD_USER_INPUT', message, { argument: 'manifest', hint })
  }
  const { resourceVersion } = document.metadata
  if (resourceVersion) {
    const message = 'manifest: a new object has no metadata.resourceVersion yet'
    const hint = 'leave it out, or use apply; nothing was written'
    const details = { argument: 'manifest', value: resourceVersion, hint }
    throw new ClientError('BAD_USER_INPUT', message, details)
  }
  const { version, ...place } = placeOfDocument(served, cluster, document, args)
  const resource = { ...place.kind.resource, version }
  const { namespace } = place
  const metadata = { ...document.metadata, ...(namespace === '' ? {} : { namespace }) }
  const fieldValidation = validationOf(args)
  return {
    place,
    make: (writer) =>
      writer.write(place, { verb: 'create' }, args, {
        resource,
        before: null,
        send: ({ client }, options) =>
          client.create({ ...document, metadata }, { ...options, fieldValidation }),
      }),
  }
}

async function acted(
  name: string,
  writer: CallerWriter,
  place: WritePlace,
  args: WriteArguments,
  { served, manifests }: Making,
): Promise<WritePayload> {
  if (name === 'runNow') {
    const jobs = served.kindOf('batch', 'Job')
    if (jobs === undefined) throw new TypeError('a cluster with CronJobs has Jobs')
    return await runNow(writer, place, jobs, args)
  }
  if (name === 'patch') return await patchObject(writer, place, args, manifests)
  const actions: Readonly<Record<string, ObjectAction>> = objectActions
  const action = actions[name]
  if (action === undefined) throw new TypeError(`there is no mutation ${name}`)
  return await action(writer, place, args)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

interface RootField {
  readonly key: string
  readonly name: string
  /** The coerced arguments, or why they cannot be coerced. */
  readonly values: WriteArguments | Error
  readonly nodes: readonly FieldNode[]
  /** Absent: a write of the gateway. */
  readonly extension: ExtensionField | undefined
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
  const collect = fieldCollector(document, variableValues)
  return [...collect([operation.selectionSet], [type.name])].flatMap(([key, nodes]) => {
    const [node] = nodes
    const field = node && fields[node.name.value]
    if (node === undefined || field === undefined) return []
    const source = fieldSourceOf(field)
    const extension = source.form === 'extension' ? source.field : undefined
    let values: WriteArguments | Error
    try {
      values = getArgumentValues(field, node, variableValues)
    } catch (error) {
      values = asError(error)
    }
    return [{ key, name: field.name, values, nodes, extension }]
  })
}
