/*
 * The documents of a text on their way into clusters. A job is one document for one cluster, and has one outcome. First
 * each is tried without storing anything, some at a time. Then they are applied: in a cluster one after the other, in the
 * order of the text, as later ones may need earlier ones. A cluster that is lost gets no further ones.
 */

import { fieldsIn, isOwnConflict, refusalOf, type Written } from '../actions/write.ts'
import { ApplyDocumentDocument, CreateDocumentDocument } from '../gateway/documents.ts'
import { type AnswerError, type Gateway, GatewayError } from '../gateway/gateway.ts'
import { textAt } from '../object/json.ts'
import type { ManifestDocument } from './manifest-text.ts'

/** One document for one cluster. */
export interface Job {
  readonly key: string
  readonly document: ManifestDocument
  readonly cluster: string
  /** Takes over the fields of other managers. */
  readonly force: boolean
}

/** How far a job is, and what has become of it. */
export type Outcome =
  | { readonly at: 'waiting' | 'trying' | 'applying' }
  /** What an apply would do. */
  | { readonly at: 'tried'; readonly written: Written }
  /** Its namespace or kind is made by an earlier document, so it can be tried only then. */
  | { readonly at: 'later'; readonly needs: string }
  | { readonly at: 'refused'; readonly errors: readonly AnswerError[] }
  | { readonly at: 'applied'; readonly written: Written }
  /** Nothing was stored. */
  | { readonly at: 'failed'; readonly errors: readonly AnswerError[] }
  /** There was no answer: it may have been stored. */
  | { readonly at: 'unknown'; readonly errors: readonly AnswerError[] }
  /** It was not begun. */
  | { readonly at: 'left' }

/** What a run tells: jobs, and their outcomes by their keys. */
export interface Progress {
  readonly jobs: readonly Job[]
  readonly outcomes: ReadonlyMap<string, Outcome>
  /** `over`: something has been applied, or was tried to be. */
  readonly stage: 'trying' | 'reviewed' | 'applying' | 'over'
}

/** How many documents are tried at once. */
const atOnce = 4
/** How long steps are gathered before the page shows them. */
const tellMs = 50
/** How long a document waits for what an earlier one has made: the gateway learns of a new kind in a moment. */
const patienceMs = 20_000
const pauseMs = 1_000

/** Tries and applies documents, and tells of each step. */
export class ApplyRun {
  readonly #gateway: Gateway
  readonly #namespace: string | undefined
  readonly #told: (progress: Progress) => void
  #jobs: readonly Job[]
  #outcomes = new Map<string, Outcome>()
  #stage: Progress['stage'] = 'trying'
  readonly #ended = new AbortController()
  #isStopped = false
  #telling: ReturnType<typeof setTimeout> | undefined

  constructor(
    gateway: Gateway,
    {
      documents,
      clusters,
      namespace,
      told,
    }: {
      readonly documents: readonly ManifestDocument[]
      readonly clusters: readonly string[]
      /** Of documents that name none. */
      readonly namespace: string | undefined
      readonly told: (progress: Progress) => void
    },
  ) {
    this.#gateway = gateway
    this.#namespace = namespace
    this.#told = told
    this.#jobs = clusters.flatMap((cluster) =>
      documents.map((document) => ({
        key: `${cluster} ${document.number}`,
        document,
        cluster,
        force: false,
      })),
    )
    for (const { key } of this.#jobs) this.#outcomes.set(key, { at: 'waiting' })
  }

  /** Tries all documents. Resolves when the last outcome is told. */
  async review(): Promise<void> {
    this.#stage = 'trying'
    const rest = this.#jobs.values()
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (const job of rest) await this.#try(job)
      }),
    )
    this.#tell('reviewed')
  }

  /** Tries a document again; with `force`, taking over the fields of other managers. */
  async tryAgain(key: string, force: boolean): Promise<void> {
    this.#jobs = this.#jobs.map((job) => (job.key === key ? { ...job, force } : job))
    const job = this.#jobs.find((one) => one.key === key)
    if (job !== undefined) await this.#try(job)
  }

  /** Applies what passed its trial, or, afterwards, what is not applied yet. Resolves when the last outcome is told. */
  async apply(): Promise<void> {
    this.#isStopped = false
    const isAgain = this.#stage === 'over'
    const meant = this.#jobs.filter((job) => this.#isMeant(job, isAgain))
    for (const { key } of meant) this.#outcomes.set(key, { at: 'waiting' })
    this.#tell('applying')
    const chains = [...Map.groupBy(meant, ({ cluster }) => cluster).values()]
    await Promise.all(chains.map((chain) => this.#applyInOrder(chain)))
    this.#tell('over')
  }

  /** Begins no further document. */
  stop(): void {
    this.#isStopped = true
  }

  /** Forgets the run: nothing is told any more. What is on its way is not called back. */
  leave(): void {
    this.#isStopped = true
    this.#ended.abort()
  }

  #isMeant({ key, document }: Job, isAgain: boolean): boolean {
    const at = this.#outcomes.get(key)?.at ?? 'waiting'
    if (!isAgain) return at === 'tried' || at === 'later'
    // Who asks again for a name that the API server finds may get a second object.
    return ['failed', 'left'].includes(at) || (at === 'unknown' && document.isNamed)
  }

  async #try(job: Job): Promise<void> {
    if (this.#ended.signal.aborted) return
    this.#set(job, { at: 'trying' })
    try {
      const written = await this.#send(job, true)
      this.#set(job, { at: 'tried', written })
    } catch (error) {
      const errors = refusalOf(error as Error)
      const needs = neededBy(
        job.document,
        errors,
        this.#jobs.map(({ document }) => document),
      )
      // What this page has set by an action is another manager's for an apply, and no reason to ask.
      if (!job.force && isOwnConflict(errors)) await this.tryAgain(job.key, true)
      else this.#set(job, needs === undefined ? { at: 'refused', errors } : { at: 'later', needs })
    }
  }

  async #applyInOrder(chain: readonly Job[]): Promise<void> {
    let isLost = false
    for (const job of chain) {
      if (isLost || this.#isStopped) {
        this.#set(job, { at: 'left' })
        continue
      }
      this.#set(job, { at: 'applying' })
      try {
        const written = await this.#sendPatiently(job)
        this.#set(job, { at: 'applied', written })
      } catch (error) {
        const errors = refusalOf(error as Error)
        const isUnknown = isUnanswered(errors)
        isLost = isUnknown || errors.some(({ extensions }) => isLoss(extensions?.code))
        this.#set(job, { at: isUnknown ? 'unknown' : 'failed', errors })
      }
    }
  }

  /** Waits for what an earlier document has made. */
  async #sendPatiently(job: Job): Promise<Written> {
    const others = this.#jobs.map(({ document }) => document)
    const endsAt = Date.now() + patienceMs
    for (;;) {
      try {
        return await this.#send(job, false)
      } catch (error) {
        const needs = neededBy(job.document, refusalOf(error as Error), others)
        if (needs === undefined || Date.now() > endsAt || this.#isStopped) throw error
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }

  /** Sends a write; waits as the gateway says where there were too many. Rejects with `GatewayError`. */
  async #send({ document, cluster, force }: Job, dryRun: boolean): Promise<Written> {
    const { manifest, isNamed } = document
    const namespace = document.namespace === undefined ? (this.#namespace ?? null) : null
    const place = { manifest, cluster, namespace, dryRun }
    for (;;) {
      const { data, errors } = await (isNamed
        ? this.#gateway.ask(ApplyDocumentDocument, { ...place, force })
        : this.#gateway.ask(CreateDocumentDocument, place))
      const written = Array.isArray(data.write) ? data.write[0] : data.write
      if (written !== null && written !== undefined) return written
      const wait = waitOf(errors)
      if (wait === undefined || this.#isStopped) throw new GatewayError(errors)
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  #set({ key }: Job, outcome: Outcome): void {
    this.#outcomes.set(key, outcome)
    this.#tell(this.#stage)
  }

  /** Tells of a stage at once, and of the steps within it together. */
  #tell(stage: Progress['stage']): void {
    const isStep = stage === this.#stage
    this.#stage = stage
    if (isStep) this.#telling ??= setTimeout(() => this.#tellNow(), tellMs)
    else this.#tellNow()
  }

  #tellNow(): void {
    clearTimeout(this.#telling)
    this.#telling = undefined
    if (this.#ended.signal.aborted) return
    const stage = this.#stage
    this.#told({ jobs: this.#jobs, outcomes: new Map(this.#outcomes), stage })
  }
}

/** The lines of the text that errors are about; the first one of the document if they name no field of it. */
export function linesOf(document: ManifestDocument, errors: readonly AnswerError[]): number[] {
  const lines = new Set(fieldsIn(errors).flatMap((field) => document.lineOf(field) ?? []))
  return lines.size === 0 ? [document.line] : [...lines]
}

/** What a refused document needs, if an earlier one makes it. */
function neededBy(
  { number, apiVersion, kind, namespace }: ManifestDocument,
  errors: readonly AnswerError[],
  all: readonly ManifestDocument[],
): string | undefined {
  const earlier = all.filter((one) => one.number < number)
  const code = errors[0]?.extensions?.code
  if (code === 'NOT_FOUND' && namespace !== undefined) {
    const made = earlier.some((one) => one.kind === 'Namespace' && one.name === namespace)
    return made ? `Namespace ${namespace}` : undefined
  }
  if (code !== 'BAD_USER_INPUT') return undefined
  const definition = earlier.find(
    ({ kind: of, value }) =>
      of === 'CustomResourceDefinition' &&
      textAt(value, 'spec', 'names', 'kind') === kind &&
      textAt(value, 'spec', 'group') === apiVersion.split('/')[0],
  )
  return definition && `CustomResourceDefinition ${definition.name}`
}

/** Whether a write may have been made all the same. */
function isUnanswered(errors: readonly AnswerError[]): boolean {
  return errors.some(
    ({ extensions }) => (extensions?.code ?? 'OUTCOME_UNKNOWN') === 'OUTCOME_UNKNOWN',
  )
}

/** Whether no further write of the cluster can be made now. */
function isLoss(code: string | undefined): boolean {
  return ['CLUSTER_UNREACHABLE', 'CLUSTER_UNAUTHORIZED', 'UNAUTHENTICATED'].includes(code ?? '')
}

function waitOf(errors: readonly AnswerError[]): number | undefined {
  const [error] = errors
  const { retryAfterMs } = error?.extensions ?? {}
  const isQuota = error?.extensions?.code === 'TOO_MANY_WRITES'
  return isQuota && typeof retryAfterMs === 'number' ? retryAfterMs : undefined
}
