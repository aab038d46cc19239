/*
 * Keeps the served schema up to date with the clusters and the user's SDL. A change of either makes a remake due. One
 * remake runs at a time, in steps that let other work run between them, and reflects all changes up to its beginning. It
 * makes model, relations and schema from the APIs of the clusters (`serve-schema.ts`), and checks the problems: an edit
 * with errors is refused and tried again when the clusters change; any other problem leaves out a part and is logged once.
 * In one tick at its end, the caches learn their resources, and operations get the new schema. Documents and plans belong
 * to one schema, and are made again for the new one.
 */

import type { GraphQLSchema } from 'graphql'
import { missingKinds } from '../graphql/extensions/extended-schema.ts'
import type { GatewayExtension } from '../graphql/extensions/extension.ts'
import { type ReadExtension, readExtensions } from '../graphql/extensions/extension-document.ts'
import type { OpenSubscriptions } from '../graphql/live/open-subscriptions.ts'
import { IndexFunctionError } from '../graphql/model/declared-indexes.ts'
import { SdlError } from '../graphql/sdl/sdl-error.ts'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { SchemaHistory } from '../graphql/served/schema-history.ts'
import type { ServedSchema } from '../graphql/served/served-schema.ts'
import { sleep } from '../lib/backoff.ts'
import { inSlices } from '../lib/event-loop.ts'
import type { Archiving } from './archiving.ts'
import type { Fleet } from './fleet.ts'
import { codeOf, type GatewayLog } from './observers.ts'
import type { Preload } from './preload.ts'
import {
  type BuiltSchema,
  buildSchemaInSteps,
  type SchemaOptions,
  serveBuilt,
} from './serve-schema.ts'
import type { UserSdl } from './user-sdl.ts'

/** A remake rests for as long as the one before took, and no longer: hundreds of clusters that connect one after another share some. */
const mostRestMs = 250

interface SchemaServingOptions {
  readonly options: SchemaOptions & { readonly extend?: readonly GatewayExtension[] }
  readonly packageSdl: readonly SdlSource[]
  readonly user: UserSdl
  readonly fleet: Fleet
  /** Follow each new schema. */
  readonly subscriptions: OpenSubscriptions
  readonly preload: Preload
  readonly archiving: Archiving | undefined
  readonly log: GatewayLog
  readonly signal: AbortSignal
}

export class SchemaServing {
  /** The parts that were removed from the schema since the start. */
  readonly history: SchemaHistory = new SchemaHistory()
  readonly listeners: Set<(schema: GraphQLSchema) => void> = new Set()
  readonly #means: SchemaServingOptions
  readonly #extensions: readonly ReadExtension[]
  /** The user's SDL in the served schema. */
  #sdl: readonly SdlSource[]
  #served: ServedSchema | undefined
  /** The problems of the served schema, and the kinds that it waits for. */
  #problems: ReadonlySet<string> = new Set()
  /** Until when the next remake waits. */
  #restedMs = 0
  #edit: readonly SdlSource[] | undefined
  /** The last refused edit. It is tried again when the clusters change. */
  #refused: readonly SdlSource[] | undefined
  #refusal: readonly string[] = []
  /** The running remake of the schema. */
  #serving: Promise<void> | undefined
  #isDue = false
  /** Whether the clusters or their API have changed since the served schema was made. */
  #areClustersOther = false

  constructor(means: SchemaServingOptions) {
    this.#means = means
    this.#extensions = readExtensions(means.options.extend ?? [])
    this.#sdl = means.user.sources
  }

  get isStarted(): boolean {
    return this.#served !== undefined
  }

  /** The served schema. Throws before {@link start} has made one. */
  get now(): ServedSchema {
    if (this.#served === undefined) throw new Error('the gateway has not been started')
    return this.#served
  }

  /** The problems of the served schema, and the errors because of which the user's current SDL is not served. */
  get reasons(): readonly string[] {
    return [...this.#refusal, ...this.#problems]
  }

  /** Makes the first schema, then follows the clusters and the user's SDL. Rejects with the first error of the user's SDL. */
  async start(): Promise<void> {
    const { fleet, user, signal } = this.#means
    await inSlices(this.#remake(this.#sdl, false), () => false)
    fleet.follow(() => {
      this.#areClustersOther = true
      return this.#serveSoon()
    })
    const edited = (sdl: readonly SdlSource[]): void => {
      this.#edit = sdl
      void this.#serveSoon()
    }
    void user.follow(edited, (error) => this.#refuse([error]), signal)
  }

  /** Resolves when the served schema reflects all changes up to now. */
  #serveSoon(): Promise<void> {
    this.#isDue = true
    return (this.#serving ??= this.#serveWhileDue())
  }

  async #serveWhileDue(): Promise<void> {
    const { log, signal } = this.#means
    while (this.#isDue && !signal.aborted) {
      const restMs = this.#restedMs - performance.now()
      if (restMs > 0) await sleep(restMs, signal)
      this.#isDue = false
      const [edit, areOthers] = [this.#edit, this.#areClustersOther]
      this.#edit = undefined
      this.#areClustersOther = false
      try {
        if ((await this.#servesEdit(edit)) || !areOthers) continue
        const startMs = performance.now()
        await inSlices(this.#remake(this.#sdl, false), () => signal.aborted)
        const endMs = performance.now()
        this.#restedMs = endMs + Math.min(endMs - startMs, mostRestMs)
      } catch (error) {
        log.error('the schema could not be rebuilt', { error })
      }
    }
    this.#serving = undefined
  }

  /** Tries to serve an edit: a new one, or the refused one, which may be valid now. Returns whether it is served. */
  async #servesEdit(edit: readonly SdlSource[] | undefined): Promise<boolean> {
    const { log, signal } = this.#means
    const sdl = edit ?? (this.#areAllKnown ? this.#refused : undefined)
    if (sdl === undefined) return false
    try {
      await inSlices(this.#remake(sdl, true), () => signal.aborted)
      this.#refused = undefined
      this.#refusal = []
      log.info('the edited schema is served')
      return true
    } catch (error) {
      const errors = error instanceof AggregateError ? error.errors : [error]
      this.#refuse(errors, edit === undefined ? this.#refusal : [])
      this.#refused = sdl
      return false
    }
  }

  /** Refuses the user's current SDL. Does not log the messages in `told` again. */
  #refuse(errors: readonly unknown[], told: readonly string[] = []): void {
    this.#refused = undefined
    this.#refusal = errors.map((error) => `${(error as Error).message}; the edit is not served`)
    for (const [at, message] of this.#refusal.entries()) {
      if (!told.includes(message)) this.#means.log.error(message, codeOf(errors[at]))
    }
  }

  get #areAllKnown(): boolean {
    return this.#means.fleet.members.every(({ api }) => api !== undefined)
  }

  /** Makes a schema with the user's SDL and serves it. Throws if the SDL is invalid, at the start or in an edit. */
  *#remake(sdl: readonly SdlSource[], isEdit: boolean): Generator<void, void> {
    const { options, packageSdl, fleet, signal, subscriptions, preload, archiving, log } =
      this.#means
    const before = this.#served
    // The API of an unreachable cluster may be unknown.
    const isWhole = this.#areAllKnown
    const built = yield* buildSchemaInSteps(options, {
      members: fleet.members,
      sdl: [...packageSdl, ...sdl],
      extensions: this.#extensions,
    })
    const { schema } = built.made
    const isReused = schema === before?.schema
    const problems = isReused ? this.#problems : this.#checked(built, sdl, isEdit, isWhole)
    if (before !== undefined && !isReused) yield* this.history.followInSteps(before.schema, schema)
    if (signal.aborted) return
    // No pause from here on: operations see either the old or the new schema.
    const now = serveBuilt(built, fleet, archiving)
    this.#sdl = sdl
    this.#problems = problems
    this.#served = now
    archiving?.hold(now, fleet.formOf)
    subscriptions.follow(now)
    preload.hold(now)
    if (before === undefined || isReused) return
    for (const listener of this.listeners) {
      try {
        listener(now.schema)
      } catch (error) {
        log.error('a listener of schema changes has failed', { error })
      }
    }
  }

  /** Logs the new problems of a schema. Throws the problems that refuse it. */
  #checked(
    { made: { problems, dormant, unextended, kinds } }: BuiltSchema,
    sdl: readonly SdlSource[],
    isEdit: boolean,
    isWhole: boolean,
  ): ReadonlySet<string> {
    const { log } = this.#means
    const isFirst = this.#served === undefined
    const files = new Set(sdl.map(({ file }) => file))
    const isUsers = (problem: unknown): boolean =>
      problem instanceof IndexFunctionError ||
      (problem instanceof SdlError && files.has(problem.file))
    const refused = isWhole && (isFirst || isEdit) ? problems.filter(isUsers) : []
    if (refused.length > 0) throw isEdit ? new AggregateError(refused) : refused[0]
    const missing = isWhole ? missingKinds(this.#extensions, kinds.values()) : []
    const clashes = [...unextended.problems, ...missing]
    if (isFirst && clashes[0] !== undefined) throw clashes[0]
    const said = new Set<string>()
    const say = (level: 'warn' | 'info', message: string, details: object = {}): void => {
      said.add(message)
      if (!this.#problems.has(message)) log[level](message, { ...details })
    }
    for (const one of problems) say('warn', one.message, codeOf(one))
    for (const { place, typeName } of dormant) {
      say('info', `${place.file}:${place.line}: waits for ${typeName}, which no cluster serves`)
    }
    for (const { message, hint } of clashes) say('warn', message, { hint })
    for (const { extension, about, typeName } of unextended.dormant) {
      say('info', `${extension}: ${about} waits for ${typeName}, which no cluster serves`)
    }
    return said
  }
}
