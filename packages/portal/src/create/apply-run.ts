/*
 * The documents of a text on their way into clusters. A job is one document for one cluster, and has one outcome. First
 * each is tried without storing anything, some at a time. Then they are applied: in a cluster one after the other, in the
 * order of the text, as later ones may need earlier ones. A cluster that is lost gets no further ones.
 */

import { fieldsIn, isOwnConflict, refusalOf, type Written, writtenOf } from '../actions/write.ts'
import { WriteRun } from '../actions/write-run.ts'
import { ApplyDocumentDocument, CreateDocumentDocument } from '../gateway/documents.ts'
import { type AnswerError, type Gateway } from '../gateway/gateway.ts'
import { definitionOf, makesNamespace, type ManifestDocument } from './manifest-text.ts'

/** One document for one cluster. */
export interface Job {
  readonly key: string
  readonly document: ManifestDocument
  readonly cluster: string
  /** Where its object is or would be, as far as that is known. */
  readonly namespace: string | undefined
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
/** How long a document waits for what an earlier one has made: the gateway learns of a new kind in a moment. */
const patienceMs = 20_000
const pauseMs = 1_000

/** Tries and applies documents. */
export class ApplyRun extends WriteRun<Outcome, Progress> {
  protected readonly waiting = { at: 'waiting' } as const
  readonly #gateway: Gateway
  readonly #namespace: string | undefined
  #jobs: readonly Job[]
  #stage: Progress['stage'] = 'trying'

  constructor(
    gateway: Gateway,
    {
      documents,
      clusters,
      namespace,
      isNamespaced,
    }: {
      readonly documents: readonly ManifestDocument[]
      readonly clusters: readonly string[]
      /** Of documents that name none. */
      readonly namespace: string | undefined
      readonly isNamespaced: (document: ManifestDocument) => boolean
    },
  ) {
    super()
    this.#gateway = gateway
    this.#namespace = namespace
    this.#jobs = clusters.flatMap((cluster) =>
      documents.map((document) => ({
        key: `${cluster} ${document.number}`,
        document,
        cluster,
        namespace: document.namespace ?? (isNamespaced(document) ? namespace : undefined),
        force: false,
      })),
    )
    for (const { key } of this.#jobs) this.outcomes.set(key, this.waiting)
  }

  /** Tries all documents. Resolves when the last outcome is told. */
  async review(): Promise<void> {
    const rest = this.#jobs.values()
    await this.run(
      Array.from({ length: atOnce }, () => rest),
      (job) => this.#try(job),
    )
    this.#enter('reviewed')
  }

  /** Tries a document again; with `force`, taking over the fields of other managers. */
  async tryAgain(key: string, force: boolean): Promise<void> {
    this.#jobs = this.#jobs.map((job) => (job.key === key ? { ...job, force } : job))
    await this.run([this.#jobs.filter((job) => job.key === key)], (job) => this.#try(job))
  }

  /** Applies what passed its trial, or, afterwards, what is not applied yet. Resolves when the last outcome is told. */
  async apply(): Promise<void> {
    const isAgain = this.#stage === 'over'
    const meant = this.#jobs.filter((job) => this.#isMeant(job, isAgain))
    for (const { key } of meant) this.outcomes.set(key, this.waiting)
    this.#stage = 'applying'
    const lost = new Set<string>()
    await this.run([...Map.groupBy(meant, ({ cluster }) => cluster).values()], async (job) => {
      if (!lost.has(job.cluster) && (await this.#apply(job)) === 'lost') lost.add(job.cluster)
    })
    for (const { key } of meant) {
      if (this.outcomes.get(key) === this.waiting) this.outcomes.set(key, { at: 'left' })
    }
    this.#enter('over')
  }

  #enter(stage: Progress['stage']): void {
    this.#stage = stage
    this.tell()
  }

  #isMeant({ key, document }: Job, isAgain: boolean): boolean {
    const at = this.outcomes.get(key)?.at ?? 'waiting'
    if (!isAgain) return at === 'tried' || at === 'later'
    // Who asks again for a name that the API server finds may get a second object.
    return ['failed', 'left'].includes(at) || (at === 'unknown' && document.isNamed)
  }

  async #try(job: Job, force = job.force): Promise<void> {
    const { key, document } = job
    try {
      const written = await this.send(key, { at: 'trying' }, () =>
        this.#written({ ...job, force }, true),
      )
      if (written !== undefined) this.set(key, { at: 'tried', written })
    } catch (error) {
      const errors = refusalOf(error as Error)
      const needs = this.#neededBy(document, errors)
      // What this page has set by an action is another manager's for an apply, and no reason to ask.
      if (!force && isOwnConflict(errors)) {
        this.#jobs = this.#jobs.map((one) => (one.key === key ? { ...one, force: true } : one))
        await this.#try(job, true)
      } else this.set(key, needs === undefined ? { at: 'refused', errors } : { at: 'later', needs })
    }
  }

  /** Applies a document, and waits meanwhile for what an earlier one has made. */
  async #apply(job: Job): Promise<'lost' | undefined> {
    const { key, document } = job
    const endsAt = Date.now() + patienceMs
    for (;;) {
      try {
        const written = await this.send(key, { at: 'applying' }, () => this.#written(job, false))
        if (written !== undefined) this.set(key, { at: 'applied', written })
        return undefined
      } catch (error) {
        const errors = refusalOf(error as Error)
        const isPatient = Date.now() < endsAt && !this.isStopped
        if (this.#neededBy(document, errors) === undefined || !isPatient) {
          const isUnknown = isUnanswered(errors)
          this.set(key, { at: isUnknown ? 'unknown' : 'failed', errors })
          const isLost = isUnknown || errors.some(({ extensions }) => isLoss(extensions?.code))
          return isLost ? 'lost' : undefined
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }

  #neededBy(document: ManifestDocument, errors: readonly AnswerError[]): string | undefined {
    return neededBy(
      document,
      errors,
      this.#jobs.map((job) => job.document),
    )
  }

  async #written({ document, cluster, force }: Job, dryRun: boolean): Promise<Written> {
    const { manifest, isNamed } = document
    const namespace = document.namespace === undefined ? (this.#namespace ?? null) : null
    const place = { manifest, cluster, namespace, dryRun }
    return writtenOf(
      await (isNamed
        ? this.#gateway.ask(ApplyDocumentDocument, { ...place, force })
        : this.#gateway.ask(CreateDocumentDocument, place)),
    )
  }

  protected now(): Progress {
    return { jobs: this.#jobs, outcomes: this.outcomes, stage: this.#stage }
  }
}

/** The lines of the text that errors are about; the first one of the document if they name no field of it. */
export function linesOf(document: ManifestDocument, errors: readonly AnswerError[]): number[] {
  const lines = new Set(fieldsIn(errors).flatMap((field) => document.lineOf(field) ?? []))
  return lines.size === 0 ? [document.line] : [...lines]
}

/** What a refused document needs, if an earlier one makes it. */
function neededBy(
  document: ManifestDocument,
  errors: readonly AnswerError[],
  all: readonly ManifestDocument[],
): string | undefined {
  const { number, namespace } = document
  const earlier = all.filter((one) => one.number < number)
  const code = errors[0]?.extensions?.code
  if (code === 'NOT_FOUND' && namespace !== undefined) {
    const made = earlier.some((one) => makesNamespace(one, namespace))
    return made ? `Namespace ${namespace}` : undefined
  }
  if (code !== 'BAD_USER_INPUT') return undefined
  const definition = definitionOf(document, earlier)
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
